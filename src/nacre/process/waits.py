"""Waiting, in an event loop or without one.

Who runs one script, and does nothing else meanwhile, needs no event loop; to import one took a
sixth of `nacre run -- true`. So what waits on the way of a call waits through here: in whichever
loop runs on this thread, or, beneath `run_alone`, by blocking it.
"""

import math
import select
import signal
import sys
import threading
import time
from collections.abc import Callable, Coroutine, Generator
from contextlib import contextmanager
from typing import Any, NamedTuple, Self, TypeVar, TypeVarTuple, Unpack

__all__ = ("aside", "is_alone", "loop_runs", "now", "pause", "readable", "run_alone", "wholly")

_T = TypeVar("_T")
_Ts = TypeVarTuple("_Ts")
# poll(2) counts milliseconds in an int.
_LONGEST_SECONDS = 1_000_000.0


class _Thread(threading.local):
    alone = False


_HERE = _Thread()


class _Until(NamedTuple):
    """What a coroutine without an event loop waits for: a descriptor, if there is one, or a time."""

    fd: int | None
    deadline: float

    def __await__(self) -> Generator["_Until", bool, bool]:
        return (yield self)

    def block(self) -> bool:
        """Whether it was the descriptor that came."""
        poll = select.poll()
        if self.fd is not None:
            poll.register(self.fd, select.POLLIN)
        while True:
            left = min(self.deadline - time.monotonic(), _LONGEST_SECONDS)
            if poll.poll(math.ceil(max(left, 0.0) * 1000)):
                return True
            if time.monotonic() >= self.deadline:
                return False


def run_alone(call: Callable[[], Coroutine[Any, Any, _T]]) -> _T:
    """What comes of a call that waits through this module only; the thread is blocked until then.

    What interrupts the waiting is raised where the call waits. So is a Ctrl-C that comes between,
    as in an event loop: what is being put back, say, is put back first. A second one is not waited with.
    """
    coroutine, outer = call(), _HERE.alone
    _HERE.alone = True
    try:
        with _Interrupts() as interrupts:
            waits: object = coroutine.send(None)
            while True:
                try:
                    with interrupts.welcome():
                        came = _blocked(waits)
                except BaseException as error:  # noqa: BLE001 (raised where the call waits)
                    waits = coroutine.throw(error)
                else:
                    waits = coroutine.send(came)
    except StopIteration as over:
        returned: _T = over.value
        return returned
    finally:
        _HERE.alone = outer
        coroutine.close()


def _blocked(waits: object) -> bool:
    if not isinstance(waits, _Until):
        raise TypeError(f"{waits!r} can be waited for in an event loop only, and there is none")
    return waits.block()


class _Interrupts:
    """Keeps a Ctrl-C until it is welcome, where Python would raise it anywhere."""

    def __init__(self) -> None:
        self._ours = (
            threading.current_thread() is threading.main_thread()
            and signal.getsignal(signal.SIGINT) is signal.default_int_handler
        )
        self._welcome = False
        self._came = False

    def __enter__(self) -> Self:
        if self._ours:
            signal.signal(signal.SIGINT, self._heed)
        return self

    def __exit__(self, *_: object) -> None:
        if self._ours:
            signal.signal(signal.SIGINT, signal.default_int_handler)

    def _heed(self, *_: object) -> None:
        if self._welcome or self._came:
            raise KeyboardInterrupt
        self._came = True

    @contextmanager
    def welcome(self) -> Generator[None]:
        """Have it raised in this block, also one that came before."""
        self._welcome = True
        try:
            if self._came:
                raise KeyboardInterrupt
            yield
        finally:
            self._welcome = self._came = False


def is_alone() -> bool:
    """Whether the code that runs here has no event loop, and must do without."""
    return _HERE.alone and not loop_runs()


def loop_runs() -> bool:
    """Whether this thread has an event loop that runs."""
    if sys.modules.keys().isdisjoint(("asyncio", "trio")):
        return False
    from anyio.lowlevel import current_token

    try:
        current_token()
    except RuntimeError:
        return False
    return True


def now() -> float:
    """The time by which deadlines are set."""
    if is_alone():
        return time.monotonic()
    import anyio

    return anyio.current_time()


async def readable(fd: int, deadline: float = math.inf) -> bool:
    """Wait until there is something to be read; False if the deadline came first."""
    if is_alone():
        return await _Until(fd, deadline)
    import anyio

    with anyio.CancelScope(deadline=deadline) as scope:
        await anyio.wait_readable(fd)
    return not scope.cancelled_caught


async def pause(seconds: float) -> None:
    """Let some time go by."""
    if is_alone():
        await _Until(None, time.monotonic() + seconds)
        return
    import anyio

    await anyio.sleep(seconds)


async def aside(work: Callable[[Unpack[_Ts]], _T], *arguments: *_Ts) -> _T:
    """Do what takes its time where it holds up no event loop."""
    if is_alone():
        return work(*arguments)
    import anyio.to_thread

    return await anyio.to_thread.run_sync(work, *arguments)


async def wholly(work: Callable[[], object]) -> None:
    """Do something beside an event loop, and to its end, whoever is cancelled meanwhile."""
    if is_alone():
        work()
        return
    import anyio.to_thread

    with anyio.CancelScope(shield=True):
        await anyio.to_thread.run_sync(work)
