"""Other names of a path: a bind mount shows a folder in a second place.

What is denied by one name must be denied by all. Links are not the matter here: they are
resolved before, and lead to a path that is denied or is not.
"""

import os
from collections.abc import Iterable, Iterator
from pathlib import Path, PurePath
from typing import NamedTuple

__all__ = ("aliases",)

_MOUNTS = "/proc/self/mountinfo"
_ESCAPES = {"\\040": " ", "\\011": "\t", "\\012": "\n", "\\134": "\\"}


class _Mount(NamedTuple):
    """A mount: which file system, from which folder of it on, where."""

    device: str
    root: str
    point: str


def aliases(paths: Iterable[PurePath]) -> tuple[PurePath, ...]:
    """Every name of some absolute, resolved paths, those names included; each once."""
    mounts = _mounts()
    found: dict[PurePath, None] = {}
    for path in paths:
        found[path] = None
        found |= dict.fromkeys(_others(path, mounts))
    return tuple(found)


def _others(path: PurePath, mounts: list[_Mount]) -> Iterator[PurePath]:
    text = str(path)
    holding = [mount for mount in mounts if _is_beneath(text, mount.point)]
    if not holding:
        return
    # Of several mounts in one place the last lies above the others.
    home = max(reversed(holding), key=lambda mount: len(mount.point))
    inside = _moved(text, home.point, home.root)
    for mount in mounts:
        if mount.device != home.device:
            continue
        if _is_beneath(inside, mount.root):
            other = _moved(inside, mount.root, mount.point)
            # It may lie beneath another mount, and then is not to be seen there.
            if other != text and os.path.lexists(other) and _is_same(text, other):
                yield PurePath(other)
        elif _is_beneath(mount.root, inside) and not _is_beneath(mount.point, text):
            yield PurePath(mount.point)  # a part of it, shown elsewhere


def _is_beneath(path: str, folder: str) -> bool:
    return path == folder or path.startswith(folder.rstrip("/") + "/")


def _moved(path: str, old: str, new: str) -> str:
    """A path beneath one folder as it is called beneath another."""
    rest = path[len(old.rstrip("/")) :].lstrip("/")
    return f"{new.rstrip('/')}/{rest}" if rest else new


def _is_same(path: str, other: str) -> bool:
    try:
        return os.path.samestat(os.lstat(path), os.lstat(other))
    except OSError:
        return True  # what cannot be compared is denied by both names


def _mounts() -> list[_Mount]:
    try:
        text = Path(_MOUNTS).read_text("utf-8", "surrogateescape")
    except OSError:
        return []
    rows = (line.split(" ") for line in text.splitlines())
    return [_Mount(row[2], _path(row[3]), _path(row[4])) for row in rows]


def _path(field: str) -> str:
    if "\\" in field:
        for escape, character in _ESCAPES.items():
            field = field.replace(escape, character)
    return field
