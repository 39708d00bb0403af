"""One launch as the warden holds it, from its spawn to the end of its last process."""

from __future__ import annotations

from nacre.process.wire import tell

TYPE_CHECKING = False  # importing typing would cost a tenth of the start
if TYPE_CHECKING:
    import socket

    from nacre.process.keeper import Keeper

__all__ = ("RETRY_SECONDS", "Held")

# Between two tries to kill, doubled each time: a fork storm is over after a few.
RETRY_SECONDS = 0.0025


class Held:
    """One launch, from its spawn to the end of its last process."""

    def __init__(self, lifeline: socket.socket, mark: int, pid: int) -> None:
        self.lifeline = lifeline
        self.mark = mark
        self.pid = pid
        self.status: int | None = None
        self.insist_at: float | None = None
        self.patience = RETRY_SECONDS
        self.stopped = False
        self.keeper: Keeper | None = None
        self.owned = True

    def tell(self, **message: object) -> None:
        """Send word to the host."""
        tell(self.lifeline, message)
