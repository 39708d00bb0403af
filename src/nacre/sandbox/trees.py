"""Folders that scripts wrote in, removed when no script runs there any more."""

import os
import stat
from contextlib import suppress

__all__ = ("remove_tree",)

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


def remove_tree(folder: str | os.PathLike[str]) -> None:
    """Remove a folder however deep it is, and whatever modes its files were left with.

    What cannot be removed stays; no link is followed.
    """
    with suppress(OSError):
        os.chmod(folder, 0o700)
        top = os.open(folder, _FOLDER)
        try:
            _empty(top)
        finally:
            os.close(top)
        os.rmdir(folder)


def _empty(top: int) -> None:
    # Each folder is brought up to the top before it is emptied, so that none is ever too deep
    # for a path, for descriptors, or for the stack, as it would be for shutil.rmtree.
    waiting = ["."]
    while waiting:
        name = waiting.pop()
        with suppress(OSError):
            here = os.open(name, _FOLDER, dir_fd=top)
            try:
                waiting += [fresh for each in os.listdir(here) if (fresh := _take(each, here, top))]
            finally:
                os.close(here)
            if name != ".":
                os.rmdir(name, dir_fd=top)


def _take(name: str, here: int, top: int) -> str:
    """Remove a file; of a folder, return what it is called at the top now."""
    with suppress(OSError):
        if not stat.S_ISDIR(os.stat(name, dir_fd=here, follow_symlinks=False).st_mode):
            os.unlink(name, dir_fd=here)
            return ""
        os.chmod(name, 0o700, dir_fd=here)
        fresh = f".gone-{os.urandom(8).hex()}"
        os.rename(name, fresh, src_dir_fd=here, dst_dir_fd=top)
        return fresh
    return ""
