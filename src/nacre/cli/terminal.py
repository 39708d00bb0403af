"""What a person sees: colour where it helps, a sign of life during long waits."""

import os
import select
import sys
import threading
import time
from collections.abc import AsyncGenerator, Generator
from contextlib import asynccontextmanager, contextmanager
from typing import TextIO

__all__ = (
    "Spinner",
    "coloured",
    "complain",
    "have_streams",
    "leave_stdout",
    "reader_left",
    "somebody_is_there",
    "spinning",
    "write_out",
)

_RESET = "\x1b[0m"
_COLOURS = {"red": "\x1b[31m", "green": "\x1b[32m", "yellow": "\x1b[33m", "grey": "\x1b[90m"}
_FRAMES = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"
_FRAME_SECONDS = 0.1
# A command that answers within this needs no sign of life.
_PATIENCE_SECONDS = 1.0
_ERASE_LINE = "\r\x1b[K"


def has_colour(stream: TextIO) -> bool:
    """Whether colour is welcome: on a terminal, and not under NO_COLOR."""
    return stream.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def coloured(text: str, colour: str, stream: TextIO) -> str:
    """The text in a colour, if the stream shows any."""
    return f"{_COLOURS[colour]}{text}{_RESET}" if has_colour(stream) else text


def complain(sentence: str) -> None:
    """Say what went wrong, in one line on standard error."""
    print(f"{coloured('nacre:', 'red', sys.stderr)} {sentence}", file=sys.stderr)  # noqa: T201


def leave_stdout() -> None:
    """Write nowhere from now on: the reader has left, and that is no failure."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def have_streams() -> None:
    """Put /dev/null where a standard stream is closed, and Python has none for it."""
    for fd, name in enumerate(("stdin", "stdout", "stderr")):
        if getattr(sys, name) is None:
            null = os.open(os.devnull, os.O_RDWR)
            if null != fd:
                os.dup2(null, fd)
                os.close(null)
            setattr(sys, name, open(fd, "r" if fd == 0 else "w", encoding="utf-8", closefd=False))  # noqa: SIM115


def somebody_is_there() -> bool:
    """Whether a person can be asked: they see standard error, and type standard input."""
    return sys.stdin.isatty() and sys.stderr.isatty()


def write_out(data: bytes) -> None:
    """Write all of it to standard output, also if that does not block."""
    rest = memoryview(data)
    while rest:
        try:
            rest = rest[os.write(sys.stdout.fileno(), rest) :]
        except BlockingIOError:
            select.select([], [sys.stdout.fileno()], [])


def reader_left() -> bool:
    """Whether standard output is a pipe that nobody reads any more."""
    poll = select.poll()
    poll.register(sys.stdout.fileno(), 0)  # errors are reported unasked
    return any(event & select.POLLERR for _, event in poll.poll(0))


class Spinner:
    """A line on standard error that moves while nothing else is said."""

    def __init__(self, label: str) -> None:
        self._label = label
        self._began = self._spoke = time.monotonic()
        self._shown = False
        self._resting = False
        self._over = threading.Event()
        self._lock = threading.Lock()

    @contextmanager
    def resting(self) -> Generator[None]:
        """Keep off the terminal during a block: somebody is typing there."""
        self._resting = True
        self.hide()
        try:
            yield
        finally:
            self._resting = False
            self._began = self._spoke = time.monotonic()

    def hide(self) -> None:
        """Make way for output."""
        with self._lock:
            self._spoke = time.monotonic()
            if self._shown:
                sys.stderr.write(_ERASE_LINE)
                sys.stderr.flush()
                self._shown = False

    def spin(self) -> None:
        """Move on, until it is over."""
        frame = 0
        while not self._over.wait(_FRAME_SECONDS):
            with self._lock:
                now = time.monotonic()
                if not self._resting and now - self._spoke >= _PATIENCE_SECONDS:
                    frame += 1
                    sign = coloured(_FRAMES[frame % len(_FRAMES)], "grey", sys.stderr)
                    text = f"{sign} {self._label} {now - self._began:.0f} s"
                    sys.stderr.write(f"{_ERASE_LINE}{text}")
                    sys.stderr.flush()
                    self._shown = True

    def end(self) -> None:
        """Move on no more."""
        self._over.set()
        self.hide()


@asynccontextmanager
async def spinning(label: str) -> AsyncGenerator[Spinner]:
    """Show a sign of life during a block, if standard error is a terminal."""
    spinner = Spinner(label)
    if not sys.stderr.isatty():
        yield spinner
        return
    # A thread: who waits may have no event loop.
    thread = threading.Thread(target=spinner.spin, name="nacre-spinner", daemon=True)
    thread.start()
    try:
        yield spinner
    finally:
        spinner.end()
        thread.join()
