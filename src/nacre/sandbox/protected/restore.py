"""Putting things back: what a script left is kept aside, what was there is written.

Everything happens in folders that were opened without following links, and a file is
written beside its place and renamed into it.
"""

import os
import stat
import time
from contextlib import suppress
from pathlib import Path

from nacre.model.value import dataclass
from nacre.sandbox.protected.disk import Node, below, capture, opened, resolved, unlock

__all__ = ("Restorer", "Reverted", "put", "set_mode")

_MOST_KEPT_BYTES = 64 << 20
_MOST_KEPT = 1000


@dataclass(frozen=True, slots=True, kw_only=True)
class Reverted:
    """One thing that a script did to a protected path, and that was undone.

    `what` says it in words. `kept` is what the script had left there, None if
    there was nothing to keep, or too much of it.
    """

    path: Path
    what: str
    kept: Path | None = None


class Restorer:
    """Puts protected paths back as they were; keeps what it takes away in `aside`."""

    def __init__(self, aside: Path) -> None:
        self._aside = aside
        self._kept = 0

    def start(self) -> None:
        """Count anew how much is kept."""
        self._kept = 0

    def take_away(self, folder: int, name: str) -> Path | None:
        """Move what is under a name aside, or remove it; say where it is now.

        Raises:
            OSError: If it is still there.
        """
        status = os.lstat(name, dir_fd=folder)
        if stat.S_ISDIR(status.st_mode):
            _let_in(folder, name)
        kept: Path | None = None
        plain = stat.S_IFMT(status.st_mode) in {stat.S_IFREG, stat.S_IFDIR, stat.S_IFLNK}
        if plain and status.st_size <= _MOST_KEPT_BYTES and self._kept < _MOST_KEPT:
            self._kept += 1
            with suppress(OSError):
                kept = self._keep(folder, name, status)
        if kept is None or _exists(folder, name):
            _remove(folder, name, status)
        return kept

    def keep_copy(self, name: str, data: bytes) -> Path | None:
        """Keep the bytes that are about to be written over."""
        if self._kept >= _MOST_KEPT:
            return None
        self._kept += 1
        with suppress(OSError):
            place = self._place(name)
            with open(place, "xb", opener=_private) as file:
                file.write(data)
            return place
        return None

    def _place(self, name: str) -> Path:
        os.makedirs(self._aside, mode=0o700, exist_ok=True)
        at = time.strftime("%Y%m%dT%H%M%S")
        return self._aside / f"{at}-{os.urandom(4).hex()}-{name[:40]}"

    def _keep(self, folder: int, name: str, status: os.stat_result) -> Path | None:
        place = self._place(name)
        try:
            os.rename(name, place, src_dir_fd=folder)
        except OSError:
            # Another file system: what is small is copied.
            node = capture(folder, name)
            if node is None or not (stat.S_ISREG(status.st_mode) or stat.S_ISDIR(status.st_mode)):
                return None
            if stat.S_ISREG(status.st_mode) and node.data is None:
                return None
            with opened(resolved(self._aside)) as aside:
                put(aside, place.name, node)
        return place


def put(folder: int, name: str, node: Node) -> None:
    """Write what was remembered under a name where nothing is, or a file.

    Raises:
        OSError: If it cannot be written.
    """
    if stat.S_ISDIR(node.mode):
        _put_folder(folder, name, node)
        return
    if node.data is None:
        raise OSError(0, "its content was too large to be remembered")
    beside = f".nacre-{os.urandom(6).hex()}"
    try:
        if stat.S_ISLNK(node.mode):
            os.symlink(os.fsdecode(node.data), beside, dir_fd=folder)
        else:
            flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
            fd = os.open(beside, flags, 0o600, dir_fd=folder)
            with open(fd, "wb") as file:
                file.write(node.data)
                _give(fd, node)
        os.rename(beside, name, src_dir_fd=folder, dst_dir_fd=folder)
    except OSError:
        with suppress(OSError):
            os.unlink(beside, dir_fd=folder)
        raise


def _put_folder(folder: int, name: str, node: Node) -> None:
    os.mkdir(name, 0o700, dir_fd=folder)
    with below(folder, name) as fd:
        for child, inner in node.children.items():
            with suppress(OSError):
                put(fd, child, inner)
        _give(fd, node)


def _give(fd: int, node: Node) -> None:
    """Give an opened file the owner and mode it had; the mode last, as chown clears bits."""
    if os.geteuid() == 0:
        with suppress(OSError):
            os.fchown(fd, *node.owner)
    os.fchmod(fd, stat.S_IMODE(node.mode))


def set_mode(folder: int, name: str, mode: int) -> None:
    """Set the mode of a file or folder, never of what a link leads to.

    Raises:
        OSError: If it cannot be set.
    """
    fd = os.open(name, os.O_PATH | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=folder)
    try:
        if not stat.S_ISLNK(os.fstat(fd).st_mode):
            os.chmod(f"/proc/self/fd/{fd}", stat.S_IMODE(mode))
    finally:
        os.close(fd)


def _let_in(folder: int, name: str) -> None:
    """A folder that its owner cannot write to can neither be emptied nor moved."""
    with suppress(OSError):
        flags = os.O_PATH | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
        fd = os.open(name, flags, dir_fd=folder)
        try:
            unlock(fd)
        finally:
            os.close(fd)


def _remove(folder: int, name: str, status: os.stat_result) -> None:
    if not stat.S_ISDIR(status.st_mode):
        os.unlink(name, dir_fd=folder)
        return
    with below(folder, name) as fd:
        _empty(fd)
    os.rmdir(name, dir_fd=folder)


def _empty(fd: int) -> None:
    """Remove all that is in an opened folder, however deep.

    What is in a folder is lifted to the top first, so that two descriptors and no
    recursion will do.
    """
    lifted = 0
    while names := os.listdir(fd):
        for name in names:
            if not stat.S_ISDIR(os.lstat(name, dir_fd=fd).st_mode):
                os.unlink(name, dir_fd=fd)
                continue
            _let_in(fd, name)
            with below(fd, name) as inner:
                for child in os.listdir(inner):
                    lifted += 1
                    _let_in(inner, child)
                    os.rename(child, f".nacre-{lifted}", src_dir_fd=inner, dst_dir_fd=fd)
            os.rmdir(name, dir_fd=fd)


def _exists(folder: int, name: str) -> bool:
    try:
        os.lstat(name, dir_fd=folder)
    except OSError:
        return False
    return True


def _private(path: str, flags: int) -> int:
    return os.open(path, flags | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
