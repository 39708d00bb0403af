"""The children of this process, the orphans it inherited included."""

import os
import signal
from contextlib import suppress

__all__ = ("children", "is_childless", "kill_child", "kill_shell")

_WNOTHREAD = 0x20000000  # not named in the os module
_CHUNK = 1 << 16


def children() -> list[int]:
    """The live children and zombies of this process, orphans it inherited included."""
    try:
        # Asked at the end of every call: a file object would cost more than the reading.
        file = os.open("/proc/thread-self/children", os.O_RDONLY | os.O_CLOEXEC)
    except FileNotFoundError:  # a kernel without CONFIG_PROC_CHILDREN
        return [int(e) for e in os.listdir("/proc") if e.isdecimal() and _parent(e) == os.getpid()]
    found = b""
    try:
        while data := os.read(file, _CHUNK):
            found += data
    finally:
        os.close(file)
    return [int(pid) for pid in found.split()]


def is_childless() -> bool:
    """Whether this thread has no child at all; what other threads spawned is theirs.

    Orphans become children of a process's first thread, which in a warden is this one.
    """
    try:
        os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT | _WNOTHREAD)
    except ChildProcessError:
        return True
    return False


def _parent(pid: str) -> int:
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            return int(file.read().rpartition(b")")[2].split()[1])
    except (OSError, IndexError):
        return 0


def kill_shell(pid: int) -> None:
    """Kill a shell with its group, also if it shed its mark: it is not reaped yet."""
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(pid, signal.SIGKILL)
    kill_child(pid)


def kill_child(pid: int) -> None:
    """Kill a child that is not reaped, so that its pid is no other's."""
    with suppress(ProcessLookupError, PermissionError):
        os.kill(pid, signal.SIGKILL)
