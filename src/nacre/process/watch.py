"""Being woken when a file grows, through inotify."""

import ctypes
import os
import select
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Self

import anyio

__all__ = ("FileWatch",)

_IN_MODIFY = 0x2
_IN_CLOSE_WRITE = 0x8
_BLIND_SECONDS = 0.05


class FileWatch:
    """Wakes a task when one of some files is written to.

    A host may be out of inotify instances (128 for each user by default): then
    the watch is blind, and wakes its task every so often instead.
    """

    def __init__(self, paths: Iterable[Path]) -> None:
        libc = ctypes.CDLL(None, use_errno=True)
        fd: int = libc.inotify_init1(os.O_CLOEXEC | os.O_NONBLOCK)
        self._fd = fd if fd >= 0 else None
        for path in paths if fd >= 0 else ():
            events = _IN_MODIFY | _IN_CLOSE_WRITE
            if libc.inotify_add_watch(fd, os.fsencode(path), events) < 0 and self._fd is not None:
                os.close(self._fd)
                self._fd = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._fd is not None:
            os.close(self._fd)

    async def wait(self, seconds: float) -> None:
        """Return when something was written since the last time, or after the seconds."""
        if self._fd is None:
            await anyio.sleep(min(seconds, _BLIND_SECONDS))
            return
        with anyio.move_on_after(max(0.0, seconds)):
            await anyio.wait_readable(self._fd)
        with suppress(BlockingIOError):
            os.read(self._fd, 1 << 16)

    def wait_blocking(self, seconds: float) -> None:
        """The same for a thread without an event loop."""
        poll = select.poll()
        if self._fd is not None:
            poll.register(self._fd, select.POLLIN)
        poll.poll(seconds * 1000)
        if self._fd is not None:
            with suppress(BlockingIOError):
                os.read(self._fd, 1 << 16)
