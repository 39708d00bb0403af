"""Launches whose script is still to come, and the spares that wait with them.

Part of the warden. A host sends such a launch ahead, with everything but its script: lifeline,
pipes, folder, variables. A spare is started for it when nothing else is to be done. Once that is
there the launch is a call like any other, whose shell waits; and the host is handed a grip on the
spare, to begin by itself, and its end of the next such launch. So a call that is begun leaves
another in its place.

If a script comes before that, or the host cannot say whether the spare is still in the right
place, it sends the script here. Then the spare becomes its shell, or else the script has a shell
started for it like any other. A spare is ended when its time is up; its launch goes on waiting.
"""

from __future__ import annotations

import os
import socket
import time
from contextlib import suppress

from nacre.process.children import kill_child
from nacre.process.held import Held
from nacre.process.spare import Spare, is_like_plain
from nacre.process.wire import close_all, tell_with

TYPE_CHECKING = False  # importing typing would cost a tenth of the start
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from nacre.process.grip import Grip
    from nacre.process.spawner import Spawner

__all__ = ("Reserve",)

# Who has just begun is about to end, most of the time, and must not wait for a spare's start.
_CALM_SECONDS = 0.005
# A host that is told of an end has this long to itself: it may well be on this processor.
_TURN_SECONDS = 0.0002
# A shell has been executed some 0.1 ms after it was spawned, where nothing else is to be done.
_SOON_SECONDS, _LATER_SECONDS = 0.0005, 0.002
# A machine that is very busy may fail to prove what is so.
_PROOFS = 3


class _Waiting:
    """One such launch, with its spare, if it has one, and the launch that takes its place."""

    def __init__(self, call: Held, request: dict[str, Any], outputs: list[int]) -> None:
        self.call = call
        self.request = request
        self.outputs = outputs
        self.until = 0.0
        self.spare: Spare | None = None
        self.handed = False
        self.successor: _Waiting | None = None


class Reserve:
    """All that wait; each is known by the `Held` that it will be."""

    def __init__(self, spawner: Spawner, null: int) -> None:
        self._spawner = spawner
        self._null = null
        self._waiting: dict[Held, _Waiting] = {}
        self._bare: list[_Waiting] = []
        self._pids: dict[int, _Waiting] = {}
        self._proofs: dict[str | None, int] = {}
        self._unready: list[_Waiting] = []
        # To be let go of when nothing else is to be done.
        self._over: list[Spare] = []
        self._calm_at = self._ready_at = 0.0

    def serve(
        self,
        listen: Callable[[Held], None],
        adopt: Callable[[Held], None],
        withdraw: Callable[[Held], None],
    ) -> None:
        """Have a lifeline listened to, a call adopted that has a shell, and that taken back."""
        self._listen, self._adopt, self._withdraw = listen, adopt, withdraw

    def __len__(self) -> int:
        """How many there are."""
        return len(self._waiting)

    def admit(self, call: Held, request: dict[str, Any], outputs: list[int]) -> None:
        """Take a launch that has no script as yet."""
        self._bare.append(self._admitted(call, request, outputs))

    def _admitted(self, call: Held, request: dict[str, Any], outputs: list[int]) -> _Waiting:
        self._waiting[call] = waiting = _Waiting(call, request, outputs)
        return waiting

    def awaits(self, call: Held) -> bool:
        """Whether the script of a call is still to come."""
        waiting = self._waiting.get(call)
        return waiting is not None and not (waiting.spare and waiting.spare.begun)

    def is_idle(self, call: Held) -> bool:
        """Whether a call waits for its script, and has no shell that the host could begin."""
        waiting = self._waiting.get(call)
        return waiting is not None and not waiting.handed

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
        self._take_back(waiting)
        self._replace(waiting)
        spare = self._taken(waiting)
        # Closed with its end: that is news enough for the host.
        call.outputs = waiting.outputs
        if spare and spare.become(script.encode("utf-8", "surrogateescape")):
            call.pid, call.mark = spare.pid, spare.mark
            call.most_tasks = waiting.request["most_tasks"]
            spare.let_go()
            return
        if spare:
            _end(spare)
        request = {**waiting.request, "argv": ["bash", "-c", script]}
        self._spawner.launch(call, request, self._null, waiting.outputs)

    def note_begin(self) -> None:
        """A call has begun: for a while, no spare is to be started."""
        self._calm_at = time.monotonic() + _CALM_SECONDS

    def note_end(self, call: Held) -> None:
        """A call has ended, or goes on by itself: spares may be started, its successor's too."""
        self._calm_at = time.monotonic() + _TURN_SECONDS
        if waiting := self._waiting.pop(call, None):
            self._replace(waiting)
            if spare := self._taken(waiting):
                self._over.append(spare)

    def _replace(self, waiting: _Waiting) -> None:
        if waiting.successor and waiting.successor.call in self._waiting:
            self._bare.append(waiting.successor)
        waiting.successor = None

    # -- spares ------------------------------------------------------------

    def patience(self) -> float | None:
        """When something is to be done here, by the clock; None if nothing is."""
        if self._bare or self._over:
            return self._calm_at
        if self._unready:
            return self._ready_at
        return min((each.until for each in self._pids.values()), default=None)

    def tend(self) -> None:
        """Start a spare for the first that has none; end those whose time is up."""
        while self._over:
            self._over.pop().let_go()
        now = time.monotonic()
        for waiting in [each for each in self._pids.values() if each.until <= now]:
            self._time_is_up(waiting)
        if self._bare:
            waiting = self._bare.pop(0)
            with suppress(OSError, ValueError):
                self._start_spare(waiting)
            self._ready_at = time.monotonic() + _LATER_SECONDS
        elif self._unready:
            self._get_ready(self._unready.pop())  # or else when it is to begin

    def _start_spare(self, waiting: _Waiting) -> None:
        request = waiting.request
        if not self._is_proven(request):
            return
        waiting.spare = Spare(self._spawner.shell, request, self._null, waiting.outputs)
        waiting.until = time.monotonic() + request["ttl"]
        self._pids[waiting.spare.pid] = waiting
        if not self._get_ready(waiting):
            self._unready.append(waiting)

    def _get_ready(self, waiting: _Waiting) -> bool:
        grip = waiting.spare.come(_SOON_SECONDS) if waiting.spare else None
        if grip is None:
            return False
        self._hand_over(waiting, grip)
        return True

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

    def _hand_over(self, waiting: _Waiting, grip: Grip) -> None:
        """Have the host begin by itself, and have its end of the launch that comes next."""
        call, spare = waiting.call, waiting.spare
        if spare is None:
            return
        call.pid, call.mark = spare.pid, spare.mark
        call.most_tasks = waiting.request["most_tasks"]
        call.outputs, waiting.outputs, waiting.handed = waiting.outputs, [], True
        self._adopt(call)
        theirs: list[int] = []
        with suppress(OSError):  # no descriptors are left: the host sends the next one itself
            theirs = self._succeed(waiting)
        tell_with(call.lifeline, {"ready": grip.place}, [*grip.fds, *theirs])
        close_all(theirs)

    def _succeed(self, waiting: _Waiting) -> list[int]:
        """Make a launch like this one; return what the host is to have of it."""
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        call = Held(ours)
        ours.setblocking(False)
        theirs.setblocking(False)
        fds, outputs = [theirs.detach()], list[int]()
        try:
            for _ in waiting.call.outputs:
                read, write = os.pipe2(os.O_CLOEXEC)
                os.set_blocking(read, False)
                fds.append(read)
                outputs.append(write)
            self._listen(call)
        except OSError:
            close_all([*fds, *outputs])
            ours.close()
            raise
        waiting.successor = self._admitted(call, waiting.request, outputs)
        return fds

    def forget(self, pid: int) -> bool:
        """A child was reaped; whether it was a spare whose script had not come."""
        waiting = self._pids.get(pid)
        if waiting is None or (spare := self._taken(waiting)) is None:
            return False
        self._over.append(spare)
        if spare.begun:
            return False
        self._take_back(waiting)
        return True

    def _taken(self, waiting: _Waiting) -> Spare | None:
        """Its spare, which is not kept here any more; the launch is not to be given another."""
        spare, waiting.spare = waiting.spare, None
        if spare:
            del self._pids[spare.pid]
        for kept in (self._unready, self._bare):
            with suppress(ValueError):
                kept.remove(waiting)
        return spare

    def _time_is_up(self, waiting: _Waiting) -> None:
        spare = self._taken(waiting)
        if spare and spare.begun:
            spare.let_go()
        elif spare:
            _end(spare)
            self._take_back(waiting)

    def _take_back(self, waiting: _Waiting) -> None:
        """Have a launch wait that was a call already."""
        if waiting.handed:
            waiting.handed = False
            waiting.outputs, waiting.call.outputs = waiting.call.outputs, []
            self._withdraw(waiting.call)

    # -- nobody will come -------------------------------------------------

    def drop(self, call: Held) -> None:
        """Let go of a launch whose script will not come, or has come and is given up."""
        waiting = self._waiting.pop(call, None)
        if waiting is None:
            return
        self._replace(waiting)
        if spare := self._taken(waiting):
            if waiting.handed:
                spare.let_go()  # it is ended as any other call is
            else:
                _end(spare)
        close_all(waiting.outputs)

    def close(self) -> None:
        """Let go of all."""
        for call in list(self._waiting):
            self.drop(call)


def _end(spare: Spare) -> None:
    spare.let_go()
    kill_child(spare.pid)
