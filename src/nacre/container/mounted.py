"""Whether a container has what was meant to be mounted in it.

An engine follows links by itself, and later than we looked. Scripts of another container may work
in the same folder at that moment, and put a link where a file was.
"""

import os
from collections.abc import Sequence
from pathlib import Path

from nacre.container.resident import HOUSE_NAME
from nacre.errors import SandboxError
from nacre.model.launch import Mount

__all__ = ("Mounted", "to_mount")

File = tuple[int, int]


def to_mount(mounts: Sequence[Mount]) -> "Mounted":
    """What is there to be mounted; of what is only protected, something may have gone.

    Raises:
        SandboxError: If a link leads to it.
    """
    found: dict[Mount, File] = {}
    for mount in mounts:
        file = _file(mount.source)
        if file is None and not mount.writable:
            continue
        if os.path.realpath(mount.source) != mount.source:
            raise SandboxError(
                f"{mount.source!r} is to be mounted, and is a link or lies behind one; remove it."
                " Nothing was run"
            )
        found[mount] = file or (0, 0)
    return Mounted(found)


class Mounted:
    """Some mounts, and which files were there before an engine was asked for them."""

    def __init__(self, files: dict[Mount, File]) -> None:
        self._files = files
        self.mounts = tuple(files)

    def require(self, first: int) -> None:
        """See that a container has these files; `first` is its first process.

        An engine in a machine of its own has other processes than we see here: then nobody can tell.

        Raises:
            SandboxError: If it has another one.
        """
        root = Path(f"/proc/{first}")
        try:
            ours = HOUSE_NAME.encode() in (root / "cmdline").read_bytes().split(b"\0")
        except OSError:
            return
        for mount, file in self._files.items() if ours else ():
            try:
                found = _file(f"{root}/root{mount.target}")
            except PermissionError:
                return
            if found != file:
                raise SandboxError(
                    f"{mount.source!r} was replaced while it was mounted; run it once more, when"
                    " nothing else works in the workspace. Nothing was run"
                )


def _file(path: str) -> File | None:
    try:
        found = os.stat(path)
    except PermissionError:
        raise
    except OSError:
        return None
    return found.st_dev, found.st_ino
