"""How a tool stands to its scripts: a dialect's posture, and the settings that win over it."""

import logging
import os
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from nacre.config.confinement import Confinements
from nacre.config.found import Config
from nacre.dialects.base import Posture
from nacre.model.confinement import Confinement
from nacre.model.doorway import Doorway
from nacre.model.value import dataclass
from nacre.process.variables import Variables
from nacre.sandbox.presets import LIMITS
from nacre.sandbox.probe import probe_landlock

__all__ = ("Ground", "Stance")

CONTAINER = "container"
HOME_INSIDE = "/tmp"  # noqa: S108 (the container's own)
# What an agent remembers is written by its host, not by scripts in a container.
MEMOS = ("memo/session", "memo/user")
_LOG = logging.getLogger("nacre")
_MOST_GROUNDS = 64
_REDUCED = "scripts cannot be confined to read-only here, and are only checked before they run: %s"


@dataclass(frozen=True, slots=True, kw_only=True)
class Ground:
    """Where the scripts of a call run, and what they are held to there.

    `sandbox` names another one than the usual; `held` says in words what holds a script.
    """

    cwd: Path
    doorway: Doorway | None
    confinement: Confinement
    sandbox: str | None
    held: str


class Stance:
    """What holds for every call of a tool, and what a call's own context makes of it.

    `workspace` is the folder the tool works in; if it was not given, the working
    directory of each call is that.
    """

    def __init__(self, config: Config, posture: Posture, workspace: Path, *, given: bool) -> None:
        self._posture = posture
        self._given = given
        self._named = _sandbox_named(config, posture)
        self.sandbox = self._named or posture.sandbox
        self.refusal = "" if self._named else posture.refusal
        self.redacts = posture.redacts
        self.names_folder = posture.names_folder
        self.contained = self.sandbox == CONTAINER
        self._spelled = workspace
        # An engine mounts what a link leads to, and that is what is protected and denied.
        self._workspace = Path(os.path.realpath(workspace)) if self.contained else workspace
        self._contains = config.text("container") or config.text("image")
        self._environment = replace(posture.environment, passed=config.names("pass_env"))
        if self.contained:
            # The host's own variables mean nothing there.
            self._environment = replace(self._environment, inherit=False, base=frozenset())
        self._variables = Variables(
            self._environment, {"HOME": HOME_INSIDE} if self.contained else {}
        )
        self._grounds: dict[tuple[str, str | None], Ground] = {}
        # Elsewhere links are followed, and it is looked what is there to be protected.
        self._steady = not (self.contained or self._protected())
        self._confinements = Confinements(
            config,
            usual=posture.confinement,
            network=posture.network,
            confined_network=posture.confined_network,
            home=_home(),
            ends_jobs=posture.signals_jobs,
            protected=self._protected(),
            # A container has limits of its own in any case: better ours than none.
            open_limits=LIMITS if self.contained else None,
        )
        self.lacking = probe_landlock()[1] if posture.confining == "landlock" else ""
        if self.lacking:
            _LOG.warning(_REDUCED, self.lacking)

    def _protected(self) -> tuple[str, ...]:
        if self.sandbox == "none" and self._named:
            return ()
        return (*self._posture.protected, *(MEMOS if self.contained else ()))

    @property
    def cleared(self) -> bool:
        """Whether the environment of scripts is built from nothing."""
        return not self._environment.inherit

    def environ(self) -> Mapping[str, str]:
        """The variables of a script; the same object as long as they are the same."""
        return self._variables.given()

    def secrets(self) -> Mapping[str, str]:
        """What scripts were not given, and output should not show."""
        return self._variables.withheld()

    def ground(self, working_dir: str | os.PathLike[str], asked: str | None) -> Ground:
        """Where the scripts of a call run; `asked` is the confinement that the call itself names.

        Raises:
            ConfigError: If there is no confinement of that name.
        """
        key = (os.fspath(working_dir), asked)
        known = self._grounds.get(key) if self._steady else None
        if known is None:
            cwd = self.folder(working_dir)
            confinement = self.confinement(cwd, asked)
            known = Ground(
                cwd=cwd,
                doorway=self.doorway(cwd),
                confinement=confinement,
                sandbox=self.sandbox_for(confinement, asked),
                held=self.in_words(confinement, asked),
            )
            if len(self._grounds) >= _MOST_GROUNDS:
                self._grounds.clear()
            self._grounds[key] = known
        return known

    def folder(self, working_dir: str | os.PathLike[str] | None) -> Path:
        """Where a call's scripts start; a container's name for it is as good as any."""
        folder = self._workspace / working_dir if working_dir is not None else self._workspace
        if not self.contained:
            return folder
        inside = Doorway(self._workspace, self._spelled).outward(folder)
        return Path(inside or (folder if self._given else os.path.realpath(folder)))

    def doorway(self, cwd: Path) -> Doorway | None:
        """Where the workspace of a call is, seen from inside a container."""
        if not self.contained:
            return None
        if self._given:
            return Doorway(self._workspace, self._spelled)
        return Doorway(Path(os.path.realpath(cwd)))

    def holder(self, conversation: str, cwd: Path) -> str:
        """Whose the jobs of a call are."""
        if not self._posture.shares_jobs:
            return conversation
        return f"workspace {os.path.realpath(self._workspace if self._given else cwd)}"

    def confinement(self, cwd: Path, name: str | None) -> Confinement:
        """What confines a call: a working directory the host names may be seen, or written.

        Raises:
            ConfigError: If there is no confinement of that name.
        """
        folder = Path(os.path.normpath(cwd))
        if not self._given:
            return self._confinements.named(name, folder)
        outside = None if folder.is_relative_to(self._workspace) else folder
        return self._confinements.named(name, self._workspace, outside)

    def held(self, cwd: Path, asked: str | None) -> Confinement | None:
        """What a call is really held to: nothing, where it was said in words that nothing is."""
        confinement = self.confinement(cwd, asked)
        unheld = self.sandbox == "none" and self.sandbox_for(confinement, asked) is None
        return None if unheld else confinement

    def in_words(self, confinement: Confinement, asked: str | None) -> str:
        """What a call is held to, so that no two that differ read the same."""
        folders = (str(path) for path in confinement.writable or ())
        return ", ".join(
            (
                confinement.name,
                f"network {confinement.network.value}",
                f"sandbox {self.sandbox_for(confinement, asked) or self.sandbox}",
                *([f"in {self._contains}"] if self.contained else []),
                *(f"writes {folder}" for folder in folders),
            )
        )

    def sandbox_for(self, confinement: Confinement, asked: str | None) -> str | None:
        """What holds a call that is to be confined, where nothing does usually.

        `asked` is the confinement that the call itself names: that holds in any case.
        """
        held = confinement.name != "open" or bool(confinement.protected)
        chosen = bool(self._named) and asked in {None, "open"}
        return self._posture.confining if self.sandbox == "none" and held and not chosen else None


def _sandbox_named(config: Config, posture: Posture) -> str | None:
    """The sandbox that the settings name; a project's file takes nothing out of its container."""
    found = config.found.get("sandbox")
    if found and posture.sandbox == CONTAINER and found.from_project:
        return None
    return config.text("sandbox")


def _home() -> str | None:
    home = os.path.expanduser("~")
    return home if os.path.isabs(home) else None
