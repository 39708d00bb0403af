"""Resource limits of what is spawned, and of nothing else.

Part of the warden. A limit belongs to a whole process, so the warden has, while it spawns,
the soft limits that a script is to inherit; it keeps them until a script is to have others.
The hard limits of the child, up to which it could raise its own, are lowered as soon as it
exists; that of core files is inherited, too.
"""

from __future__ import annotations

import os
import resource
from contextlib import suppress

from nacre.process.children import children, descendants
from nacre.process.marks import carries, marked

__all__ = ("Limits",)

# The spawning itself needs some memory.
_OWN_MEMORY = 256 << 20
# Between the signal that says which limit it was and the one that ends it.
_WARNING = {resource.RLIMIT_CPU: 2}
# A moment with the right to a core file is enough to leave one. Of the other limits, later
# scripts may be given more, and an ordinary user gets back no right that was given up.
_GIVEN_UP = frozenset({resource.RLIMIT_CORE})
_Both = tuple[int, int]


class Limits:
    """The limits of this process, as it was started and as it lends them to scripts."""

    def __init__(self) -> None:
        self._own: dict[int, _Both] = {}
        self._lent: list[list[int]] = []

    def lend(self, limits: list[list[int]]) -> None:
        """Have the limits that a script is to inherit: the soft ones, and what is given up."""
        if limits == self._lent:
            return
        for number, both in self._own.items():
            resource.setrlimit(number, both)
        self._lent = limits
        for number, most in limits:
            hard = self._own.setdefault(number, resource.getrlimit(number))[1]
            least = _least(most, hard)
            if number in _GIVEN_UP:
                hard = least
                self._own[number] = (least, least)
            if _is_harmless(number, most):
                resource.setrlimit(number, (least, hard))

    def fix(self, pid: int, mark: int) -> None:
        """Lower the hard limits of a child as well, never raising one.

        It runs already, and may have forked: then those are looked for until there are no others.
        """
        if not self._lent:
            return
        self._fix(pid)
        if not _has_children(pid):
            return
        fixed = {os.getpid()}  # it carries the mark while it spawns
        while found := _kin(pid, mark) - fixed:
            for each in found:
                self._fix(each)
            fixed |= found

    def _fix(self, pid: int) -> None:
        for number, most in self._lent:
            least = _least(most, self._own[number][1])
            # Gone already; or a filter around us forbids it, and the soft limit has to do.
            with suppress(ProcessLookupError, PermissionError):
                resource.prlimit(pid, number, (least, least + _WARNING.get(number, 0)))


def _kin(pid: int, mark: int) -> set[int]:
    """What a child has started by now; what it left behind is a child of this process."""
    orphans = [each for each in children() if carries(each, mark)]
    try:
        return descendants([pid, *orphans])
    except FileNotFoundError:
        return set(marked([mark]))


def _has_children(pid: int) -> bool:
    """Whether a process has forked, or is gone and may have."""
    try:
        with open(f"/proc/{pid}/task/{pid}/children", "rb", buffering=0) as file:
            return bool(file.read())
    except OSError:
        return True


def _is_harmless(number: int, most: int) -> bool:
    """Whether the warden can live with a limit: processor time it has used already counts."""
    if number == resource.RLIMIT_DATA:
        return most >= _OWN_MEMORY
    # Descriptors have a limit of their own here.
    return number not in {resource.RLIMIT_CPU, resource.RLIMIT_NOFILE}


def _least(most: int, hard: int) -> int:
    return most if hard == resource.RLIM_INFINITY else min(most, hard)
