"""Which files lie at some paths, as long as anyone asks.

A mount lies on a file, not on a name. When the host removes, renames or replaces it, the
kernel takes the mount away, in every namespace. So it must be seen that another file is
there now; and the number of a removed file can be given to the next, unless it is held open.
"""

import os
from collections.abc import Iterable, Sequence
from contextlib import suppress
from pathlib import PurePath

__all__ = ("Anchors", "identities")


class Anchors:
    """Holds the files at some paths, so that no other can be taken for one of them."""

    def __init__(self, paths: Iterable[PurePath]) -> None:
        self._held: dict[str, int] = {}
        self._paths = tuple(dict.fromkeys(map(str, paths)))
        for path in self._paths:
            with suppress(OSError):
                self._held[path] = os.open(path, os.O_PATH | os.O_CLOEXEC)
        self.files = identities(self._paths)

    def moved(self) -> bool:
        """Whether another file is at one of the paths now, or none, or the first."""
        return identities(self._paths) != self.files

    def close(self) -> None:
        """Let go of the files."""
        while self._held:
            os.close(self._held.popitem()[1])

    def stray(self) -> str | None:
        """A path that leads elsewhere, if there is one: some part of it is a link."""
        for path, fd in self._held.items():
            if os.readlink(f"/proc/self/fd/{fd}") != path:
                return path
        return None

    def words(self, kind: str) -> tuple[str, ...]:
        """The files that are held, as a room is told of them."""
        found = {path: os.fstat(fd) for path, fd in self._held.items()}
        return tuple(f"{kind}{file.st_dev}:{file.st_ino}:{path}" for path, file in found.items())


def identities(paths: Sequence[str]) -> tuple[int, ...]:
    """Which files are at some paths; 0 where there is none."""
    return tuple(map(_identity, paths))


def _identity(path: str) -> int:
    try:
        found = os.stat(path)
    except OSError:
        return 0
    return found.st_dev << 64 | found.st_ino
