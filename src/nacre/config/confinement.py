"""The confinement that settings amount to."""

import os
import threading
from dataclasses import replace
from pathlib import Path

from nacre.config.found import Config
from nacre.config.limits import changed_limits
from nacre.model.confinement import Confinement, Limits, Network
from nacre.sandbox.presets import Added, preset

__all__ = ("Confinements",)


class Confinements:
    """Confinements by name and workspace, each made once.

    `usual` and `network` hold where no setting says otherwise, and for all but "open"
    `confined_network`, if it is given; `protected` are folders of a workspace that are
    protected where they exist. `open_limits` are those of "open". `ends_jobs` lets what is
    confined signal its jobs.
    """

    def __init__(  # noqa: PLR0913 (what a posture lays down, all by name)
        self,
        config: Config,
        *,
        usual: str,
        network: Network,
        home: str | None,
        protected: tuple[str, ...] = (),
        confined_network: Network | None = None,
        open_limits: Limits | None = None,
        ends_jobs: bool = False,
    ) -> None:
        self._config = config
        self._usual = config.text("confinement") or usual
        chosen = config.text("network")
        self._network = Network(chosen or network)
        self._confined_network = Network(chosen or confined_network or network)
        self._home = home
        self._protected = protected
        self._open_limits = open_limits or Limits()
        self._ends_jobs = ends_jobs
        self._made: dict[tuple[object, ...], Confinement] = {}
        self._lock = threading.Lock()

    def named(self, name: str | None, workspace: Path, visible: Path | None = None) -> Confinement:
        """A confinement of a workspace: the one of this name, or the usual one.

        `visible` is a folder outside of it that is to be seen.

        Raises:
            ConfigError: If there is none of that name.
        """
        name = name or self._usual
        protected = tuple(
            workspace / each for each in self._protected if os.path.lexists(workspace / each)
        )
        key = (name, workspace, visible, protected)
        with self._lock:
            if key not in self._made:
                made = preset(
                    name,
                    workspace,
                    home=self._home,
                    network=self._network if name == "open" else self._confined_network,
                    added=Added(
                        write=self._paths("write", workspace),
                        deny_read=self._paths("deny_read", workspace),
                        protect=(*self._paths("protect", workspace), *protected),
                    ),
                )
                limits = self._open_limits if name == "open" else made.limits
                self._made[key] = replace(
                    made,
                    visible=(Path(os.path.realpath(visible)),) if visible else (),
                    ends_jobs=self._ends_jobs,
                    limits=changed_limits(limits, self._config.names("limits")),
                )
            return self._made[key]

    def _paths(self, name: str, workspace: Path) -> tuple[Path, ...]:
        return tuple(workspace / path for path in self._config.names(name))
