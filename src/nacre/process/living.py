"""The calls that live, and how they are ended with all that they started.

Part of the warden. As a subreaper the warden is the parent of every orphan below it, so a call
has left something behind exactly if the warden has a child that is no shell and carries the
call's mark (`nacre.process.marks`). /proc is searched only when something is there to be ended.
"""

from __future__ import annotations

import os
import time
from contextlib import suppress

from nacre.process.census import Census
from nacre.process.children import children, is_childless, kill_child, kill_shell
from nacre.process.held import RETRY_SECONDS
from nacre.process.marks import Marks, kill_marked, mark_of

TYPE_CHECKING = False  # importing typing would cost a tenth of the start
if TYPE_CHECKING:
    from collections.abc import Callable

    from nacre.process.descriptors import SpareDescriptors
    from nacre.process.held import Held

__all__ = ("Living",)

_KILL_SECONDS = 1.0  # then it is given up: an ordinary user may not kill a setuid program


class Living:
    """Calls by their marks, and by their shells while these are not reaped.

    `is_spare` says of a child that it is a shell which waits; `over` is told of each call that
    has nothing left.
    """

    def __init__(
        self,
        marks: Marks,
        descriptors: SpareDescriptors,
        is_spare: Callable[[int], bool],
        over: Callable[[Held], None],
    ) -> None:
        self.calls: dict[int, Held] = {}
        self.shells: dict[int, Held] = {}
        self.census = Census()
        # To be killed after this turn, all at once: a search of /proc takes its time.
        self.abandoned: list[Held] = []
        self._marks = marks
        self._descriptors = descriptors
        self._is_spare = is_spare
        self._over = over
        self._look_due = False
        self._look_after = 0.0

    def adopt(self, call: Held) -> None:
        """A call has a shell."""
        self.calls[call.mark] = self.shells[call.pid] = call
        self.census.watch(call)

    def withdraw(self, call: Held) -> None:
        """It has none after all."""
        self.calls.pop(call.mark, None)
        self.shells.pop(call.pid, None)
        self.census.forget(call)

    def note_death(self) -> None:
        """Some child has died: `look` is to see what is gone."""
        self._look_due = True

    def look(self) -> None:
        """See what is gone, after some child has died.

        When hundreds die, a look for each would take longer: so their time is bounded.
        """
        if not self._look_due:
            return
        began = time.monotonic()
        if began >= self._look_after:
            self._look_due = False
            self._forget_gone()
            if not self.calls:
                self._kill_strangers()
            now = time.monotonic()
            self._look_after = now + 4 * (now - began)

    def patience(self) -> float | None:
        """When something is to be done here, by the clock; None if nothing is."""
        times = [call.insist_at for call in self.calls.values() if call.insist_at is not None]
        if self._look_due:
            times.append(self._look_after)
        if (due := self.census.patience()) is not None:
            times.append(due)
        return min(times, default=None)

    def _forget_gone(self) -> None:
        """Let go of the calls whose last process is gone."""
        ended = [call for call in self.calls.values() if call.status is not None]
        if not ended:
            return
        owners = {pid: self._marks.owner(mark_of(pid)) for pid in self._strangers()}
        for pid, owner in owners.items():
            if owner not in self.calls:
                kill_child(pid)  # it shed its mark: nobody lowers that limit by accident
        left = set(owners.values())
        for call in ended:
            if call.mark not in left:
                self.forget(call)

    def forget(self, call: Held) -> None:
        """Nothing is left of a call."""
        del self.calls[call.mark]
        self.census.forget(call)
        self._over(call)

    def _strangers(self) -> list[int]:
        """Our children that are no shells: orphans that a call left behind."""
        if is_childless():
            return []
        try:
            found = children()
        except OSError:  # all descriptors are in use
            with self._descriptors.freed():
                found = children()
        return [pid for pid in found if pid not in self.shells and not self._is_spare(pid)]

    def _kill_strangers(self) -> bool:
        """Kill orphans, whatever their mark, when no call can own them."""
        strangers = self._strangers()
        for pid in strangers:
            kill_child(pid)
        return bool(strangers)

    def kill(self, calls: list[Held]) -> None:
        """Kill all processes of some calls, and again soon if any are left by then.

        Nothing is searched for where nothing can be: a shell that has ended and
        left no orphan is the usual case.
        """
        if any(call.status is not None for call in calls):
            self._forget_gone()
        calls = [call for call in calls if call.mark in self.calls]
        for call in calls:
            if call.status is None:
                kill_shell(call.pid)
        if calls:
            with self._descriptors.freed():
                kill_marked([call.mark for call in calls])
        now = time.monotonic()
        for call in calls:
            call.patience = min(2 * call.patience, _KILL_SECONDS)
            call.insist_at = now + call.patience
            if call.status is not None and call.patience == _KILL_SECONDS:
                self.forget(call)  # what is left does not let itself be killed by us

    def insist(self) -> None:
        """Kill what was let go of just now, and again what did not end."""
        self.abandoned += self.census.crowded()
        now = time.monotonic()
        due = [c for c in self.calls.values() if c.insist_at is not None and c.insist_at <= now]
        if self.abandoned or due:
            self.kill([*self.abandoned, *due])
            self.abandoned.clear()

    def end_all(self) -> None:
        """Leave nothing running."""
        with self._descriptors.freed():
            for pid in self.shells:
                kill_shell(pid)
            if self.calls:
                kill_marked(self.calls)
            deadline = time.monotonic() + _KILL_SECONDS
            while self._kill_strangers() and time.monotonic() < deadline:
                # Those that die leave us their children.
                time.sleep(RETRY_SECONDS)
                with suppress(ChildProcessError):
                    while os.waitpid(-1, os.WNOHANG) != (0, 0):
                        pass
