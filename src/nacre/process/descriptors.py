"""How many descriptors the warden may have, and how many its scripts."""

import os
import resource
from collections.abc import Generator
from contextlib import contextmanager

__all__ = ("SpareDescriptors",)

_RESERVED = 4
# Calls are refused before the last ones are used up: ending needs some, too.
_MARGIN = 64


class SpareDescriptors:
    """Room for thousands of descriptors here, and the limit of old for scripts.

    While a script is spawned the soft limit is what the host had. The pipe that
    reports a failed exec must then fit below it, so a few low numbers are held.
    They also see to it that what runs can be ended when all others are in use.
    """

    def __init__(self, filler: int) -> None:
        self._soft, self._hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        self._filler = filler
        self._held: list[int] = []
        self.most = max(self._hard - _MARGIN, self._hard // 2)
        self._hold()
        self._allow(self._hard)

    @contextmanager
    def freed(self) -> Generator[None]:
        """Have a few descriptors to work with, whatever else is open."""
        self._release()
        try:
            yield
        finally:
            self._hold()

    @contextmanager
    def spawning(self) -> Generator[None]:
        """Have the limits that a script is to inherit."""
        self._release()
        self._allow(self._soft)
        try:
            yield
        finally:
            self._allow(self._hard)
            self._hold()

    def _allow(self, soft: int) -> None:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, self._hard))

    def _hold(self) -> None:
        try:
            while len(self._held) < _RESERVED:
                self._held.append(os.dup(self._filler))
        except OSError:
            pass  # held again when there is room

    def _release(self) -> None:
        while self._held:
            os.close(self._held.pop())
