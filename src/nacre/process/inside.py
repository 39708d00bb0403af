"""Looking into the namespaces of a process from outside, through /proc."""

import os
from pathlib import Path

__all__ = ("STAND_IN", "listens_inside", "path_inside")

STAND_IN = b"nacre-stand-in"
"""By what a process is known that stands for one in a container; that one's first is next."""

_LISTEN = b"0A"


def path_inside(pid: int, cwd: Path, path: Path) -> Path:
    """Where a path that a process in a folder means can be found from here.

    A job in a container has its folder here too, but means its own files otherwise.
    """
    seen = _seen(pid)
    if seen != pid and not path.is_absolute():
        return cwd / path
    path = cwd / path
    if not _differs(seen, "mnt") or not path.is_absolute():
        return path
    return Path(f"/proc/{seen}/root") / path.relative_to("/")


def listens_inside(pid: int, port: int) -> bool | None:
    """Whether something listens on a TCP port of a process's own network; None if it is ours."""
    pid = _seen(pid)
    if not _differs(pid, "net"):
        return None
    return any(_listens(f"/proc/{pid}/net/{table}", port) for table in ("tcp", "tcp6"))


def _seen(pid: int) -> int:
    """A process that sees what this one means: for a stand-in, the first of its container."""
    try:
        with open(f"/proc/{pid}/cmdline", "rb") as file:
            words = file.read().split(b"\0")
    except OSError:
        return pid
    at = words.index(STAND_IN) if STAND_IN in words else -1
    first = words[at + 1] if at >= 0 else b""
    return int(first) if first.isdigit() and int(first) else pid


def _differs(pid: int, namespace: str) -> bool:
    try:
        theirs = os.readlink(f"/proc/{pid}/ns/{namespace}")
        return theirs != os.readlink(f"/proc/self/ns/{namespace}")
    except OSError:
        return False


def _listens(table: str, port: int) -> bool:
    wanted = b":%04X" % port
    try:
        with open(table, "rb") as file:
            rows = [line.split() for line in file]
    except OSError:
        return False
    return any(row[1].endswith(wanted) and row[3] == _LISTEN for row in rows[1:])
