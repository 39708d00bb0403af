"""Being woken when a file grows, through inotify."""

import ctypes
import os
import select
import struct
from collections.abc import Iterable
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Self

import anyio
from anyio.lowlevel import RunVar

__all__ = ("BlockingFileWatch", "FileWatch")

_WRITTEN = 0x2 | 0x8  # IN_MODIFY, IN_CLOSE_WRITE
_EVENT = struct.Struct("iIII")  # watch, mask, cookie, length of the name that follows
_BUFFER = 1 << 16
_BLIND_SECONDS = 0.05


class FileWatch:
    """Wakes a task when one of some files is written to.

    A user may have few inotify instances (128 by default), and a host a thousand jobs that are
    waited for: all watches of an event loop share one. Where there is none to be had the watch
    is blind, and wakes its task every so often instead.
    """

    def __init__(self, paths: Iterable[Path]) -> None:
        self._hub = _hub_of_loop()
        self._watches: list[int] = []
        self.touched = False
        self._blind = False
        for path in paths:
            watch = self._hub.add(path, self)
            if watch is None:
                self._blind = True
            else:
                self._watches.append(watch)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for watch in self._watches:
            self._hub.remove(watch, self)
        self._watches.clear()

    async def wait(self, seconds: float) -> None:
        """Return when something was written since the last time, or after the seconds."""
        if self._blind:
            await anyio.sleep(min(seconds, _BLIND_SECONDS))
            return
        with anyio.move_on_after(max(0.0, seconds)):
            await self._hub.wait(self)
        self.touched = False


class _Hub:
    """One inotify instance with its watches, open while there are any.

    Of the tasks that wait, one reads for all; when it leaves, the next one does.
    """

    def __init__(self) -> None:
        self._fd = -1
        self._watchers: dict[int, list[FileWatch]] = {}
        self._waiting: dict[FileWatch, anyio.Event] = {}
        self._reading = False

    def add(self, path: Path, watcher: FileWatch) -> int | None:
        """Watch a file; the number of the watch, None if that is not possible."""
        if self._fd < 0:
            self._fd = _instance()
        watch = _watch(self._fd, path)
        if watch >= 0:
            self._watchers.setdefault(watch, []).append(watcher)
        self._close_if_unused()
        return watch if watch >= 0 else None

    def remove(self, watch: int, watcher: FileWatch) -> None:
        """Watch it no longer, unless somebody else does."""
        left = self._watchers[watch]
        left.remove(watcher)
        if not left:
            del self._watchers[watch]
            _libc().inotify_rm_watch(self._fd, watch)  # fails if the file is gone
        self._close_if_unused()

    def _close_if_unused(self) -> None:
        if self._fd >= 0 and not self._watchers:
            os.close(self._fd)
            self._fd = -1

    async def wait(self, watcher: FileWatch) -> None:
        """Return when something was written that this one watches."""
        try:
            while not watcher.touched:
                if self._reading:
                    await self._be_told(watcher)
                else:
                    await self._read()
        finally:
            # Somebody else is to read now, if nobody does.
            if not self._reading and self._waiting:
                next(iter(self._waiting.values())).set()

    async def _be_told(self, watcher: FileWatch) -> None:
        self._waiting[watcher] = told = anyio.Event()
        try:
            await told.wait()
        finally:
            del self._waiting[watcher]

    async def _read(self) -> None:
        self._reading = True
        try:
            await anyio.wait_readable(self._fd)
        finally:
            self._reading = False
        for watch in _written(self._fd):
            for watcher in self._watchers.get(watch, ()):
                watcher.touched = True
                if told := self._waiting.get(watcher):
                    told.set()


_HUB: RunVar[_Hub] = RunVar("nacre_file_watches")


def _hub_of_loop() -> _Hub:
    hub = _HUB.get(None)
    if hub is None:
        hub = _Hub()
        _HUB.set(hub)
    return hub


class BlockingFileWatch:
    """The same for a thread without an event loop, with an instance of its own."""

    def __init__(self, paths: Iterable[Path]) -> None:
        self._fd = _instance()
        self._poll = select.poll()
        if self._fd >= 0:
            self._poll.register(self._fd, select.POLLIN)
        for path in paths:
            _watch(self._fd, path)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._fd >= 0:
            os.close(self._fd)

    def wait(self, seconds: float) -> None:
        """Return when something was written since the last time, or after the seconds."""
        if self._poll.poll(seconds * 1000):
            _written(self._fd)


def _instance() -> int:
    """An inotify instance; less than 0 if this user may have no more."""
    fd: int = _libc().inotify_init1(os.O_CLOEXEC | os.O_NONBLOCK)
    return fd


def _watch(fd: int, path: Path) -> int:
    """The number of a new watch; less than 0 if there can be none."""
    watch: int = _libc().inotify_add_watch(fd, os.fsencode(path), _WRITTEN)
    return watch


def _written(fd: int) -> set[int]:
    """The watches whose files were written to since the last time."""
    data = b""
    with suppress(BlockingIOError):
        data = os.read(fd, _BUFFER)
    found: set[int] = set()
    at = 0
    while at < len(data):
        watch, _, _, name = _EVENT.unpack_from(data, at)
        found.add(watch)
        at += _EVENT.size + name
    return found


@cache
def _libc() -> ctypes.CDLL:
    return ctypes.CDLL(None)
