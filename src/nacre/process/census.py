"""How many processes and threads a call has, where the kernel does not count them.

Part of the warden. RLIMIT_NPROC does not hold root. To count means to read a file of every
process, so a call is counted only when it could have too many: what it had when it was counted
last, and all that was started on this machine since, is more than it may have. How many were
started is one line. The number of all tasks would not do: while others end, it hides a crowd.
One look at all processes counts for all calls, of which there may be thousands.
"""

from __future__ import annotations

import os
import time
from contextlib import suppress

from nacre.process.marks import carriers

TYPE_CHECKING = False  # importing typing would cost a tenth of the start
if TYPE_CHECKING:
    from nacre.process.held import Held

__all__ = ("Census",)

_SECONDS = 0.1
_AHEAD = -15  # of this thread alone, as Linux has it


class Census:
    """Watches the calls that have a limit."""

    def __init__(self) -> None:
        self._watched: dict[int, _Watched] = {}
        self._due = 0.0
        self._last = 0
        self._started = 0

    def watch(self, call: Held) -> None:
        """Count the processes of a call from now on, if there may be too many."""
        if call.most_tasks is not None:
            self._look()
            self._watched[call.mark] = _Watched(call, call.most_tasks, 1, self._started)

    def forget(self, call: Held) -> None:
        """Count no longer."""
        self._watched.pop(call.mark, None)

    def patience(self) -> float | None:
        """When to look next; None if there is nothing to look at."""
        return self._due if self._watched else None

    def crowded(self) -> list[Held]:
        """The calls that have more processes than they may, and were told so."""
        if not self._watched or time.monotonic() < self._due:
            return []
        self._look()
        crowd = self._counted() if any(map(self._may_have, self._watched.values())) else []
        self._due = time.monotonic() + _SECONDS
        for call in crowd:
            call.tell(crowded=True)
        _hurry(crowded=bool(crowd))
        return crowd

    def _look(self) -> None:
        """Add up what was started on this machine: the numbers that were given to tasks."""
        last = _last_number()
        step = last - self._last
        # They begin anew after the highest.
        self._started += step if step >= 0 else step + _highest_number()
        self._last = last

    def _may_have(self, each: _Watched) -> bool:
        """Whether a call could have too many by now."""
        return each.had + self._started - each.started > each.most

    def _counted(self) -> list[Held]:
        """Count the processes of all calls; return those that have too many."""
        had = dict.fromkeys(self._watched, 0)
        for pid, mark in carriers(had):
            had[mark] += _tasks(pid)
        for mark, each in self._watched.items():
            each.had, each.started = had[mark], self._started
        return [each.call for each in self._watched.values() if each.had > each.most]


class _Watched:
    """A call, how many tasks it may have, and how many it had when so many had been started."""

    def __init__(self, call: Held, most: int, had: int, started: int) -> None:
        self.call = call
        self.most = most
        self.had = had
        self.started = started


def _hurry(*, crowded: bool) -> None:
    """Get ahead of thousands that want the processor as well, for as long as it takes."""
    if crowded or os.getpriority(os.PRIO_PROCESS, 0) == _AHEAD:
        with suppress(PermissionError):  # a privilege even root may lack
            os.setpriority(os.PRIO_PROCESS, 0, _AHEAD if crowded else 0)


def _tasks(pid: int) -> int:
    try:
        # A folder has two links, and one more from each folder in it.
        return os.stat(f"/proc/{pid}/task").st_nlink - 2
    except OSError:
        return 0  # gone meanwhile


def _last_number() -> int:
    """The number that a task was given last, threads included."""
    try:
        with open("/proc/loadavg", "rb", buffering=0) as file:
            return int(file.read().split()[4])
    except (OSError, IndexError, ValueError):
        return 0


def _highest_number() -> int:
    try:
        with open("/proc/sys/kernel/pid_max", "rb", buffering=0) as file:
            return int(file.read())
    except (OSError, ValueError):
        return 1 << 22  # the highest there can be: then they are counted once too often
