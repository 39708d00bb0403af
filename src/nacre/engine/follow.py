"""One live process, watched until there is a reason to stop watching."""

import math
import select
import threading
from contextlib import suppress
from typing import Self

from nacre.capture.stream import Flood, Stream
from nacre.errors import WardenError
from nacre.process.cancel import CancelToken
from nacre.process.events import (
    Begun,
    Crowded,
    Event,
    Gone,
    Kept,
    SeenLast,
    ShellExited,
    SpawnFailed,
    Started,
    Starved,
    Waits,
)
from nacre.process.live import Process
from nacre.process.waits import readable

__all__ = ("Follower",)

# By then the shortest scripts have ended. It is the least poll(2) can be asked for.
_GLANCE_MILLISECONDS = 1


class Follower:
    """Waits for a process, its pipes and a cancellation at once, in one task.

    An epoll descriptor is itself readable when one of its members is, so one
    wait covers them all, on asyncio and trio alike. However the block ends, the
    process and whatever it started is let go of: killed, unless it was kept. One that `waits`
    has not begun: there is nothing yet to hold it.
    """

    def __init__(
        self,
        process: Process,
        streams: tuple[Stream, ...],
        cancel: CancelToken | None,
        flood_slots: threading.Semaphore,
    ) -> None:
        self.process = process
        self.streams = streams
        self.waits = False
        self.started: Started | None = None
        self.failed: SpawnFailed | None = None
        self.status: int | None = None
        self.crowded = False
        self.starved = False
        self.gone = False
        self.lost: str | None = None
        self.cancelled = False
        self._cancel = cancel
        self._flood_slots = flood_slots
        self._floods: dict[int, tuple[Flood, Stream]] = {}
        self._pipes = {stream.pipe: stream for stream in streams}
        self._epoll: select.epoll | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, error: type[BaseException] | None, *_: object) -> None:
        self.take_back()
        if self._epoll is not None:
            self._epoll.close()
        self.process.close()
        for stream in self.streams:
            if stream.spill is None:
                continue
            if error is None:
                stream.spill.close()
            else:
                stream.spill.remove()  # nobody will ever be told of it

    @property
    def over(self) -> bool:
        """Whether nothing more can be learnt about the shell."""
        return self.status is not None or self.failed is not None or self.lost is not None

    @property
    def silent(self) -> bool:
        """Whether every pipe has ended."""
        return all(stream.ended for stream in self.streams)

    async def step(self, deadline: float = math.inf) -> bool:
        """Wait for the next thing to happen, and take note of it.

        Returns False if the deadline came first.
        """
        epoll = self._opened()
        if not await readable(epoll.fileno(), deadline):
            return False
        for fd, _ in epoll.poll(0):
            self._note(fd)
        return True

    def glance(self) -> None:
        """Wait a moment without the event loop: to ask that takes a third as long."""
        poll = select.poll()
        poll.register(self.process.fileno(), select.POLLIN)
        if poll.poll(_GLANCE_MILLISECONDS):
            self._hear()

    def _opened(self) -> select.epoll:
        """What the event loop waits for."""
        if self._epoll is None:
            self._epoll = select.epoll()
            cancel = [self._cancel.fileno()] if self._cancel else []
            for fd in (self.process.fileno(), *self._pipes, *cancel):
                self._epoll.register(fd, select.EPOLLIN)
        return self._epoll

    def _forget(self, fd: int) -> None:
        if self._epoll is not None:
            self._epoll.unregister(fd)

    def _note(self, fd: int) -> None:
        if fd == self.process.fileno():
            self._hear()
        elif stream := self._pipes.get(fd):
            self._read(stream)
        elif found := self._floods.pop(fd, None):
            self._end_flood(*found)
        else:
            self.cancelled = True
            self._forget(fd)

    def _hear(self) -> None:
        try:
            events = self.process.events()
        except WardenError as error:
            self.lost = self.lost or str(error)
            self._forget(self.process.fileno())
            return
        for event in events:
            self._take(event)

    def _take(self, event: Event) -> None:
        match event:
            case Waits() | Begun():
                self.waits = isinstance(event, Waits)
            case Started():
                self.started = event
            case SpawnFailed():
                self.failed = event
            case ShellExited(status):
                self.status = status
            case SeenLast(reason):
                self.lost = reason
            case Crowded():
                self.crowded = True
            case Starved():
                self.starved = True
            case Gone():
                self.gone = True
            case Kept():
                pass  # heard by the one who asked

    def _read(self, stream: Stream) -> None:
        stream.read()
        if stream.ended:
            self._ignore(stream)
        elif stream.flooding and self._flood_slots.acquire(blocking=False):
            self._ignore(stream)
            flood = Flood(stream)
            self._floods[flood.done] = (flood, stream)
            self._opened().register(flood.done, select.EPOLLIN)

    def _ignore(self, stream: Stream) -> None:
        self._forget(stream.pipe)
        del self._pipes[stream.pipe]

    def _end_flood(self, flood: Flood, stream: Stream) -> None:
        with suppress(OSError):
            self._forget(flood.done)
        flood.stop()
        self._flood_slots.release()
        if not stream.ended:
            self._pipes[stream.pipe] = stream
            self._opened().register(stream.pipe, select.EPOLLIN)

    def take_back(self) -> None:
        """Have all streams on this thread again."""
        while self._floods:
            self._end_flood(*self._floods.popitem()[1])

    def drain(self) -> None:
        """Read what is in the pipes now, and no more: others may go on writing."""
        self.take_back()
        for stream in self.streams:
            stream.read()
