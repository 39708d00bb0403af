"""How many processes and threads a call has, where the kernel does not count them.

Part of the warden. RLIMIT_NPROC does not hold root. So as long as a call of root's has a
limit, the number of all tasks is read every so often, which is one line; only when that has
grown by as much as the limit, or fallen so far that a crowd could hide behind it, are those
of the call counted.
"""

from __future__ import annotations

import os
import time
from contextlib import suppress

from nacre.process.marks import marked

TYPE_CHECKING = False  # importing typing would cost a tenth of the start
if TYPE_CHECKING:
    from nacre.process.held import Held

__all__ = ("Census",)

_SECONDS = 0.1
_AHEAD = -15  # of this thread alone, as Linux has it


class Census:
    """Watches the calls that have a limit."""

    def __init__(self) -> None:
        self._watched: dict[int, tuple[Held, int, int]] = {}
        self._due = 0.0

    def watch(self, call: Held, most: int | None) -> None:
        """Count the processes of a call from now on, if there may be too many."""
        if most is not None:
            self._watched[call.mark] = (call, most, _all_tasks())

    def forget(self, call: Held) -> None:
        """Count no longer."""
        self._watched.pop(call.mark, None)

    def patience(self) -> float | None:
        """When to look next; None if there is nothing to look at."""
        return self._due if self._watched else None

    def crowded(self) -> list[Held]:
        """The calls that have more processes than they may, and were told so."""
        now = time.monotonic()
        if not self._watched or now < self._due:
            return []
        tasks = _all_tasks()
        crowd = [call for call in self._suspects(tasks) if _own_tasks(call) > self._most(call)]
        self._due = time.monotonic() + _SECONDS
        for call in crowd:
            call.tell(crowded=True)
        _hurry(crowded=bool(crowd))
        return crowd

    def _suspects(self, tasks: int) -> list[Held]:
        """The calls that could have too many, as far as the number of all tasks tells.

        When many others have ended, that number says nothing any more: it is compared
        from then on with what it would be without the call.
        """
        found: list[Held] = []
        for mark, (call, most, before) in self._watched.items():
            without = tasks - _own_tasks(call) if before - tasks > most // 2 else before
            self._watched[mark] = (call, most, without)
            if tasks - without > most:
                found.append(call)
        return found

    def _most(self, call: Held) -> int:
        return self._watched[call.mark][1]


def _own_tasks(call: Held) -> int:
    return sum(map(_tasks, marked([call.mark])))


def _hurry(*, crowded: bool) -> None:
    """Get ahead of thousands that want the processor as well, for as long as it takes."""
    if crowded or os.getpriority(os.PRIO_PROCESS, 0) == _AHEAD:
        with suppress(PermissionError):  # a privilege even root may lack
            os.setpriority(os.PRIO_PROCESS, 0, _AHEAD if crowded else 0)


def _tasks(pid: int) -> int:
    try:
        return len(os.listdir(f"/proc/{pid}/task"))
    except OSError:
        return 0  # gone meanwhile


def _all_tasks() -> int:
    try:
        with open("/proc/loadavg", "rb", buffering=0) as file:
            return int(file.read().split()[3].split(b"/")[1])
    except (OSError, IndexError, ValueError):
        return 0
