"""Which file a path leads to: it may be another one by now."""

import os
from pathlib import PurePath

__all__ = ("identity",)


def identity(path: PurePath) -> tuple[int, int] | None:
    """What tells the file or folder at a path from every other; None if there is none."""
    try:
        found = os.stat(path)
    except (OSError, ValueError):
        return None
    return found.st_dev, found.st_ino
