"""The sandbox `container`: scripts run in a container of their conversation's own."""

import hashlib
import os
from collections.abc import Iterable, Sequence
from dataclasses import asdict, replace
from pathlib import PurePath
from typing import NamedTuple

from nacre.container.address import address
from nacre.container.engine import Engine, Facts
from nacre.container.request import PODMAN
from nacre.errors import SandboxError
from nacre.model.confinement import Confinement, Enforcement, Limits, Network
from nacre.model.doorway import WORKSPACE, Doorway
from nacre.model.launch import Container, Hold, Launch, Mount
from nacre.model.value import dataclass
from nacre.sandbox.anchors import Anchors
from nacre.sandbox.attached import Attached, attached
from nacre.sandbox.base import Held
from nacre.sandbox.calls import this_machine
from nacre.sandbox.engine_filter import engine_filter, kept_filter
from nacre.sandbox.guarded import Guarded
from nacre.sandbox.limits import resource_limits
from nacre.sandbox.seccomp import Sockets
from nacre.sandbox.surroundings import Dressing, Surroundings
from nacre.sandbox.table import container_table
from nacre.sandbox.wanted import Wanted

__all__ = ("Contained", "open_container")

_UNPASSABLE, _UNPASSABLE_FOLDER = ',"\r\n', ',:"\r\n'
_TMP = PurePath("/tmp")  # noqa: S108 (the container's own)


def open_container(wanted: Wanted, surroundings: Surroundings) -> "Contained":
    """The sandbox, if an engine answers.

    Raises:
        SandboxError: If none does, or nothing says which container is meant.
    """
    if not (wanted.image or wanted.name):
        raise SandboxError(
            "sandbox='container' needs an image; give one with image='NAME' (--image NAME), or a"
            " container that runs with container='NAME'. Nothing was run"
        )
    found = wanted.engine or address(os.environ)
    if found is None:
        raise SandboxError(
            "sandbox='container' needs an engine, and none answers in the usual places; start"
            " Docker or `podman system service`, or set DOCKER_HOST. Nothing was run"
        )
    engine = Engine(found)
    try:
        facts = engine.facts()
        if wanted.name:
            return Contained(found, facts, wanted, surroundings, attached(engine, wanted.name))
        engine.require_image(wanted.image or "")
    finally:
        engine.close()
    return Contained(found, facts, wanted, surroundings)


class _Made(NamedTuple):
    """What is the same for all launches in one container."""

    hold: Hold
    enforcement: Enforcement
    seen: Confinement
    denied: Anchors


class Contained:
    """Holds launches in containers, one for each conversation and confinement."""

    name = "container"

    def __init__(
        self,
        engine: str,
        facts: Facts,
        wanted: Wanted,
        surroundings: Surroundings,
        there: Attached | None = None,
    ) -> None:
        self._engine = engine
        self._facts = facts
        self._wanted = wanted
        self._surroundings = surroundings
        self._there = there
        self._made: dict[tuple[str, Confinement, PurePath], _Made] = {}

    def hold(self, launch: Launch, confinement: Confinement, *, cleared: bool) -> Held:
        """Say which container holds a launch.

        Raises:
            SandboxError: If a folder is not there, or the container holds less than is asked for.
        """
        del cleared  # nothing of the host's comes in but what is named
        workspace = launch.workspace or launch.cwd
        doorway = Doorway(workspace)
        folder = doorway.inward(launch.cwd)
        if folder is None:
            raise SandboxError(f"the working directory {str(launch.cwd)!r} is not in {WORKSPACE}")
        if self._there:
            self._there.require(confinement)
        key = (launch.conversation, confinement, workspace)
        if key in self._made and self._made[key].denied.moved():
            # What lies over a file is gone when that is replaced: another container hides the new one.
            self._made.pop(key).denied.close()
        if key not in self._made:
            self._surroundings.require_folders(confinement)
            denied = Anchors(_shown(confinement.denied, confinement, workspace))
            container = self._container(launch.conversation, confinement, workspace, denied)
            # All of its memory is the container's to limit.
            limits = resource_limits(replace(confinement.limits, memory=None, cpus=None))
            self._made[key] = _Made(
                Hold(container=container, limits=limits),
                container_table(
                    confinement, container, self._facts, self._there, denies=bool(denied.files)
                ),
                doorway.seen(confinement),
                denied,
            )
        made = self._made[key]
        return Held(
            launch=Dressing(_TMP).confined(replace(launch, cwd=folder), made.hold),
            enforcement=made.enforcement,
            confinement=made.seen,
            tmp=_TMP,
            # A mount is gone when its file is replaced, and what is made later has none.
            guarded=Guarded(self._surroundings.protected(confinement), mounted=False),
        )

    def close(self) -> None:
        """Let go of protected and denied paths; the containers are the porter's."""
        for made in self._made.values():
            made.denied.close()
        self._made.clear()
        self._surroundings.close()

    def _container(
        self, conversation: str, confinement: Confinement, workspace: PurePath, denied: Anchors
    ) -> Container:
        if self._wanted.name:
            return Container(
                engine=self._engine, name=self._wanted.name, image=None, idle=self._wanted.idle
            )
        limits = confinement.limits
        hidden = _hidden(confinement, workspace)
        self._require_passable(hidden.folders, but=_UNPASSABLE_FOLDER)
        self._require_passable([mount.target for mount in hidden.files])
        state = os.path.realpath(self._wanted.state)
        made = Container(
            engine=self._engine,
            name="",
            image=self._wanted.image,
            mounts=(*self._mounts(confinement, workspace), *hidden.files),
            hidden=hidden.folders,
            product=self._facts.product,
            filter=self._filter(confinement),
            writable_root=confinement.writable is None,
            networked=confinement.network is Network.INHERIT,
            memory=limits.memory,
            cpus=_cpus(limits, self._facts),
            processes=limits.processes,
            idle=self._wanted.idle,
            kept=self._wanted.kept,
            state=hashlib.sha256(os.fsencode(state)).hexdigest()[:16],
            **_user(self._facts),
        )
        # Tools that end their containers have some of their own.
        whose = "" if self._wanted.kept else f"{os.getpid()} {id(self)}"
        described = repr((sorted(asdict(made).items()), denied.files, conversation, whose))
        digest = hashlib.sha256(described.encode("utf-8", "backslashreplace")).hexdigest()
        return replace(made, name=f"nacre-{digest[:24]}")

    def _mounts(self, confinement: Confinement, workspace: PurePath) -> tuple[Mount, ...]:
        """The workspace, other writable folders where they are, and what is protected in them."""
        doorway = Doorway(workspace)
        writable = confinement.writable
        may_write = writable is None or any(workspace.is_relative_to(each) for each in writable)
        found = [Mount(str(workspace), str(WORKSPACE), may_write)]
        found += [
            Mount(str(each), str(each), writable=True)
            for each in writable or ()
            if not workspace.is_relative_to(each)
        ]
        paths = self._surroundings.protected(confinement)
        held = list(paths.mounts().read_only if paths else confinement.protected)
        if paths:
            # A script may have made it. It is put back, if it cannot be mounted.
            held = [path for path in held if not self._unpassable(str(path))]
        # What a link leads to elsewhere is not to be seen in there at all.
        found += [
            Mount(str(path), str(doorway.inward(path) or path))
            for path in _shown(held, confinement, workspace)
            if os.path.exists(path) and os.path.realpath(path) == str(path)
        ]
        self._require_passable([mount.source for mount in found])
        return tuple(found)

    def _filter(self, confinement: Confinement) -> str:
        """The file with our own filter; none where only the engine's can be had.

        Podman reads the file itself, so on another machine it has none.
        """
        if not self._facts.seccomp or (self._facts.product == PODMAN and not self._facts.local):
            return ""
        wide = confinement.network is Network.INHERIT and confinement.writable is None
        text = engine_filter(Sockets.ALL if wide else Sockets.INTERNET, this_machine())
        try:
            return kept_filter(text, self._wanted.state)
        except OSError as error:
            raise SandboxError(
                f"the system call filter cannot be written to {str(self._wanted.state)!r}"
                f" ({error.strerror}); set NACRE_STATE to a folder that can be written"
            ) from error

    def _unpassable(self, path: str, but: str = _UNPASSABLE) -> bool:
        """Whether an engine would take a path for something else: podman makes one text of all."""
        return self._facts.product == PODMAN and any(each in path for each in but)

    def _require_passable(self, paths: Sequence[str], but: str = _UNPASSABLE) -> None:
        if bad := next((path for path in paths if self._unpassable(path, but)), None):
            raise SandboxError(
                f"podman cannot mount {bad!r}: of a name, it takes none of {but!r}; rename it, or"
                " use Docker. Nothing was run"
            )


@dataclass(frozen=True, slots=True)
class _Hidden:
    folders: tuple[str, ...]
    files: tuple[Mount, ...]


def _hidden(confinement: Confinement, workspace: PurePath) -> _Hidden:
    """What is denied, of what the container would show: an empty folder or file lies over it."""
    doorway, folders, files = Doorway(workspace), list[str](), list[Mount]()
    for path in _shown(confinement.denied, confinement, workspace):
        if not os.path.exists(path):
            continue
        target = str(doorway.inward(path) or path)
        if os.path.isdir(path):
            folders.append(target)
        else:
            files.append(Mount("/dev/null", target))
    return _Hidden(tuple(folders), tuple(files))


def _shown(
    paths: Iterable[PurePath], confinement: Confinement, workspace: PurePath
) -> list[PurePath]:
    """Those of some paths that lie in what the container has of this machine."""
    roots = (workspace, *(confinement.writable or ()))
    return [path for path in paths if any(path.is_relative_to(root) for root in roots)]


def _user(facts: Facts) -> dict[str, str]:
    """Whoever writes into the workspace there is this user here."""
    uid, gid = os.geteuid(), os.getegid()
    if not facts.rootless:
        return {"user": f"{uid}:{gid}"}
    if facts.product == PODMAN:
        return {"user": f"{uid}:{gid}", "userns": "keep-id"}
    return {"user": "0:0"}  # who is root in there is this user out here


def _cpus(limits: Limits, facts: Facts) -> float:
    """As many processors as were asked for, or half of what there is."""
    return float(limits.cpus or max(1, facts.processors // 2))
