"""Work that may wait for a disk, kept off the event loop."""

import threading
from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING, TypeVar, TypeVarTuple, Unpack

from nacre.process.waits import is_alone

if TYPE_CHECKING:
    import anyio
    from anyio.lowlevel import RunVar

__all__ = ("in_thread",)

_T = TypeVar("_T")
_Ts = TypeVarTuple("_Ts")


@cache
def _one_thread() -> "RunVar[anyio.CapacityLimiter]":
    """SQLite may wait for another process; one thread of a loop waits for all its tasks."""
    from anyio.lowlevel import RunVar

    return RunVar("nacre_ledger_thread")


async def in_thread(work: Callable[[Unpack[_Ts]], _T], *arguments: *_Ts) -> _T:
    """Do something on the one worker thread of this event loop, wholly or not at all.

    asyncio's own cancellation passes through anyio's shields: then the work was
    not begun, or it is over, when the cancellation goes on. So whatever the work
    opens, it must also close or hand over.
    """
    if is_alone():
        return work(*arguments)
    import anyio.to_thread

    limiter = _one_thread().get(None)
    if limiter is None:
        limiter = anyio.CapacityLimiter(1)
        _one_thread().set(limiter)
    gate = threading.Lock()
    state = {"begun": False, "given up": False}
    over = threading.Event()

    def whole() -> _T:
        with gate:
            if state["given up"]:
                raise RuntimeError("nobody waits for this any more")
            state["begun"] = True
        try:
            return work(*arguments)
        finally:
            over.set()

    try:
        return await anyio.to_thread.run_sync(whole, limiter=limiter)
    except BaseException:
        with gate:
            state["given up"] = True
        if state["begun"]:
            over.wait()
        raise
