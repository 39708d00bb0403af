"""Two ways to run an attempt: by plain bash, and by nacre."""

import json
import os
import select
import shutil
import signal
import socket
import struct
import subprocess
import sys
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, cast

from attacks.attack import CONTAINER

__all__ = ("BASH", "Confined", "Plain", "Ran", "Request", "Runner")

# Never the one that an attempt may have planted.
BASH = shutil.which("bash") or "/bin/bash"
_HERE = Path(__file__).parent
_LATE_SECONDS = 6.0
# How a call ends in a container if whoever started its script, and was to tell its end, is gone.
_UNATTENDED = ("lost", "timed_out")
# The shell between is the parent an attempt may try to end; 47 is a descriptor it forgot to close.
_PARENT = 'exec 47>>"$0"; "$@"; code=$?; exit $code'
# Injected characters are read before the session's leader ends: its end empties the terminal.
_LEADER = '"$@"; IFS= read -r -t 0.2 line </dev/tty && printf %s "$line" >"$0"; exit 0'


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """One attempt: a program in a file, and where and how it is run."""

    program: str
    workspace: Path
    cwd: str
    deny_read: tuple[str, ...]
    protect: tuple[str, ...]
    stdin: str
    typed: Path
    screen: Path
    inherited: Path
    seconds: float
    fresh: bool
    terminal: bool
    command_line: bool
    parent_watched: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Ran:
    """What an attempt printed, and whether it ended what had started it."""

    output: str
    parent_lost: bool = False


class Runner(Protocol):
    """Runs attempts."""

    def run(self, request: Request) -> Ran:
        """Run one to its end."""
        ...

    def close(self) -> None:
        """Let go of what was started."""
        ...


class Plain:
    """Bash and nothing else: the positive control."""

    def __init__(self, environ: Mapping[str, str]) -> None:
        self._environ = environ
        self._reapers: list[_Reaper] = []

    def run(self, request: Request) -> Ran:
        """Run one with everything its user may do."""
        words = request.program.split()
        if request.terminal:
            return _on_terminal(words, request, self._environ)
        self._reapers = [reaper for reaper in self._reapers if not reaper.is_gone()]
        words = [BASH, "-c", _PARENT, str(request.inherited), *words]
        self._reapers.append(_Reaper(words, request, self._environ))
        return self._reapers[-1].result()

    def close(self) -> None:
        """End what outlived its attempt."""
        for reaper in self._reapers:
            reaper.close()


class _Reaper:
    """A process above an attempt, which it runs like a simple tool, and what outlives that one."""

    def __init__(self, words: list[str], request: Request, environ: Mapping[str, str]) -> None:
        self._seconds = request.seconds
        self._link, link = socket.socketpair()
        program = [sys.executable, "-I", "-S", str(_HERE / "reaper.py"), str(link.fileno())]
        with link, open(request.stdin, "rb") as stdin:
            self._process = subprocess.Popen(
                [*program, *words],
                cwd=request.cwd,
                env=environ,
                stdin=stdin,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                start_new_session=True,
                pass_fds=[link.fileno()],
            )

    def result(self) -> Ran:
        """Wait for the attempt, and end its group."""
        assert self._process.stdout is not None
        with self._process.stdout as stdout:
            pid = self._heard()
            output = _until_end(self._link.fileno(), stdout.fileno(), self._seconds)
            ended = bool(select.select([self._link], [], [], 0)[0])
            with suppress(ProcessLookupError):
                os.killpg(pid, signal.SIGKILL)
            return Ran(output=output, parent_lost=os.WIFSIGNALED(self._heard()) and ended)

    def is_gone(self) -> bool:
        """Whether nothing outlives the attempt any more."""
        if self._process.poll() is None:
            return False
        self._link.close()
        return True

    def close(self) -> None:
        """End what does."""
        self._link.close()
        self._process.wait()

    def _heard(self) -> int:
        said = self._link.recv(4)
        assert said, "the reaper is gone"
        return int(struct.unpack("i", said)[0])


class Confined:
    """A host that holds nacre, and the command line for what needs a stdin or a start."""

    def __init__(
        self, backend: str, environ: Mapping[str, str], state: Path, inherited: Path
    ) -> None:
        self._backend = backend
        self._environ = {**environ, "NACRE_STATE": str(state)}
        self._master, self._slave = os.openpty()
        for end in (self._master, self._slave):
            os.set_blocking(end, False)
        self._words = [
            sys.executable, str(_HERE / "host.py"), backend, str(state), str(inherited),
            os.ttyname(self._slave),
        ]  # fmt: skip
        self._host = self._start()

    def run(self, request: Request) -> Ran:
        """Run one under the backend."""
        if request.command_line:
            return self._by_command_line(request)
        if request.parent_watched:
            self._ask(request, "true")
        before = _servants(self._host.pid) if request.parent_watched else frozenset[int]()
        if request.terminal:
            _there(self._master, self._slave)
        answer = self._ask(request, request.program)
        if request.terminal:
            screen, typed = _there(self._master, self._slave)
            request.screen.write_bytes(screen)
            request.typed.write_bytes(typed)
        # A host that does not answer is as good as ended.
        lost = answer is None or (self._backend == CONTAINER and answer.outcome in _UNATTENDED)
        lost = lost or bool(before and not before <= _servants(self._host.pid))
        if answer is None:
            self._end()
            self._host = self._start()
        return Ran(output=answer.text if answer else "", parent_lost=lost)

    def close(self) -> None:
        """End the host."""
        self._end()
        os.close(self._slave)
        os.close(self._master)

    def _end(self) -> None:
        """End the host, and what serves it although an attempt got the better of it."""
        servants = _servants(self._host.pid)
        for stream in (self._host.stdin, self._host.stdout):
            if stream is not None:
                with suppress(OSError):
                    stream.close()
        with suppress(subprocess.TimeoutExpired):
            self._host.wait(5)
        self._host.kill()
        self._host.wait()
        for pid in servants - {self._host.pid}:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)

    def _by_command_line(self, request: Request) -> Ran:
        words = [
            str(Path(sys.executable).with_name("nacre")), "run",
            "--sandbox", self._backend,
            "--workspace", str(request.workspace),
            *(word for path in request.deny_read for word in ("--deny-read", path)),
            "--timeout", str(request.seconds),
            "--", request.program,
        ]  # fmt: skip
        return _in_group(words, request, self._environ)

    def _start(self) -> subprocess.Popen[bytes]:
        return subprocess.Popen(
            self._words,
            env=self._environ,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            start_new_session=True,
        )

    def _ask(self, request: Request, script: str) -> "_Answer | None":
        """What came of a script; None if the host is gone or does not answer."""
        asked = {
            "script": script,
            "seconds": request.seconds,
            "workspace": None if request.fresh else str(request.workspace),
            "cwd": request.cwd,
            "deny_read": request.deny_read,
            "protect": request.protect,
        }
        assert self._host.stdin is not None
        assert self._host.stdout is not None
        try:
            self._host.stdin.write(json.dumps(asked).encode() + b"\n")
            self._host.stdin.flush()
        except OSError:
            return None
        line = _line(self._host.stdout.fileno(), request.seconds + _LATE_SECONDS)
        if not line:
            return None
        answer = cast("dict[str, object]", json.loads(line))
        details = cast("dict[str, object]", answer["details"] or {})
        return _Answer(text=str(answer["text"]), outcome=str(details.get("outcome")))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Answer:
    """What the host says of a script."""

    text: str
    outcome: str


def _there(*ends: int) -> list[bytes]:
    """What waits at each end of a terminal."""
    found: list[bytes] = []
    for end in ends:
        got = b""
        with suppress(BlockingIOError):
            while piece := os.read(end, 65536):
                got += piece
        found.append(got)
    return found


def _line(descriptor: int, seconds: float) -> bytes:
    deadline = time.monotonic() + seconds
    got = b""
    while not got.endswith(b"\n"):
        left = deadline - time.monotonic()
        if left < 0 or not select.select([descriptor], [], [], left)[0]:
            return b""
        piece = os.read(descriptor, 65536)
        if not piece:
            return b""
        got += piece
    return got


def _in_group(words: list[str], request: Request, environ: Mapping[str, str]) -> Ran:
    """Run a command in a process group of its own, and end the group as simple tools do."""
    with open(request.stdin, "rb") as stdin:
        process = subprocess.Popen(
            words,
            cwd=request.cwd,
            env=environ,
            stdin=stdin,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    assert process.stdout is not None
    late = request.seconds + (_LATE_SECONDS if request.command_line else 0)
    output = _until_end_of(process, process.stdout.fileno(), late)
    lost = process.poll() is not None and process.returncode < 0
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    process.stdout.close()
    return Ran(output=output, parent_lost=lost)


def _on_terminal(words: list[str], request: Request, environ: Mapping[str, str]) -> Ran:
    """Run a command in a session with a terminal; keep what is shown and what is typed there."""
    request.typed.write_bytes(b"")
    master, slave = os.openpty()
    process = subprocess.Popen(
        [
            shutil.which("setsid") or "setsid",
            "--ctty",
            "--wait",
            BASH,
            "-c",
            _LEADER,
            str(request.typed),
            *words,
        ],
        cwd=request.cwd,
        env=environ,
        stdin=slave,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        start_new_session=True,
    )
    assert process.stdout is not None
    output = _until_end_of(process, process.stdout.fileno(), request.seconds + _LATE_SECONDS)
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    process.stdout.close()
    os.set_blocking(master, False)
    with suppress(OSError):
        request.screen.write_bytes(os.read(master, 65536))
    os.close(slave)
    os.close(master)
    return Ran(output=output)


def _until_end_of(process: subprocess.Popen[bytes], descriptor: int, seconds: float) -> str:
    ended = os.pidfd_open(process.pid)
    try:
        return _until_end(ended, descriptor, seconds)
    finally:
        os.close(ended)


def _until_end(ended: int, descriptor: int, seconds: float) -> str:
    """What a process prints until something can be read at its end, whoever holds its output."""
    deadline = time.monotonic() + seconds
    got = b""
    while (left := deadline - time.monotonic()) > 0:
        ready = select.select([descriptor, ended], [], [], left)[0]
        if descriptor in ready:
            piece = os.read(descriptor, 65536)
            got += piece
            if piece:
                continue
            select.select([ended], [], [], left)
        if ended in ready or descriptor in ready:
            break
    return got.decode(errors="replace")


def _servants(host: int) -> frozenset[int]:
    """The processes below a host that serve it: wardens and what they live in."""
    parents: dict[int, tuple[int, str]] = {}
    for entry in os.listdir("/proc"):
        if entry.isdecimal():
            with suppress(OSError):
                stat = Path(f"/proc/{entry}/stat").read_text()
                name, _, rest = stat.partition("(")[2].rpartition(")")
                if rest.split()[0] not in "ZX":
                    parents[int(entry)] = (int(rest.split()[1]), name)
    found: set[int] = {host} & set(parents)
    while more := {pid for pid, (parent, _) in parents.items() if parent in found} - found:
        found |= more
    return frozenset(
        pid
        for pid in found
        if parents[pid][1].startswith(("python", "bwrap", "nacre"))
        and (pid == host or _words(pid) not in {b"", _words(parents[pid][0])})
    )


def _words(pid: int) -> bytes:
    """How a process was started.

    What is about to execute something still has its parent's words, or none for a moment.
    """
    with suppress(OSError):
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    return b""
