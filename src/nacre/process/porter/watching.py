"""Descriptors that are waited for, each with what is to be done when it is ready."""

from __future__ import annotations

import select
from contextlib import suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ("Watching",)


class Watching:
    """An epoll whose members know what to do."""

    def __init__(self) -> None:
        self._epoll = select.epoll()
        self._serving: dict[int, Callable[[], None]] = {}

    def watch(self, fd: int, serve: Callable[[], None], events: int = select.EPOLLIN) -> None:
        """Wait for a descriptor, from now on for these events."""
        if fd in self._serving:
            self._epoll.modify(fd, events)
        else:
            self._epoll.register(fd, events)
        self._serving[fd] = serve

    def unwatch(self, fd: int) -> None:
        """Do not wait for it any more; safe to call again."""
        if self._serving.pop(fd, None):
            with suppress(OSError):
                self._epoll.unregister(fd)

    def serve(self, seconds: float) -> None:
        """Wait until something is ready, or for so long, and do what is to be done."""
        for fd, _ in self._epoll.poll(seconds):
            # An earlier one of the same turn may have let go of it.
            if serve := self._serving.get(fd):
                with suppress(OSError):
                    serve()
