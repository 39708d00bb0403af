"""Waiting until something is true of a job."""

import errno
import math
import socket
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

import anyio

from nacre.engine.pattern import Pattern, compile_pattern
from nacre.engine.reading import LINE_BYTES, OutputFile
from nacre.engine.record import Ending, JobFiles
from nacre.engine.threads import in_thread
from nacre.model.call import (
    Condition,
    FileAppears,
    JobEnds,
    OutputMatches,
    PortOpens,
    Silence,
)
from nacre.model.value import dataclass
from nacre.process.cancel import CancelToken
from nacre.process.inside import listens_inside, path_inside
from nacre.process.watch import FileWatch

__all__ = ("Subject", "wait_until")

# What no file tells of (a port, a path, a cancelled token, a dead warden) is asked for.
_TICK_SECONDS = 0.05
_IDLE_TICK_SECONDS = 1.0
_CONNECT_SECONDS = 0.25
# More than this is searched off the event loop.
_MUCH_BYTES = 1 << 18


@dataclass(frozen=True, slots=True, kw_only=True)
class Subject:
    """The job that is waited for, and where its reader stands."""

    files: JobFiles
    pid: int
    cwd: Path
    cursors: tuple[int, ...]
    started: float


async def wait_until(
    subject: Subject,
    conditions: Sequence[Condition],
    seconds: float,
    cancel: CancelToken | None,
) -> Condition | None:
    """Return the first condition that comes true; None if the time is up first.

    The end of the job always ends the wait, also when nobody asked for it.

    Raises:
        CallError: If a condition's regular expression is none.
    """
    deadline = anyio.current_time() + seconds
    questions = [(condition, _question(subject, condition)) for condition in conditions]
    tick = _TICK_SECONDS if cancel or _needs_asking(conditions) else _IDLE_TICK_SECONDS
    with FileWatch([*subject.files.outputs, subject.files.record]) as watch:
        while True:
            ending = subject.files.ending()
            attended = ending is not None or subject.files.attended()
            for condition, question in questions:
                if await question.ask(ending):
                    return condition
            if ending is not None or not attended:
                return JobEnds()
            left = deadline - anyio.current_time()
            if left <= 0 or (cancel is not None and cancel.cancelled):
                return None
            await watch.wait(min(left, tick, *(question.patience() for _, question in questions)))


def _needs_asking(conditions: Sequence[Condition]) -> bool:
    return any(isinstance(condition, PortOpens | FileAppears) for condition in conditions)


class _Question(Protocol):
    """Whether one condition holds, asked again and again."""

    async def ask(self, ending: Ending | None) -> bool:
        """Whether it holds now."""
        ...

    def patience(self) -> float:
        """How long until asking again is worth it, if nothing is written meanwhile."""
        ...


class _Prompt:
    """A question that only something written, or the next tick, can answer."""

    def patience(self) -> float:
        return math.inf


class _Matches(_Prompt):
    def __init__(self, subject: Subject, pattern: Pattern) -> None:
        self._pattern = pattern
        self._outputs = [OutputFile(subject.files, n) for n in range(len(subject.files.outputs))]
        self._seen = list(subject.cursors)

    async def ask(self, ending: Ending | None) -> bool:
        for n, output in enumerate(self._outputs):
            much = output.size(ending) - self._seen[n] > _MUCH_BYTES
            if (
                await in_thread(self._found, n, output, ending)
                if much
                else self._found(n, output, ending)
            ):
                return True
        return False

    def _found(self, stream: int, output: OutputFile, ending: Ending | None) -> bool:
        for line, behind in output.lines(self._seen[stream], ending):
            if self._pattern.matches(line):
                return True
            if line.endswith(b"\n") or len(line) >= LINE_BYTES:
                self._seen[stream] = behind
        return False


class _Ended(_Prompt):
    async def ask(self, ending: Ending | None) -> bool:
        return ending is not None


class _Opens(_Prompt):
    def __init__(self, pid: int, port: int) -> None:
        self._pid = pid
        self._port = port

    async def ask(self, ending: Ending | None) -> bool:
        del ending
        inside = listens_inside(self._pid, self._port)
        if inside is not None:
            return inside
        return await _accepts(socket.AF_INET, "127.0.0.1", self._port) or await _accepts(
            socket.AF_INET6, "::1", self._port
        )


class _Appears(_Prompt):
    def __init__(self, pid: int, cwd: Path, path: Path) -> None:
        self._pid = pid
        self._cwd = cwd
        self._path = path

    async def ask(self, ending: Ending | None) -> bool:
        del ending
        try:
            return path_inside(self._pid, self._cwd, self._path).exists()
        except (OSError, ValueError):
            return False


class _Silent:
    def __init__(self, subject: Subject, lasting: float) -> None:
        self._files = subject.files
        self._started = subject.started
        self._lasting = lasting

    async def ask(self, ending: Ending | None) -> bool:
        del ending
        return self.patience() <= 0

    def patience(self) -> float:
        spoke = max([self._started, *(_written(path) for path in self._files.outputs)])
        return spoke + self._lasting - time.time()


def _question(subject: Subject, condition: Condition) -> _Question:
    match condition:
        case OutputMatches(pattern):
            return _Matches(subject, compile_pattern(pattern))
        case JobEnds():
            return _Ended()
        case PortOpens(port):
            return _Opens(subject.pid, port)
        case FileAppears(path):
            return _Appears(subject.pid, subject.cwd, Path(path))
        case Silence(lasting):
            return _Silent(subject, lasting.total_seconds())


def _written(path: Path) -> float:
    try:
        # A file that nobody wrote to yet has the time of its making.
        return path.stat().st_mtime
    except OSError:
        return 0.0


async def _accepts(family: socket.AddressFamily, host: str, port: int) -> bool:
    try:
        with socket.socket(family) as client:
            client.setblocking(False)
            if client.connect_ex((host, port)) == errno.EINPROGRESS:
                with anyio.move_on_after(_CONNECT_SECONDS) as scope:
                    await anyio.wait_writable(client)
                if scope.cancelled_caught:
                    return False
            # Two ends with one name: TCP let the client find itself, and nobody else.
            refused = client.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR)
            return not refused and client.getsockname() != client.getpeername()
    except OSError:
        return False
