"""A job's output on its way from the pipe to its file, and the record of its end.

Part of the warden, and like it made of the standard library alone. What a job
says is appended to its output file up to a cap, and counted beyond it; the last
words are appended when it ends. How it ended is written into its record, a small file that was laid out in full when
the job began, so that a full disk cannot lose an exit code. The record is locked
(flock) as long as the warden lives: whoever can take the lock of an unfinished
record knows that nobody is left to finish it.
"""

from __future__ import annotations

import array
import errno
import fcntl
import json
import os
import termios
import time
from contextlib import suppress
from functools import cache

TYPE_CHECKING = False  # importing typing would cost a tenth of the start
if TYPE_CHECKING:
    from typing import Any

__all__ = ("RECORD_BYTES", "Keeper")

RECORD_BYTES = 512
_CHUNK = 1 << 18
# A job that has said so much has a wide pipe, if this user may have one more of these.
_MUCH = 1 << 21
_WIDE_PIPE = 1 << 20
_TAIL_BYTES = 1 << 16
_PROGRESS_SECONDS = 0.2


class Keeper:
    """Holds the pipes, output files and record of one job.

    The descriptors come in this order: the record, then a pipe and an output
    file for each stream.
    """

    def __init__(self, request: dict[str, Any], fds: list[int]) -> None:
        self._record = fds[0]
        self.pipes = fds[1::2]
        self._files = dict(zip(self.pipes, fds[2::2], strict=True))
        self._said: dict[int, int] = dict(zip(self.pipes, request["said"], strict=True))
        self._kept: dict[int, int] = dict(zip(self.pipes, request["kept"], strict=True))
        self._tail = dict.fromkeys(self.pipes, b"")
        self._tail_at = dict.fromkeys(self.pipes, 0)
        self._cap: int = request["cap"]
        self._completion: dict[str, str] | None = request["completion"]
        self._failure: str | None = request["failure"]
        self._told = 0.0
        self._closed = False
        self._open = set(self.pipes)
        self._narrow = set(self.pipes)
        if self._said != self._kept:
            self._write_record({})  # some of it was too much already

    def drain(self, pipe: int) -> bool:
        """Move what a pipe holds to its file; False when the pipe has ended."""
        try:
            size = os.readv(pipe, [_buffer()])
        except BlockingIOError:
            return True
        self._append(pipe, memoryview(_buffer())[:size])
        if not size:
            self._open.discard(pipe)
        elif pipe in self._narrow and self._said[pipe] > _MUCH:
            self._narrow.discard(pipe)
            with suppress(OSError):
                fcntl.fcntl(pipe, fcntl.F_SETPIPE_SZ, _WIDE_PIPE)
        return size > 0

    def finish(self, status: int, *, stopped: bool) -> None:
        """Take what is left in the pipes, write the record, let go of everything.

        `stopped` says that it was us who ended it, because its owner had gone.
        """
        for pipe in self._open:
            # No more than is there now: a stranger may hold the other end.
            left = array.array("i", [0])
            fcntl.ioctl(pipe, termios.FIONREAD, left)
            while left[0] > 0 and (data := os.read(pipe, min(_CHUNK, left[0]))):
                self._append(pipe, memoryview(data))
                left[0] -= len(data)
        # First how much of the file is the job's own: more lines follow.
        self._closed = True
        self._write_record({})
        for pipe in self.pipes:
            self._append_tail(pipe)
        how, number = (
            ("exited", os.WEXITSTATUS(status))
            if os.WIFEXITED(status)
            else ("signaled", os.WTERMSIG(status))
        )
        if self._completion:
            line = self._completion[how].format(number).encode()
            with suppress(OSError):
                os.write(self._files[self.pipes[0]], line)
        self._write_record({how: number, "ended": time.time(), "stopped": stopped})
        for fd in (self._record, *self._files, *self._files.values()):
            os.close(fd)

    def abandon(self) -> None:
        """Let go of everything without an end: nobody saw it. What was said stays said."""
        self._write_record({})
        for fd in (self._record, *self._files, *self._files.values()):
            os.close(fd)

    def _append(self, pipe: int, data: memoryview) -> None:
        """Keep what still fits right after what is there; the file has no gaps."""
        whole = self._kept[pipe] == self._said[pipe]
        self._said[pipe] += len(data)
        fits = data[: max(0, self._cap - self._kept[pipe]) if whole else 0]
        written = self._write(pipe, fits) if fits and not self._failure else 0
        self._kept[pipe] += written
        if rest := data[written:]:
            before = self._tail[pipe] if len(rest) < _TAIL_BYTES else b""
            self._tail[pipe] = (before + rest[-_TAIL_BYTES:])[-_TAIL_BYTES:]
            self._tell_progress(pipe, at_once=whole)

    def _tell_progress(self, pipe: int, *, at_once: bool) -> None:
        """Show, at once and then now and then, that a job whose file is full still speaks."""
        now = time.monotonic()
        if at_once or now >= self._told + _PROGRESS_SECONDS:
            self._told = now
            self._write_record({})
            with suppress(OSError):
                os.utime(self._files[pipe])

    def _append_tail(self, pipe: int) -> None:
        tail = self._tail[pipe]
        if tail:
            omitted = self._said[pipe] - self._kept[pipe] - len(tail)
            line = f"\n[{omitted:,} bytes were not kept here]\n".encode()
            written = self._write(pipe, line + tail)
            self._tail[pipe] = tail[: max(0, written - len(line))]
            self._tail_at[pipe] = self._kept[pipe] + len(line)

    def _write(self, pipe: int, data: bytes | memoryview) -> int:
        try:
            written = os.write(self._files[pipe], data)
        except OSError as error:
            self._failure = error.strerror
            return 0
        if written < len(data):
            self._failure = os.strerror(errno.ENOSPC)
        return written

    def _write_record(self, end: dict[str, float]) -> None:
        record = end | {
            "said": list(self._said.values()),
            "kept": list(self._kept.values()),
            "tail": [len(tail) for tail in self._tail.values()],
            "tail_at": list(self._tail_at.values()),
            "failure": self._failure,
            "closed": self._closed,
        }
        line = json.dumps(record).encode().ljust(RECORD_BYTES - 1) + b"\n"
        with suppress(OSError):  # a copy-on-write disk may be too full even for this
            os.pwrite(self._record, line, 0)


@cache
def _buffer() -> bytearray:
    """What all keepers of a process read into, in turn: one each would be much for thousands."""
    return bytearray(_CHUNK)
