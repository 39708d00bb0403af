"""The host's end of its warden: started on first need, replaced when it dies."""

import json
import os
import select
import socket
import subprocess
import sys
import threading
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import Any, Protocol
from weakref import finalize

from nacre.errors import WardenError

__all__ = ("INSIDE", "Link", "Starter", "shared_link", "start_beside")

# What fits one message beside the socket's own bookkeeping; more goes in a file.
_INLINE_BYTES = 1 << 16
# A warden with nothing to hold exits at once; one that does not is broken.
_EXIT_SECONDS = 5.0
# A warden that stays for nothing but a room does not stay long, if there is no job in the room.
_ROOM_SECONDS = 0.05
# A quarter of the numbers a warden has (see `nacre.process.marks`), with some left over: each shell
# takes two, and a launch that was sent ahead may have two shells.
_MOST_RUNS = 15_000
_SWEEP = b'{"sweep": true}'
_RETIRE = b'{"retire": true}'
_ROOT = Path(__file__).resolve().parents[2]
# -I and -S keep the start short and the host's environment out of it; the path
# goes last, so that nothing beside us can stand in for the standard library.
_CODE = f"import sys; sys.path.append({str(_ROOT)!r}); import nacre.process.warden as w; w.main"
_PYTHON = ("-I", "-S", "-c")
# Its host waits for its end. It has nothing in buffers, and Python would clear up first.
_END = "w.os._exit(0)"
_WARDEN = (*_PYTHON, f"{_CODE}(int(sys.argv[1]), int(sys.argv[2]), sys.argv[3:]); {_END}")
# The words after Python's own that make a warden of descriptors 0 and 1 of its request.
INSIDE = (*_WARDEN, "{0}", "{1}")


class Starter(Protocol):
    """Starts a warden, or has one started."""

    def __call__(self, link: int, errors: int) -> int | None:
        """Start it with its end of the link; return its pid if it is a child of this process.

        Raises:
            OSError: If it cannot be started.
            WardenError: If another warden was to start it, and cannot.
        """
        ...


class Link:
    """A socket to one warden process. Safe to use from any thread.

    Several tools share the link of their host; each says `acquire` and
    `release`, and the last release ends the warden.
    """

    def __init__(self, start: Starter | None = None, *, most_runs: float = _MOST_RUNS) -> None:
        self._start_warden = start or _spawn_warden
        self._most_runs = most_runs
        self._lock = threading.Lock()
        self._users = 0
        self._declared: set[str] = set()
        self._socket: socket.socket | None = None
        self._pid: int | None = None
        self._errors: int | None = None
        self._swept = False
        self._sent = 0
        self._older: list[tuple[finalize[..., Link], socket.socket]] = []
        # Wardens that stay for their detached jobs, to be reaped in passing.
        self._retired: list[int] = []
        self._rooms: list[list[str]] = []
        self._finalizer: finalize[..., Link] | None = None

    def __repr__(self) -> str:
        """Say which process is at the other end."""
        return f"<nacre.Link: {'not started' if self._pid is None else f'warden {self._pid}'}>"

    def acquire(self) -> None:
        """Count one more user."""
        with self._lock:
            self._users += 1

    def release(self) -> None:
        """Count one user less; without users the warden ends."""
        with self._lock:
            self._users -= 1
            if self._users <= 0:
                self._hang_up()
                while self._older:
                    self._older.pop()[0]()
                if self._errors is not None:
                    os.close(self._errors)
                    self._errors = None

    @contextmanager
    def at_hand(self) -> Generator[None]:
        """Have a warden for the length of a block, which is started now and not waited for."""
        self.acquire()
        try:
            self.start()
            yield
        finally:
            self.release()

    def send(
        self, request: dict[str, Any], fds: list[int], declared: tuple[str, bytes] | None = None
    ) -> None:
        """Send a request with its descriptors, to a new warden if the old one died.

        `declared` is a key with a message that the warden must have had before it
        can make sense of the request.

        Raises:
            BlockingIOError: If the warden is busy; try again in a moment.
            WardenError: If no warden can be started.
        """
        data = json.dumps(request).encode()
        with self._lock:
            if self._sent >= self._most_runs:
                self._retire()
            for _ in range(2):
                link = self._socket or self._start()
                try:
                    if declared and declared[0] not in self._declared:
                        _send(link, declared[1], [])
                        self._declared.add(declared[0])
                    _send(link, data, fds)
                    if "room" in request:
                        self._rooms.append(request["room"])
                except (BrokenPipeError, ConnectionResetError):
                    self._hang_up()
                else:
                    self._sent += 1
                    self._sweep_once()
                    return
        raise WardenError(f"the warden ends as soon as it is started: {self.last_words()}")

    def sweep(self) -> None:
        """Have a warden end what dead ones left, a new one if need be."""
        with self._lock, suppress(OSError, WardenError):
            link = self._socket or self._start()
            try:
                _send(link, _SWEEP, [])
            except ConnectionError:
                self._hang_up()
                _send(self._start(), _SWEEP, [])

    def start(self) -> None:
        """Have the warden started, if there is none; why there can be none is said when one is needed."""
        with self._lock, suppress(BlockingIOError, WardenError):
            if self._socket is None:
                self._start()

    def last_words(self) -> str:
        """What the latest warden wrote before it died, if it did."""
        size = os.fstat(self._errors).st_size if self._errors is not None else 0
        if self._errors is None or not size:
            return "it said nothing"
        return os.pread(self._errors, size, 0).decode(errors="replace").strip().splitlines()[-1]

    def _start(self) -> socket.socket:
        if self._users <= 0:
            raise WardenError("the tool was closed while a script was to be started")
        if not sys.executable:
            raise WardenError("the warden cannot be started: sys.executable names no Python")
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        ours.setblocking(False)
        if self._errors is None:
            self._errors = os.memfd_create("nacre-warden", os.MFD_CLOEXEC)
        try:
            self._pid = self._start_warden(theirs.fileno(), self._errors)
        except (BlockingIOError, WardenError):
            ours.close()
            raise
        except OSError as error:
            ours.close()
            raise WardenError(f"the warden cannot be started: {error.strerror}") from error
        finally:
            theirs.close()
        self._socket = ours
        self._swept = False
        self._sent = 0
        self._declared.clear()
        self._rooms = []
        self._finalizer = finalize(
            self, _end_warden, ours, self._pid, self._retired, os.getpid(), self._rooms
        )
        return ours

    def _sweep_once(self) -> None:
        """Have a new warden end what dead ones left, after its first call."""
        if self._socket and not self._swept:
            self._swept = True
            with suppress(OSError):
                _send(self._socket, _SWEEP, [])

    def retire(self) -> None:
        """Let the warden end as soon as nothing is left for it to hold."""
        with self._lock:
            self._retire()

    def _retire(self) -> None:
        """Let the warden finish what it holds, and have the next call start another.

        A warden can mark only so many calls. Its link stays open until the last
        release: closing it would end the jobs it holds.
        """
        if self._socket is not None and self._finalizer is not None:
            with suppress(OSError):
                _send(self._socket, _RETIRE, [])
            self._older.append((self._finalizer, self._socket))
            self._reap_older()
        self._socket = self._pid = self._finalizer = None

    def _reap_older(self) -> None:
        """Let go of retired wardens that have ended."""
        for finalizer, link in self._older.copy():
            if _readable(link):
                finalizer()
                self._older.remove((finalizer, link))

    def _hang_up(self) -> None:
        if self._finalizer is not None:
            self._finalizer()
        self._socket = self._pid = self._finalizer = None


@cache
def _link_of(pid: int) -> Link:
    del pid  # a forked child must not share its parent's socket
    return Link()


def shared_link() -> Link:
    """The one link of this process."""
    return _link_of(os.getpid())


def _send(link: socket.socket, data: bytes, fds: list[int]) -> None:
    if len(data) <= _INLINE_BYTES:
        socket.send_fds(link, [data], fds)
        return
    file = os.memfd_create("nacre-request", os.MFD_CLOEXEC)
    try:
        with open(file, "wb", closefd=False) as whole:
            whole.write(data)
        socket.send_fds(link, [b"@"], [file, *fds])
    finally:
        os.close(file)


def _spawn_warden(link: int, errors: int) -> int:
    """Start a warden; what it may have of the variables is where it can make a file."""
    return start_beside(_WARDEN, _tmpdir(), link, errors)


def start_beside(
    words: Sequence[str],
    environ: Mapping[str, str],
    link: int,
    errors: int,
    more: Sequence[str] = (),
) -> int:
    """Start a Python that serves this process, in a session of its own, holding nothing of ours.

    After its words it is told the descriptors of its link and of our pidfd, and then `more`.
    Not by posix_spawn(3): glibc has it ignore two signals that scripts would inherit.

    Raises:
        OSError: If it cannot be started.
    """
    host = os.pidfd_open(os.getpid())
    try:
        child = subprocess.Popen(
            [sys.executable, *words, str(link), str(host), *more],
            env={"LC_ALL": "C.UTF-8", **environ},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=errors,
            pass_fds=(link, host),
            start_new_session=True,
        )
    finally:
        os.close(host)
    child.returncode = 0  # reaped in _end_warden, which does not block for ever
    return child.pid


def _tmpdir() -> dict[str, str]:
    """Where a warden inside a sandbox may make a file."""
    return {name: os.environ[name] for name in ("TMPDIR",) if name in os.environ}


def _end_warden(
    link: socket.socket, pid: int | None, retired: list[int], host: int, rooms: list[list[str]]
) -> None:
    """Close the link, wait until what the host owns is gone, and reap a warden of ours."""
    if os.getpid() != host:
        link.close()  # a forked child's copy: the warden is its parent's
        return
    with suppress(OSError):
        link.shutdown(socket.SHUT_WR)
    stays = _readable(link, _EXIT_SECONDS) and _said_stay(link)
    link.close()
    if pid is not None:
        retired.append(pid)
    for child in retired.copy():
        with suppress(ChildProcessError):
            if child == pid and (rooms or not stays):
                _wait_exit(child, _ROOM_SECONDS if stays else _EXIT_SECONDS)
            if os.waitpid(child, os.WNOHANG) == (0, 0):
                continue
        retired.remove(child)


def _readable(link: socket.socket, seconds: float = 0.0) -> bool:
    poll = select.poll()
    poll.register(link.fileno(), select.POLLIN)
    return bool(poll.poll(seconds * 1000))


def _said_stay(link: socket.socket) -> bool:
    try:
        return bool(link.recv(16))
    except OSError:
        return False


def _wait_exit(pid: int, seconds: float) -> None:
    with suppress(OSError):
        pidfd = os.pidfd_open(pid)
        poll = select.poll()
        poll.register(pidfd, select.POLLIN)
        poll.poll(seconds * 1000)
        os.close(pidfd)
