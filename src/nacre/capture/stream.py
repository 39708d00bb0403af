"""From a pipe into a recorder and, when it overflows, a spill file."""

import fcntl
import os
import select
import threading
import time
from collections.abc import Callable
from contextlib import suppress

from nacre.capture.recorder import Recorder
from nacre.capture.spill import SpillFile
from nacre.model.transcript import Transcript

__all__ = ("Flood", "Stream")

_CHUNK = 1 << 18
# One turn of the event loop reads this much at most, so that a flood does not
# starve the other calls.
_TURN = 1 << 21
# A listener may be slow, and whoever waits for the loop meanwhile should not be.
_LISTENER_TURN = 1 << 16
# An unprivileged pipe may grow to this; see /proc/sys/fs/pipe-max-size.
_BUSY_PIPE = 1 << 20
# A fast writer fills less than half of such a pipe meanwhile.
_NAP_SECONDS = 50e-6
_QUIET_MILLISECONDS = 50


class Stream:
    """One non-blocking pipe on its way to a recorder, a spill and a listener."""

    def __init__(
        self,
        pipe: int,
        recorder: Recorder,
        spill: SpillFile | None = None,
        listener: Callable[[bytes], None] | None = None,
    ) -> None:
        self.pipe = pipe
        self.recorder = recorder
        self.spill = spill
        self._unspilled = recorder.limit.unspilled
        self._listener = listener
        self._turn = _TURN if listener is None else _LISTENER_TURN
        self._buffer = bytearray(1 << 12)
        self._busy = False
        self.ended = False

    def read(self) -> int:
        """Take what is there, within one turn; return how many bytes that was."""
        taken = 0
        while not self.ended and taken < self._turn:
            ring = self._ring()
            size = _readv(self.pipe, ring or [self._buffer])
            if size is None:
                break
            self.ended = size == 0
            taken += size
            if ring:
                self.recorder.took(size)
            else:
                self._feed(memoryview(self._buffer)[:size])
            if size < (self.recorder.limit.tail if ring else len(self._buffer)):
                break  # it is empty by now
            if not self._busy:
                self._busy = True
                self._buffer = bytearray(min(_CHUNK, self._turn))
        return taken

    def _ring(self) -> list[memoryview] | None:
        """Where to read to without a copy, if nobody else wants the bytes: it doubles the rate.

        A small ring would be filled by many small reads.
        """
        if not self._busy or self._listener is not None or self.recorder.limit.tail < _CHUNK // 2:
            return None
        if self.spill is not None and not self.spill.full:
            return None
        return self.recorder.ring()

    @property
    def flooding(self) -> bool:
        """Whether there is more than a turn of the loop should read.

        Nobody may listen: a listener is called on the loop's own thread.
        """
        return self._busy and self._listener is None and self.recorder.total >= _TURN

    def _feed(self, data: memoryview) -> None:
        said = self.recorder.total
        if self.spill is not None and said + len(data) > self._unspilled:
            if said <= self._unspilled:
                so_far = self.recorder.transcript()
                self.spill.write(so_far.head + so_far.tail)
            self.spill.write(data)
        self.recorder.feed(data)
        if self._listener is not None and data:
            self._listener(bytes(data))

    def settle(self, *, cut_short: bool) -> None:
        """Spill at the end of a run what its limit wants spilled, though memory holds it."""
        limit = self.recorder.limit
        if self.spill is None or not 0 < self.recorder.total <= self._unspilled:
            return
        said = self.recorder.transcript()
        data = said.head + said.tail
        lines = data.count(b"\n") + (not data.endswith(b"\n"))
        if (cut_short and limit.cut_short) or (limit.lines is not None and lines > limit.lines):
            self.spill.write(data)

    def transcript(self) -> Transcript:
        """What was said so far."""
        return self.recorder.transcript(self.spill.value() if self.spill else None)


def _readv(pipe: int, buffers: list[memoryview] | list[bytearray]) -> int | None:
    """Read what is there; None if that is nothing yet."""
    try:
        return os.readv(pipe, buffers)
    except BlockingIOError:
        return None


class Flood:
    """A thread that reads a pipe which stays full, until it is quiet again.

    It lets the pipe fill before it takes from it: a reader that takes each page as it comes is at
    odds with the writer about the pipe's lock, and both are slower by half. When it stops, `done`
    is readable, and the stream is the loop's again.
    """

    def __init__(self, stream: Stream) -> None:
        self._stream = stream
        self._stopping = False
        self._stop = os.eventfd(0, os.EFD_CLOEXEC)
        self.done = os.eventfd(0, os.EFD_CLOEXEC | os.EFD_NONBLOCK)
        self._thread = threading.Thread(target=self._run, name="nacre-flood", daemon=True)
        # Where pipe-user-pages-soft is used up, a small pipe works as well.
        with suppress(OSError):
            fcntl.fcntl(stream.pipe, fcntl.F_SETPIPE_SZ, _BUSY_PIPE)
        self._waits = fcntl.fcntl(stream.pipe, fcntl.F_GETPIPE_SZ) >= _BUSY_PIPE
        self._thread.start()

    def _run(self) -> None:
        poll = select.poll()
        poll.register(self._stream.pipe, select.POLLIN)
        poll.register(self._stop, select.POLLIN)
        while not self._stream.ended and not self._stopping:
            taken = self._stream.read()
            if taken == 0 and not poll.poll(_QUIET_MILLISECONDS):
                break
            if 0 < taken < _CHUNK and self._waits:
                time.sleep(_NAP_SECONDS)  # noqa: TID251 (nothing says when a pipe has filled)
        os.eventfd_write(self.done, 1)

    def stop(self) -> None:
        """Get the stream back; returns when the thread has let go of it."""
        self._stopping = True
        os.eventfd_write(self._stop, 1)
        self._thread.join()
        os.close(self._stop)
        os.close(self.done)
