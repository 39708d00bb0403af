"""Looking at the processes of this machine from outside."""

import os
import secrets
import signal
import time
from contextlib import suppress
from pathlib import Path

import anyio

from nacre.engine.journal import JOURNAL, read_journal

__all__ = (
    "COME_SECONDS",
    "GONE_SECONDS",
    "alive",
    "come_blocking",
    "descriptors",
    "gone",
    "gone_blocking",
    "journal_open",
    "kill_all",
    "no_more_descriptors",
    "tag",
    "threads",
)

GONE_SECONDS = 2.0
COME_SECONDS = 5.0
_LOOKS = 1000


def tag() -> str:
    """A number of seconds, longer than any test, that no other sleep has."""
    return f"9{secrets.randbelow(10**9):09d}.{secrets.randbelow(10**6):06d}"


def alive(text: str) -> list[int]:
    """The processes whose command line holds a text; zombies have none."""
    entries = [entry for entry in os.listdir("/proc") if entry.isdecimal()]
    return [int(entry) for entry in entries if text.encode() in _command_line(entry)]


def _command_line(entry: str) -> bytes:
    """The words of a process; none if it is gone, or never had any.

    One that is just becoming another program has none for a moment, but a program.
    """
    with suppress(OSError):
        for _ in range(_LOOKS):
            with open(f"/proc/{entry}/cmdline", "rb") as file:
                if words := file.read():
                    return words
            os.readlink(f"/proc/{entry}/exe")  # fails for zombies, the kernel's and others' own
    return b""


async def gone(text: str, within: float = GONE_SECONDS) -> None:
    """Wait until no process holds a text; fail if that takes too long."""
    with anyio.fail_after(within):
        while alive(text):
            await anyio.sleep(0.01)


def come_blocking(text: str, within: float = COME_SECONDS) -> None:
    """Wait until a process holds a text: who was told to start it may be told that it is, sooner."""
    deadline = time.monotonic() + within
    while not alive(text):
        assert time.monotonic() < deadline, f"not there yet: {text}"
        signal.sigtimedwait([], 0.01)


def gone_blocking(text: str, within: float = GONE_SECONDS) -> None:
    """Do the same without an event loop."""
    deadline = time.monotonic() + within
    while found := alive(text):
        assert time.monotonic() < deadline, f"still alive: {found}"
        signal.sigtimedwait([], 0.01)


def kill_all(text: str) -> None:
    """Leave nothing of a failed test behind."""
    for pid in alive(text):
        with suppress(OSError):  # one that ends at this moment
            pidfd = os.pidfd_open(pid)  # its number may be another's by now
            try:
                if text.encode() in _command_line(str(pid)):
                    signal.pidfd_send_signal(pidfd, signal.SIGKILL)
            finally:
                os.close(pidfd)


async def journal_open(state: Path) -> None:
    """Wait until a tool's journal has its files open: they stay open from its first entry on."""
    with anyio.fail_after(20):
        while not any(read_journal(state / JOURNAL)):
            await anyio.sleep(0.01)


def descriptors() -> int:
    """How many descriptors this process has open."""
    return len(os.listdir("/proc/self/fd"))


async def no_more_descriptors(most: int) -> None:
    """Wait until this process has no more of them; the journal's thread has one for moments."""
    with anyio.fail_after(5):
        while descriptors() > most:
            await anyio.sleep(0.01)


def threads() -> int:
    """How many threads this process has."""
    return len(os.listdir("/proc/self/task"))
