"""The restriction of a thread: Landlock's rules, and the filter for what Landlock leaves open.

Landlock can grant beneath a path, and not deny beneath a grant. So "everything but" is
written as a grant for each neighbour of the paths that lead to what is denied. What appears
beside them later is not granted: a restriction is made anew when one of these folders
has changed.
"""

import hashlib
import os
from collections.abc import Iterable, Iterator
from pathlib import PurePath

from nacre.model.confinement import Confinement, Network
from nacre.model.launch import Restriction
from nacre.sandbox.calls import this_machine
from nacre.sandbox.group_signals import group_signals
from nacre.sandbox.rights import NO_FS, NO_NET, NO_SCOPE, READ, WRITE, Fs, Rights
from nacre.sandbox.seccomp import Filter, Sockets, program

__all__ = ("Listed", "restriction")

_PLAIN_DEVICES = ("/dev/null", "/dev/zero", "/dev/full")
# A room has its own of these.
_OWN_DEVICES = ("/dev/shm", "/dev/pts", "/dev/ptmx", "/dev/tty")  # noqa: S108 (what it is called)


def restriction(
    confinement: Confinement,
    rights: Rights,
    *,
    in_room: bool,
    tmp: Iterable[PurePath] = (),
    changed: tuple[int, ...] = (),
) -> Restriction:
    """What a thread must give up for a confinement, on a kernel with these rights.

    In a room the mounts hide what is denied, and its network is its own. `tmp` are
    folders for temporary files. A rule holds for the file that is there when it is made:
    `changed` is when that was.
    """
    handled = _handled(confinement, rights, in_room=in_room)
    rules = tuple(_rules(confinement, handled, in_room=in_room, tmp=tmp))
    net = NO_NET
    if confinement.network is Network.DENY and not in_room:
        net = rights.net
    scope = rights.scope if confinement.own_signals else NO_SCOPE
    code = program(_filter(confinement, rights, in_room=in_room), this_machine())
    asking = group_signals(this_machine()) if confinement.ends_jobs and scope else b""
    made = (int(handled), int(net), int(scope), rules, code, asking, changed)
    return Restriction(
        key=hashlib.sha256(repr(made).encode("utf-8", "surrogateescape")).hexdigest(),
        fs=int(handled),
        net=int(net),
        scope=int(scope),
        rules=rules,
        program=code,
        asking=asking,
    )


def _handled(confinement: Confinement, rights: Rights, *, in_room: bool) -> Fs:
    handled = NO_FS
    if confinement.writable is not None:
        handled |= rights.fs & ~READ
    if confinement.readable is not None or (confinement.denied and not in_room):
        handled |= rights.fs & READ
    return handled & ~Fs.RESOLVE_UNIX  # sockets are refused before there is one to resolve


def _filter(confinement: Confinement, rights: Rights, *, in_room: bool) -> Filter:
    if confinement.network is Network.INHERIT:
        sockets = Sockets.ALL if confinement.writable is None else Sockets.INTERNET
    else:
        sockets = Sockets.INTERNET if in_room else Sockets.NONE
    return Filter(
        sockets=sockets,
        own_processes=in_room,
        own_ipc=in_room,
        truncate=confinement.writable is None or bool(rights.fs & Fs.TRUNCATE),
    )


def _rules(
    confinement: Confinement, handled: Fs, *, in_room: bool, tmp: Iterable[PurePath]
) -> Iterator[tuple[str, int]]:
    everywhere = handled & READ
    if everywhere:
        denied = [str(path) for path in confinement.denied]
        for path in confinement.readable or (PurePath("/"),):
            yield from _beneath(str(path), denied, everywhere)
    if confinement.writable is None:
        return
    devices = Fs.WRITE_FILE | Fs.TRUNCATE | Fs.READ_FILE
    for name in _PLAIN_DEVICES:
        yield name, int(devices & handled)
    if not confinement.private_tmp and not confinement.writable:
        return
    full = (READ | WRITE) & handled
    for path in (*confinement.writable, *tmp):
        yield str(path), int(full)
    if in_room:
        for name in _OWN_DEVICES:
            yield name, int((full | Fs.IOCTL_DEV) & handled)


def _beneath(path: str, denied: Iterable[str], access: Fs) -> Iterator[tuple[str, int]]:
    """Grants for a path and all beneath it but what is denied."""
    folder = path.rstrip("/") + "/"
    within = [each for each in denied if each == path or each.startswith(folder)]
    if not within:
        yield path, int(access)
        return
    if path in within:
        return
    # The names in a folder that leads to something denied can be listed, and those in what
    # is denied as well: a grant has no end downwards.
    yield path, int(access & Fs.READ_DIR)
    for entry in _entries(path):
        yield from _beneath(folder + entry, within, access)


def _entries(path: str) -> list[str]:
    """The entries of a folder; links lead to what is granted, or not, by itself."""
    try:
        with os.scandir(path) as entries:
            return sorted(entry.name for entry in entries if not entry.is_symlink())
    except OSError:
        return []


class Listed:
    """The folders that lead to what is denied, whose entries are granted one by one."""

    def __init__(self, confinement: Confinement) -> None:
        parents = {parent for path in confinement.denied for parent in path.parents}
        self._all = sorted(map(str, parents))
        self._there: list[str] = []
        self.changed: tuple[int, ...] = ()

    def has_changed(self) -> bool:
        """Whether an entry was added, removed or replaced since the last time.

        A folder that is not there need not be asked for: its making changes another.
        """
        if self.changed and self.changed == _all_changed(self._there):
            return False
        self._there = [folder for folder in self._all if _changed(folder)]
        self.changed = _all_changed(self._there)
        return True


def _all_changed(folders: list[str]) -> tuple[int, ...]:
    """When each of these changed; asked before every launch."""
    try:
        return tuple([os.stat(folder).st_mtime_ns for folder in folders])
    except OSError:
        return tuple(map(_changed, folders))


def _changed(folder: str) -> int:
    try:
        return os.stat(folder).st_mtime_ns
    except OSError:
        return 0
