"""A container as its engine has it: made, entered and removed."""

from __future__ import annotations

import threading
from contextlib import suppress
from typing import TYPE_CHECKING

from nacre.container.address import is_local
from nacre.container.engine import Engine
from nacre.errors import SandboxError
from nacre.process.porter.channel import Channel

if TYPE_CHECKING:
    from nacre.model.launch import Container

__all__ = ("LeftError", "Premises")

# An engine that is asked for many containers at once answers nobody in time.
_AT_A_TIME = threading.BoundedSemaphore(4)


class LeftError(SandboxError):
    """The container was let go of while somebody was about to enter it."""


class Premises:
    """One container, from any thread; every method may block for a while.

    `first` is the pid of its first process, if that is on this machine.
    """

    def __init__(self, container: Container, owner: str) -> None:
        self.first = 0
        self._container = container
        self._owner = owner
        self._making = threading.Lock()
        self._engine: Engine | None = None
        self._entered: str = ""
        self._left = False

    @property
    def stands(self) -> bool:
        """Whether it was entered, and not removed since."""
        return bool(self._entered)

    def enter(self, *, make: bool) -> Channel:
        """Start a resident in it; have it made first, if it is not there.

        Raises:
            SandboxError: If that cannot be done, or it is not there and is not to be made.
        """
        with self._making, _AT_A_TIME:
            if self._left:
                raise LeftError("the container is not used any more")
            self._engine = engine = self._engine or Engine(self._container.engine)
            found = (
                engine.ensure(self._container, self._owner)
                if make
                else engine.running(self._container.name)
            )
            if found != self._entered and is_local(self._container.engine):
                self.first = engine.first_process(found)
            self._entered = found
        channel = Channel(*engine.resident(found, self._container.idle))
        channel.greet()
        return channel

    def remove(self) -> None:
        """End it; if it is somebody else's or cannot be ended, it stays."""
        with self._making:
            self._remove()

    def rest(self) -> None:
        """Let go of it, and end it unless it is kept: others may have something run there."""
        with self._making:
            self._rest()

    def leave(self) -> None:
        """Let go of it for good: who is about to enter it would make it once more."""
        with self._making:
            self._left = True
            self._rest()

    def _rest(self) -> None:
        if self._entered and not self._container.kept:
            self._remove()
        self._forget()

    def _remove(self) -> None:
        if self._engine is not None and self._container.image is not None:
            with suppress(SandboxError):  # then it ends by itself, having no resident
                self._engine.remove(self._container.name)
        self._forget()

    def _forget(self) -> None:
        self._entered = ""
        if self._engine is not None:
            self._engine.close()
            self._engine = None
