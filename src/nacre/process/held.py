"""One launch as the warden holds it, from its spawn to the end of its last process."""

from __future__ import annotations

import os
import signal
import socket
import time
from contextlib import suppress

from nacre.process.marks import signal_marked
from nacre.process.wire import tell

TYPE_CHECKING = False  # importing typing would cost a tenth of the start
if TYPE_CHECKING:
    from nacre.process.keeper import Keeper

__all__ = ("RETRY_SECONDS", "Held", "held_room")

# Between two tries to kill, doubled each time: a fork storm is over after a few.
RETRY_SECONDS = 0.0025


class Held:
    """One launch, from its spawn to the end of its last process.

    `most_tasks` is how many tasks it may have, if they are counted. `outputs` are copies of its
    pipes, so that the host hears of its end first, and all at once. It is `gone` when no process of
    it is left.
    """

    def __init__(self, lifeline: socket.socket, mark: int = 0, pid: int = 0) -> None:
        self.lifeline = lifeline
        self.mark = mark
        self.pid = pid
        self.most_tasks: int | None = None
        self.status: int | None = None
        self._told_exit = self.gone = False
        self.insist_at: float | None = None
        self.patience = RETRY_SECONDS
        self.stopped = False
        self.keeper: Keeper | None = None
        self.owned = True
        self.outputs: list[int] = []

    def tell_exit(self) -> None:
        """Send word that the shell has ended, once, and whether nothing is left of the call.

        One message for both wakes the host once.
        """
        told: dict[str, object] = {} if self._told_exit else {"exited": self.status}
        self._told_exit = True
        if self.gone:
            told["gone"] = True
        if told:
            self.tell(**told)

    def ask_to_end(self, grace: float) -> None:
        """Send SIGTERM to all there is of it, and have it killed after the grace."""
        # The group first, at once: a shell that sees its child die of TERM must
        # not get to run its next command.
        if self.status is None:
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(self.pid, signal.SIGTERM)
        signal_marked([self.mark], signal.SIGTERM, but_group=self.pid)
        self.insist_at = time.monotonic() + grace

    def close_outputs(self) -> None:
        """Keep no copies of its pipes any more."""
        while self.outputs:
            os.close(self.outputs.pop())

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
