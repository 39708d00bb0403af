"""A live process group, held by its lifeline to the warden."""

import array
import binascii
import fcntl
import json
import os
import select
import socket
import termios
from collections.abc import Generator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import asdict
from functools import lru_cache
from typing import Any

from nacre.errors import StateError, WardenError
from nacre.model.call import Streams
from nacre.model.launch import Container, Launch, Restriction
from nacre.model.value import dataclass
from nacre.process.link import Link
from nacre.process.marks import pid_outside
from nacre.process.waits import pause

__all__ = (
    "Begun",
    "Crowded",
    "Event",
    "Gone",
    "Kept",
    "Process",
    "SeenLast",
    "ShellExited",
    "SpawnFailed",
    "Started",
    "Starved",
    "Waits",
    "send_ahead",
    "spawn",
)

_BUSY_SECONDS = 0.002
_KEEP_SECONDS = 10.0
_MESSAGE_BYTES = 4096
# What a warden reads of one message.
_MOST_MESSAGE = 1 << 15


@dataclass(frozen=True, slots=True)
class Started:
    """Bash runs, under this pid; all it starts carries this mark."""

    pid: int
    mark: int


@dataclass(frozen=True, slots=True)
class Waits:
    """It has to wait for what is to hold it."""


@dataclass(frozen=True, slots=True)
class Begun:
    """What is to hold it is there now; said only of what had to wait."""


@dataclass(frozen=True, slots=True)
class SpawnFailed:
    """Bash did not start; `unheld` says that there was nothing to hold it."""

    errno: int
    reason: str
    unheld: bool = False


@dataclass(frozen=True, slots=True)
class SeenLast:
    """Nobody knows how it ends: what held it is gone."""

    reason: str


@dataclass(frozen=True, slots=True)
class ShellExited:
    """Bash was reaped, with this wait status."""

    status: int


@dataclass(frozen=True, slots=True)
class Kept:
    """Whether the warden took the call as a job."""

    kept: bool


@dataclass(frozen=True, slots=True)
class Crowded:
    """It had more processes than it may have, and was ended for that."""


@dataclass(frozen=True, slots=True)
class Starved:
    """The kernel killed something beside it for want of memory."""


@dataclass(frozen=True, slots=True)
class Gone:
    """No process of the call is left."""


Event = (
    Waits | Begun | Started | SpawnFailed | ShellExited | SeenLast | Kept | Crowded | Starved | Gone
)


class Process:
    """A launch that was handed to the warden.

    `pipes` are the read ends, non-blocking: one for merged output, two for
    separate. However the holder ends, closing the lifeline kills whatever the
    launch started; `keep` is the one way to prevent that.
    """

    def __init__(
        self, lifeline: socket.socket, pipes: tuple[int, ...], *, in_room: bool = False
    ) -> None:
        self._lifeline = lifeline
        self._in_room = in_room
        self.pipes: tuple[int, ...] = pipes

    def fileno(self) -> int:
        """The descriptor that is readable when there are events."""
        return self._lifeline.fileno()

    def events(self) -> list[Event]:
        """What the warden said since the last time, without waiting.

        Raises:
            WardenError: If the warden died, and with it the knowledge of this call.
        """
        found: list[Event] = []
        while True:
            try:
                data = self._lifeline.recv(_MESSAGE_BYTES)
            except BlockingIOError:
                return found
            except ConnectionError:
                data = b""
            if not data:
                if found:
                    return found
                raise WardenError("the warden that held this script died")
            found += map(self._outside, _events(json.loads(data)))

    def _outside(self, event: Event) -> Event:
        """A room counts its own pids; the job's record is for all of the machine."""
        if self._in_room and isinstance(event, Started):
            return Started(pid_outside(event.pid, event.mark), event.mark)
        return event

    def begin(self, script: str) -> bool:
        """Give a launch that was sent ahead its script; False if nobody is there to take it."""
        data = json.dumps({"script": script}).encode()
        if len(data) > _MOST_MESSAGE or any(map(_holds_data, self.pipes)):
            return False  # whose words would that be?
        try:
            self._lifeline.send(data)
        except OSError:
            return False
        return True

    def ask_who(self) -> None:
        """Have the warden say which process this is: a `Started` event follows."""
        self._tell({"who": True})

    def end(self, grace: float) -> None:
        """Ask every process of the call to end, and insist after the grace."""
        self._tell({"end": grace})

    def _tell(self, message: dict[str, float]) -> None:
        with suppress(OSError):  # a warden that died is noticed by `events`
            self._lifeline.send(json.dumps(message).encode())

    def keep(self, request: dict[str, Any], fds: list[int]) -> None:
        """Hand the call over to the warden as a job, with its pipes; blocks a moment.

        Raises:
            StateError: If the warden has no room for it.
            WardenError: If the warden died.
        """
        data = json.dumps({"keep": {**request, "fds": len(fds)}}).encode()
        poll = select.poll()
        poll.register(self._lifeline.fileno(), select.POLLIN)
        try:
            socket.send_fds(self._lifeline, [data], fds)
        except OSError as error:
            raise WardenError("the warden that held this script died") from error
        while poll.poll(_KEEP_SECONDS * 1000):
            answers = [event for event in self.events() if isinstance(event, Kept)]
            if Kept(kept=True) in answers:
                return
            if answers:
                raise StateError("the warden has no descriptors left for another job")
        raise WardenError("the warden that held this script does not answer")

    def close(self) -> None:
        """Let go: what is not kept is killed. Safe to call again."""
        with suppress(OSError):
            # Also for copies in processes that the host forked meanwhile.
            self._lifeline.shutdown(socket.SHUT_RDWR)
        self.leave()

    def leave(self) -> None:
        """Close what this process has of it, and nothing else: somebody else may hold it, too."""
        self._lifeline.close()
        for pipe in self.pipes:
            os.close(pipe)
        self.pipes = ()


async def spawn(link: Link, launch: Launch, streams: Streams) -> Process:
    """Hand a launch to the warden; whether it started is the first event.

    Raises:
        WardenError: If there is no warden, or no descriptors are left for pipes.
    """
    with _prepared(launch, streams) as (process, fds):
        await _send(link, {**_request(launch), "fds": len(fds)}, fds, launch.hold.restriction)
    return process


def send_ahead(link: Link, launch: Launch, streams: Streams, ttl: float) -> Process:
    """Hand a launch to the warden without its script, which `Process.begin` gives it.

    Raises:
        BlockingIOError: If the warden is busy.
        WardenError: If there is no warden, or no descriptors are left for pipes.
    """
    restriction = launch.hold.restriction
    with _prepared(launch, streams) as (process, fds):
        request = {**_request(launch), "argv": None, "ttl": ttl, "fds": len(fds)}
        link.send(request, fds, _declaration(restriction) if restriction else None)
    return process


@contextmanager
def _prepared(launch: Launch, streams: Streams) -> Generator[tuple[Process, list[int]]]:
    """A lifeline and pipes, with the far ends that a warden is to have."""
    try:
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    except OSError as error:
        raise WardenError(f"no socket can be made: {error.strerror}") from error
    ours.setblocking(False)
    process = Process(ours, (), in_room=launch.hold.room is not None)
    passed: list[int] = []
    try:
        _open_pipes(process, passed, streams)
        if launch.stdin is not None:
            passed.append(_memory_file(launch.stdin))
        yield process, [theirs.fileno(), *passed]
    except BlockingIOError:
        process.close()
        raise
    except OSError as error:
        process.close()
        raise WardenError(f"no pipe can be made: {error.strerror}") from error
    except BaseException:
        process.close()
        raise
    finally:
        theirs.close()
        for fd in passed:
            os.close(fd)


async def _send(
    link: Link, request: dict[str, Any], fds: list[int], restriction: Restriction | None
) -> None:
    declared = _declaration(restriction) if restriction else None
    while True:
        try:
            link.send(request, fds, declared)
        except BlockingIOError:
            await pause(_BUSY_SECONDS)
        else:
            return


def _open_pipes(process: Process, passed: list[int], streams: Streams) -> None:
    for _ in range(1 if streams is Streams.MERGED else 2):
        read, write = os.pipe2(os.O_CLOEXEC)
        process.pipes += (read,)
        passed.append(write)
        os.set_blocking(read, False)


def _request(launch: Launch) -> dict[str, Any]:
    return {
        "executable": launch.executable,
        "argv": launch.argv,
        "cwd": str(launch.cwd),
        "environ": dict(launch.environ),
        "stdin": launch.stdin is not None,
        "held_by": launch.hold.restriction.key if launch.hold.restriction else None,
        "limits": launch.hold.limits,
        "most_tasks": launch.hold.most_tasks,
        "jobs": launch.jobs,
        **_contained(launch),
    }


@lru_cache(maxsize=16)
def _declaration(restriction: Restriction) -> tuple[str, bytes]:
    """The message that has a warden ready itself for a restriction."""
    told = {
        "fs": restriction.fs,
        "net": restriction.net,
        "scope": restriction.scope,
        "rules": restriction.rules,
        "program": binascii.b2a_base64(restriction.program, newline=False).decode(),
        "asking": binascii.b2a_base64(restriction.asking, newline=False).decode(),
    }
    message = {"key": restriction.key, "restriction": told}
    return restriction.key, json.dumps(message).encode()


def _holds_data(pipe: int) -> bool:
    there = array.array("i", [0])
    fcntl.ioctl(pipe, termios.FIONREAD, there)
    return there[0] > 0


def _memory_file(content: bytes) -> int:
    file = os.memfd_create("nacre-stdin", os.MFD_CLOEXEC)
    try:
        with open(file, "wb", closefd=False) as whole:
            whole.write(content)
        os.lseek(file, 0, os.SEEK_SET)
    except BaseException:
        os.close(file)
        raise
    return file


def _contained(launch: Launch) -> dict[str, Any]:
    """What only a porter is told."""
    container = launch.hold.container
    if container is None:
        return {}
    return {
        "container": container.name,
        "described": _described(container),
        "lingers": launch.lingers,
    }


@lru_cache(maxsize=64)
def _described(container: Container) -> str:
    """A container as a text, which most requests have no use for: it is there already."""
    return json.dumps(asdict(container))


def _events(message: dict[str, Any]) -> tuple[Event, ...]:
    found: tuple[Event, ...]
    match message:
        case {"exited": int(status), "gone": True}:
            found = (ShellExited(status), Gone())
        case {"started": int(pid), "mark": int(mark)}:
            found = (Started(pid, mark),)
        case {"unstarted": int(errno), "why": str(reason)}:
            found = (SpawnFailed(errno, reason, message.get("unheld") is True),)
        case {"lost": str(reason)}:
            found = (SeenLast(reason),)
        case {"exited": int(status)}:
            found = (ShellExited(status),)
        case {"kept": bool(kept)}:
            found = (Kept(kept),)
        case _:
            found = tuple(_SIGNS[name] for name in message if name in _SIGNS)
    if not found:
        raise WardenError(f"the warden said {message!r:.60}")
    return found


_SIGNS: Mapping[str, Event] = {
    "waits": Waits(),
    "begun": Begun(),
    "crowded": Crowded(),
    "starved": Starved(),
    "gone": Gone(),
}
