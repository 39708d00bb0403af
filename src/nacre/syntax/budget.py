"""How much work a script may cause before it is answered without being read whole."""

import time

__all__ = ("Budget", "OverBudgetError")

_NODES = 10_240
_CPU_NANOSECONDS = 100_000_000
_LOOK_EVERY = 256


class OverBudgetError(Exception):
    """There is too much of it, or it is nested too deep."""


class Budget:
    """Counts what is read, and looks at the clock now and then.

    The clock is this thread's processor time, so that a loaded machine does not
    change a verdict. Reading it is a system call: a short script never does.
    `flaw` is what was wrong with a part that is read apart from the rest.
    """

    __slots__ = ("_deadline", "_nanoseconds", "flaw", "left")

    def __init__(self, nodes: int = _NODES, nanoseconds: int = _CPU_NANOSECONDS) -> None:
        self.left = nodes
        self.flaw = ""
        self._nanoseconds = nanoseconds
        self._deadline = 0

    def spend(self, nodes: int = 1) -> None:
        """Pay for one node, or for more.

        Raises:
            OverBudgetError: If there is nothing left.
        """
        self.left -= nodes
        if -self.left % _LOOK_EVERY < nodes:
            self._look()

    def _look(self) -> None:
        if self.left <= 0:
            raise OverBudgetError("there is too much in it to be read")
        now = time.thread_time_ns()
        self._deadline = self._deadline or now + self._nanoseconds
        if now > self._deadline:
            raise OverBudgetError("it takes too long to be read")
