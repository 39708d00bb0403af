"""One launch as the warden holds it, from its spawn to the end of its last process."""

from __future__ import annotations

import socket

from nacre.process.wire import tell

TYPE_CHECKING = False  # importing typing would cost a tenth of the start
if TYPE_CHECKING:
    from nacre.process.keeper import Keeper

__all__ = ("RETRY_SECONDS", "Held", "held_room")

# Between two tries to kill, doubled each time: a fork storm is over after a few.
RETRY_SECONDS = 0.0025


class Held:
    """One launch, from its spawn to the end of its last process."""

    def __init__(self, lifeline: socket.socket, mark: int, pid: int) -> None:
        self.lifeline = lifeline
        self.mark = mark
        self.pid = pid
        self.status: int | None = None
        self._told_exit = False
        self.insist_at: float | None = None
        self.patience = RETRY_SECONDS
        self.stopped = False
        self.keeper: Keeper | None = None
        self.owned = True

    def tell_exit(self, *, gone: bool = False) -> None:
        """Send word that the shell has ended, once, or that nothing is left of the call.

        One message for both wakes the host once.
        """
        told: dict[str, object] = {} if self._told_exit else {"exited": self.status}
        self._told_exit = True
        if gone:
            told["gone"] = True
        if told:
            self.tell(**told)

    def tell(self, **message: object) -> None:
        """Send word to the host."""
        tell(self.lifeline, message)


def held_room(mark: int, pid: int) -> Held:
    """A room, which nobody speaks to from here and which ends by itself."""
    lifeline, nobody = socket.socketpair()
    lifeline.close()
    nobody.close()
    room = Held(lifeline, mark, pid)
    room.owned = False
    return room
