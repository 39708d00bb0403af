"""Ending a call from somewhere else."""

import os
import threading
from weakref import finalize

__all__ = ("CancelToken",)


class CancelToken:
    """Ends the calls it was given to, from any task or thread, once and for all."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._cancelled = False
        self._event: int | None = None

    def __repr__(self) -> str:
        """Say whether it was used."""
        return f"<nacre.CancelToken: {'cancelled' if self._cancelled else 'not cancelled'}>"

    @property
    def cancelled(self) -> bool:
        """Whether `cancel` was called."""
        return self._cancelled

    def cancel(self) -> None:
        """End every call that holds this token, now and later."""
        with self._lock:
            self._cancelled = True
            if self._event is not None:
                os.eventfd_write(self._event, 1)

    def fileno(self) -> int:
        """A descriptor that is readable from the moment of cancellation."""
        with self._lock:
            if self._event is None:
                self._event = os.eventfd(int(self._cancelled), os.EFD_CLOEXEC | os.EFD_NONBLOCK)
                finalize(self, os.close, self._event)
            return self._event
