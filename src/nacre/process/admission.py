"""Calls wait their turn where this process may have no more descriptors for them.

A call has three of its own while it runs, for some moments more, and a spill file perhaps. A host
with a soft limit of 1,024, which is usual, could have some 300 calls at once, and would then fail
in whatever it opens next. So a call begins only while enough are left, and waits for others to
end before that. A host that has used them up itself is not waited for: it is told so.
"""

import math
import os
import resource
import threading
from collections import deque
from contextlib import suppress
from functools import cache
from typing import TYPE_CHECKING

from nacre.errors import WardenError
from nacre.process.cancel import CancelToken
from nacre.process.waits import is_alone, pause

if TYPE_CHECKING:
    from anyio import Event
    from anyio.lowlevel import RunVar

__all__ = ("Admission", "shared_admission")

# What is left free beside the calls: an eighth of the limit, but at least this many.
_LEAST_LEFT = 32
_SHARE_LEFT = 8
# With fewer, what a script did to protected paths may not be put back.
_LEAST = 16
# Calls of another event loop, or whatever the host closes itself, wake nobody here.
_LOOK_SECONDS = 0.1


class Admission:
    """Lets calls in while there are descriptors for them, whatever loop or thread they are of."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._inside = 0
        self._waiting = 0

    async def enter(self, cancel: CancelToken | None) -> bool:
        """Wait until a call may begin; False if it was cancelled before. `leave` must follow.

        In each event loop, who comes first is let in first.

        Raises:
            WardenError: If too few are left, and no call has any of them.
        """
        if not self._waiting and self._is_let_in():
            return True
        if is_alone():
            return await self._enter_alone(cancel)
        import anyio

        queue = _queue_of_loop()
        turn = _Turn()
        queue.append(turn)
        self._count(1)
        try:
            while not (queue[0] is turn and self._is_let_in()):
                if cancel is not None and cancel.cancelled:
                    return False
                looks = cancel is not None or queue[0] is turn
                with anyio.move_on_after(_LOOK_SECONDS if looks else None):
                    await turn.wait()
        finally:
            self._count(-1)
            queue.remove(turn)
            _wake_first(queue)
        return True

    async def _enter_alone(self, cancel: CancelToken | None) -> bool:
        while not self._is_let_in():
            if cancel is not None and cancel.cancelled:
                return False
            await pause(_LOOK_SECONDS)
        return True

    def _count(self, more: int) -> None:
        with self._lock:
            self._waiting += more

    def leave(self) -> None:
        """A call that was let in has closed what it had open."""
        with self._lock:
            self._inside -= 1
        if self._waiting and not is_alone():
            with suppress(RuntimeError):  # a task that is thrown away has no loop any more
                _wake_first(_queue_of_loop())

    def _is_let_in(self) -> bool:
        """Count one more, if there is room for it."""
        with self._lock:
            soft = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
            # Each of those inside may come to need one more, for its spill.
            margin = (
                max(_LEAST_LEFT, soft // _SHARE_LEFT) + self._inside if self._inside else _LEAST
            )
            if _lowest_free() + margin >= soft:
                if self._inside:
                    return False
                raise WardenError(
                    f"this process has nearly as many files open as it may have ({soft});"
                    " close some, or raise the limit (ulimit -n)"
                )
            self._inside += 1
            return True


def _lowest_free() -> float:
    """The lowest number of a descriptor that is free, which is the next one to be given out."""
    try:
        lowest = os.eventfd(0, os.EFD_CLOEXEC)
    except OSError:
        return math.inf
    os.close(lowest)
    return lowest


class _Turn:
    """The place of one call in its loop's queue."""

    def __init__(self) -> None:
        self._come = _event()

    def wake(self) -> None:
        self._come.set()

    async def wait(self) -> None:
        await self._come.wait()
        self._come = _event()


def _event() -> "Event":
    import anyio

    return anyio.Event()


@cache
def _queue() -> "RunVar[deque[_Turn]]":
    from anyio.lowlevel import RunVar

    return RunVar("nacre_admission")


def _queue_of_loop() -> deque[_Turn]:
    queue = _queue().get(None)
    if queue is None:
        queue = deque[_Turn]()
        _queue().set(queue)
    return queue


def _wake_first(queue: deque[_Turn]) -> None:
    if queue:
        queue[0].wake()


@cache
def _admission_of(pid: int) -> Admission:
    del pid  # the calls of its parent are not a forked child's
    return Admission()


def shared_admission() -> Admission:
    """The one of this process: its tools share its descriptors."""
    return _admission_of(os.getpid())
