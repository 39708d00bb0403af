"""Launches whose script is still to come, and the spares that wait with them.

Part of the warden. A host sends such a launch ahead, with everything but its script: lifeline,
pipes, folder, variables. A spare is started for it when nothing else is to be done, and ended when
its time is up; the launch goes on waiting. When the script comes, the spare becomes its shell. If
there is none, or not yet, or none that is still in the right place, the script has a shell started
for it like any other.
"""

from __future__ import annotations

import time
from contextlib import suppress

from nacre.process.children import kill_child
from nacre.process.spare import Spare, is_like_plain
from nacre.process.wire import close_all

TYPE_CHECKING = False  # importing typing would cost a tenth of the start
if TYPE_CHECKING:
    from typing import Any

    from nacre.process.held import Held
    from nacre.process.spawner import Spawner

__all__ = ("Reserve",)

# Who has just begun is about to end, most of the time, and must not wait for a spare's start.
_CALM_SECONDS = 0.005
# By then a shell has been executed, though not much more.
_READY_SECONDS = 0.001
# A machine that is very busy may fail to prove what is so.
_PROOFS = 3


class _Waiting:
    """One such launch, with its spare, if it has one."""

    def __init__(self, request: dict[str, Any], outputs: list[int]) -> None:
        self.request = request
        self.outputs = outputs
        self.until = time.monotonic() + request["ttl"]
        self.spare: Spare | None = None


class Reserve:
    """All that wait; each is known by the `Held` that it will be."""

    def __init__(self, spawner: Spawner, null: int) -> None:
        self._spawner = spawner
        self._null = null
        self._waiting: dict[Held, _Waiting] = {}
        self._bare: list[_Waiting] = []
        self._pids: dict[int, _Waiting] = {}
        self._proofs: dict[str | None, int] = {}
        self._unready: list[Spare] = []
        self._calm_at = self._ready_at = 0.0

    def __len__(self) -> int:
        """How many there are."""
        return len(self._waiting)

    def admit(self, call: Held, request: dict[str, Any], outputs: list[int]) -> None:
        """Take a launch that has no script as yet."""
        self._waiting[call] = waiting = _Waiting(request, outputs)
        self._bare.append(waiting)

    def awaits(self, call: Held) -> bool:
        """Whether the script of a call is still to come."""
        return call in self._waiting

    def holds(self, pid: int) -> bool:
        """Whether a child of this process is a spare."""
        return pid in self._pids

    # -- the script has come ----------------------------------------------

    def begin(self, call: Held, script: str) -> None:
        """Give a launch its script.

        Raises:
            OSError: If no shell can be started.
        """
        waiting = self._waiting.pop(call)
        spare = self._taken(waiting)
        # Closed with its end: that is news enough for the host.
        call.outputs = waiting.outputs
        if spare and spare.become(script.encode("utf-8", "surrogateescape")):
            call.pid, call.mark = spare.pid, spare.mark
            call.most_tasks = waiting.request["most_tasks"]
            return
        if spare:
            _end(spare)
        request = {**waiting.request, "argv": ["bash", "-c", script]}
        self._spawner.launch(call, request, self._null, waiting.outputs)

    def note_begin(self) -> None:
        """A call has begun: for a while, no spare is to be started."""
        self._calm_at = time.monotonic() + _CALM_SECONDS

    # -- spares ------------------------------------------------------------

    def patience(self, *, busy: bool) -> float | None:
        """When something is to be done here, by the clock; None if nothing is."""
        if self._bare:
            return self._calm_at if busy else 0.0
        if self._unready:
            return self._ready_at
        return min((each.until for each in self._pids.values()), default=None)

    def tend(self) -> None:
        """Start a spare for the first that has none; end those whose time is up."""
        now = time.monotonic()
        for waiting in [each for each in self._pids.values() if each.until <= now]:
            self._end_spare(waiting)
        if self._bare:
            waiting = self._bare.pop(0)
            with suppress(OSError, ValueError):
                self._start_spare(waiting)
            self._ready_at = time.monotonic() + _READY_SECONDS
        elif self._unready:
            self._unready.pop().make_ready()  # or else when it is to begin

    def _start_spare(self, waiting: _Waiting) -> None:
        request = waiting.request
        if not self._is_proven(request):
            return
        waiting.spare = Spare(self._spawner.shell, request, self._null, waiting.outputs)
        self._unready.append(waiting.spare)
        self._pids[waiting.spare.pid] = waiting

    def _is_proven(self, request: dict[str, Any]) -> bool:
        """Whether spares are good for anything in this confinement: tried once, if it is so."""
        if self._spawner.scarce:
            return False
        key = request["held_by"]
        left = self._proofs.setdefault(key, _PROOFS)
        if left > 0:
            proven = is_like_plain(self._spawner.shell, request, self._null)
            self._proofs[key] = -1 if proven else left - 1
        return self._proofs[key] < 0

    def forget(self, pid: int) -> None:
        """A child was reaped: if it was a spare, it is none any more."""
        if waiting := self._pids.get(pid):
            spare = self._taken(waiting)
            if spare:
                spare.let_go()

    def _taken(self, waiting: _Waiting) -> Spare | None:
        """Its spare, which is not kept here any more; the launch is not to be given another."""
        spare, waiting.spare = waiting.spare, None
        if spare:
            del self._pids[spare.pid]
            if spare in self._unready:
                self._unready.remove(spare)
        with suppress(ValueError):
            self._bare.remove(waiting)
        return spare

    def _end_spare(self, waiting: _Waiting) -> None:
        if spare := self._taken(waiting):
            _end(spare)

    # -- nobody will come -------------------------------------------------

    def drop(self, call: Held) -> None:
        """Let go of a launch whose script will not come."""
        if waiting := self._waiting.pop(call, None):
            self._end_spare(waiting)
            close_all(waiting.outputs)

    def close(self) -> None:
        """Let go of all."""
        for call in list(self._waiting):
            self.drop(call)


def _end(spare: Spare) -> None:
    spare.let_go()
    kill_child(spare.pid)
