"""What a host has to know again of some calls, until that was long ago."""

import threading
from typing import Generic, TypeVar

__all__ = ("Memory",)

_K = TypeVar("_K")
_V = TypeVar("_V")


class Memory(Generic[_K, _V]):
    """Keeps the newest of what it is told, and so never grows. Safe to use from any thread."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._lock = threading.Lock()
        self._known: dict[_K, _V] = {}

    def get(self, key: _K) -> _V | None:
        """What is known; None if that is nothing, or forgotten."""
        with self._lock:
            return self._known.get(key)

    def put(self, key: _K, value: _V) -> None:
        """Know a value, as the newest."""
        with self._lock:
            self._known.pop(key, None)
            self._known[key] = value
            self._forget_oldest()

    def claim(self, key: _K, value: _V) -> _V:
        """Know a value if there is none yet; return the one that is known."""
        with self._lock:
            known = self._known.setdefault(key, value)
            self._forget_oldest()
            return known

    def pop(self, key: _K) -> _V | None:
        """What is known, for the last time."""
        with self._lock:
            return self._known.pop(key, None)

    def _forget_oldest(self) -> None:
        while len(self._known) > self._most:
            del self._known[next(iter(self._known))]
