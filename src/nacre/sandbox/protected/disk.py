"""Looking at files that a script may have put there.

Nothing here follows a link or waits for a FIFO: a path is opened component by
component, each without following, and only regular files are read.
"""

import os
import stat
import time
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import field

from nacre.model.value import dataclass

__all__ = (
    "MOST_BYTES",
    "OWN",
    "YOUNG_NS",
    "Node",
    "Stamp",
    "below",
    "capture",
    "is_young",
    "let_in",
    "lstat",
    "opened",
    "resolved",
    "same",
    "stamp_of",
    "unlock",
)

MOST_BYTES = 1 << 20
_MOST_NAMES = 256
_MOST_DEPTH = 8
_MOST_TRIES = 16
# Timestamps come from a clock that moves in ticks of up to 10 ms: of a file that is
# younger than that, a second change may not show.
YOUNG_NS = 20_000_000

OWN = stat.S_IRWXU

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_STEP = os.O_PATH | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC

Stamp = tuple[int, int, int, int, int, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Node:
    """What stands under a name: a file, a folder, a link, or something else.

    `data` is the content of a file or the target of a link, None if it could not
    be remembered. `partial` says that not all of a folder is in `children`.
    """

    stamp: Stamp
    mode: int
    owner: tuple[int, int]
    young: bool
    data: bytes | None = None
    children: Mapping[str, "Node"] = field(default_factory=dict[str, "Node"])
    partial: bool = False

    @property
    def kind(self) -> int:
        """The type of file, as in its mode."""
        return stat.S_IFMT(self.mode)


def stamp_of(status: os.stat_result) -> Stamp:
    """What changes whenever the file does; the time of change cannot be set by anyone."""
    return (
        status.st_dev,
        status.st_ino,
        status.st_ctime_ns,
        status.st_mtime_ns,
        status.st_size,
        status.st_mode,
    )


def is_young(changed_ns: int) -> bool:
    """Whether a file changed so lately that its stamp cannot vouch for it."""
    return changed_ns > time.time_ns() - YOUNG_NS


def lstat(path: str) -> os.stat_result | None:
    """Look at a name; None if nothing is there, or nothing that can be reached."""
    try:
        return os.lstat(path)
    except (OSError, ValueError):
        return None


def resolved(path: str | os.PathLike[str]) -> str:
    """Where a path leads. A link that is gone when it is read makes realpath itself fail."""
    for _ in range(_MOST_TRIES):
        with suppress(OSError):
            return os.path.realpath(path)
    return os.path.abspath(path)  # nothing follows what may be a link in it


@contextmanager
def opened(path: str) -> Generator[int]:
    """Open a folder by its resolved path.

    Raises:
        OSError: If it is not there, or a component of its path is no folder.
    """
    fd = os.open("/", _STEP)
    try:
        parts = [part for part in path.split("/") if part]
        for part in parts:
            step = os.open(part, _STEP, dir_fd=fd)
            os.close(fd)
            fd = step
        try:
            final = os.open(".", _FOLDER, dir_fd=fd)
        except PermissionError:
            unlock(fd)
            final = os.open(".", _FOLDER, dir_fd=fd)
        os.close(fd)
        fd = final
        yield fd
    finally:
        os.close(fd)


@contextmanager
def below(folder: int, name: str) -> Generator[int]:
    """Open a folder in an opened folder.

    Raises:
        OSError: If it is none, or a link.
    """
    fd = os.open(name, _FOLDER, dir_fd=folder)
    try:
        yield fd
    finally:
        os.close(fd)


def unlock(fd: int) -> None:
    """Let the owner of an opened folder into it again, as far as that is ours to do."""
    with suppress(OSError):
        now = stat.S_IMODE(os.fstat(fd).st_mode)
        # A descriptor for the path alone has no fchmod of its own.
        os.chmod(f"/proc/self/fd/{fd}", now | OWN)


def let_in(path: str, since: Callable[[int], bool]) -> None:
    """Unlock those of the folders on a path that changed at a time that `since` names."""
    fd = os.open("/", _STEP)
    try:
        for part in path.split("/"):
            step = os.open(part or ".", _STEP, dir_fd=fd)
            os.close(fd)
            fd = step
            status = os.fstat(fd)
            own = status.st_uid == os.geteuid() and status.st_mode & OWN != OWN
            if own and since(status.st_ctime_ns):
                unlock(fd)
    except OSError:
        return
    finally:
        os.close(fd)


class _Allowance:
    def __init__(self, but: str) -> None:
        self.but = but
        self.names = _MOST_NAMES
        self.bytes = 8 * MOST_BYTES


def capture(folder: int, name: str, *, deep: bool = True, but: str = "") -> Node | None:
    """Remember what is under a name in an opened folder; None if there is nothing.

    `deep` remembers what is in a folder, too, but for names that end in `but`.
    """
    return _capture(folder, name, _MOST_DEPTH if deep else 0, _Allowance(but))


def _capture(folder: int, name: str, depth: int, allowance: _Allowance) -> Node | None:
    try:
        status = os.lstat(name, dir_fd=folder)
    except (OSError, ValueError):
        return None
    data: bytes | None = None
    children: dict[str, Node] = {}
    partial = False
    if stat.S_ISREG(status.st_mode):
        status, data = _read(folder, name, status)
        if data is not None:
            allowance.bytes -= len(data)
            data = data if allowance.bytes >= 0 else None
    elif stat.S_ISLNK(status.st_mode):
        with suppress(OSError):
            data = os.fsencode(os.readlink(name, dir_fd=folder))
    elif stat.S_ISDIR(status.st_mode) and depth:
        children, partial = _children(folder, name, depth, allowance)
    return Node(
        stamp=stamp_of(status),
        mode=status.st_mode,
        owner=(status.st_uid, status.st_gid),
        young=is_young(status.st_ctime_ns),
        data=data,
        children=children,
        partial=partial,
    )


def _read(folder: int, name: str, status: os.stat_result) -> tuple[os.stat_result, bytes | None]:
    try:
        fd = os.open(name, _FILE, dir_fd=folder)
    except OSError:
        return status, None
    try:
        status = os.fstat(fd)
        if not stat.S_ISREG(status.st_mode) or status.st_size > MOST_BYTES:
            return status, None
        data = b""
        while len(data) <= MOST_BYTES and (more := os.read(fd, MOST_BYTES + 1 - len(data))):
            data += more
    except OSError:
        return status, None
    else:
        return status, data if len(data) <= MOST_BYTES else None
    finally:
        os.close(fd)


def _children(
    folder: int, name: str, depth: int, allowance: _Allowance
) -> tuple[dict[str, Node], bool]:
    children: dict[str, Node] = {}
    partial = False
    try:
        fd = os.open(name, _FOLDER, dir_fd=folder)
    except OSError:
        return children, True
    try:
        with os.scandir(fd) as entries:
            for entry in entries:
                if allowance.but and entry.name.endswith(allowance.but):
                    continue
                if allowance.names <= 0:
                    return children, True
                allowance.names -= 1
                node = _capture(fd, entry.name, depth - 1, allowance)
                if node is None:
                    partial = True  # a folder may be listed that cannot be entered
                else:
                    children[entry.name] = node
    except OSError:
        return children, True
    finally:
        os.close(fd)
    return children, partial


def same(old: Node | None, new: Node | None) -> bool:
    """Whether two looks saw the same thing: by content, or by stamp where there is none."""
    if old is None or new is None:
        return old is new
    if old.mode != new.mode:
        return False
    if stat.S_ISDIR(old.mode):
        names = {*old.children, *new.children}
        return all(same(old.children.get(name), new.children.get(name)) for name in names)
    if old.data is None or new.data is None:
        return old.stamp == new.stamp
    return old.data == new.data
