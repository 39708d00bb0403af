"""An event loop for callers that have none: one for each thread, as long as the thread lives.

To make a loop and to end it takes longer than a short script does.
"""

import asyncio  # noqa: TID251 (it is ours alone: no host sees it)
import atexit
import os
import threading
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

from nacre.errors import ConfigError
from nacre.process.waits import loop_runs

__all__ = ("run_here",)

_T = TypeVar("_T")


class _OwnLoop:
    """A loop that is closed with its thread."""

    def __init__(self) -> None:
        self._pid = os.getpid()
        self._runner = asyncio.Runner()
        if threading.current_thread() is threading.main_thread():
            atexit.register(self.close)  # its variables outlive what a loop needs to end

    @property
    def usable(self) -> bool:
        """Whether it is this process's own."""
        return self._pid == os.getpid()

    def run(self, coroutine: Coroutine[Any, Any, _T]) -> _T:
        """Wait for what comes of a coroutine."""
        return self._runner.run(coroutine)

    def close(self) -> None:
        """End it; what a forked child has of it is its parent's, which still waits by it."""
        if self.usable:
            self._runner.close()

    def __del__(self) -> None:
        self.close()


class _Threads(threading.local):
    loop: _OwnLoop | None = None


_THREADS = _Threads()
# Theirs must not even be forgotten: a loop that is removed closes what it shares with its parent.
_PARENTS: list[_OwnLoop] = []


def run_here(call: Callable[[], Coroutine[Any, Any, _T]]) -> _T:
    """Wait, on this thread, for what comes of a call.

    Raises:
        ConfigError: If an event loop runs on this thread.
    """
    if loop_runs():
        raise ConfigError("call_sync was called inside an event loop; await call(...) there")
    loop = _THREADS.loop
    if loop is not None and not loop.usable:
        _PARENTS.append(loop)
        loop = None
    if loop is None:
        loop = _THREADS.loop = _OwnLoop()
    return loop.run(call())
