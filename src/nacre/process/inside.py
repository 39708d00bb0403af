"""Looking into the namespaces of a process from outside, through /proc."""

import os
from pathlib import Path

__all__ = ("listens_inside", "path_inside")

_LISTEN = b"0A"


def path_inside(pid: int, path: Path) -> Path:
    """Where a path that a process means can be found from here."""
    if not _differs(pid, "mnt") or not path.is_absolute():
        return path
    return Path(f"/proc/{pid}/root") / path.relative_to("/")


def listens_inside(pid: int, port: int) -> bool | None:
    """Whether something listens on a TCP port of a process's own network; None if it is ours."""
    if not _differs(pid, "net"):
        return None
    return any(_listens(f"/proc/{pid}/net/{table}", port) for table in ("tcp", "tcp6"))


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
