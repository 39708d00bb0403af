"""One call on its way into a container and back."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from nacre.container.resident import Begin, Live
from nacre.process.wire import tell

if TYPE_CHECKING:
    import socket
    from collections.abc import Callable

    from nacre.process.keeper import Keeper
    from nacre.process.porter.channel import Channel
    from nacre.process.porter.stand_in import StandIn

__all__ = ("Carried",)

# Limits that hold for one process; how many there are is the container's to limit.
_OPTIONS = {0: "t", 1: "f", 2: "d", 4: "c", 7: "n"}
_CORE = 4
_SECONDS_PER_BYTE = 4 / (1 << 20)
# What bash counts in blocks of so many bytes.
_BLOCKS = {1: 1024, 2: 1024}


class Carried:
    """One call: its lifeline and pipes here, its channel there.

    `status` is how its shell ended, as wait(2) has it, and was `told` to the host; `queued_by` is
    when a resident must attend to it, `begun_by` when it must have begun, `gone_by` when nothing may
    be left of it. `on_begun` is done once a resident attends to it, for which it is `queued` first;
    `tries` is how often none could be had. `asked` says that its host wants to know who it is; once
    it is `over`, `unseen` that nobody saw how it ended.
    """

    def __init__(
        self, lifeline: socket.socket, pipes: list[int], request: dict[str, Any], stdin: bytes
    ) -> None:
        self.lifeline = lifeline
        self.pipes = pipes
        self.channel: Channel | None = None
        self.keeper: Keeper | None = None
        self.stand_in: StandIn | None = None
        self.owned = True
        self.asked = False
        self.over = False
        self.unseen = False
        self.stopped = False
        self.abandoned = False
        self.status: int | None = None
        self.told = False
        self.queued = False
        self.on_begun: Callable[[], None] = lambda: None
        self.tries = 0
        self.mark = 0
        self.state = ""
        self.insist_at: float | None = None
        self.queued_by: float | None = None
        self.begun_by: float | None = None
        self.gone_by: float | None = None
        self.pending: list[bytes] = [b"" for _ in pipes]
        self._request = request
        self._stdin = stdin

    @property
    def separate(self) -> bool:
        """Whether its two streams are kept apart."""
        return len(self.pipes) > 1

    @property
    def bash(self) -> str:
        """Bash on this machine."""
        return str(self._request["executable"])

    @property
    def seconds_to_read(self) -> float:
        """What a bash takes to read its input and its script, on a busy machine."""
        return (len(self._stdin) + len(self._request["argv"][2])) * _SECONDS_PER_BYTE

    def words(self, word: str, live: Live) -> Begin:
        """The call as a resident is told of it."""
        return Begin(
            live=() if self._request["lingers"] else live,
            mark=self.mark,
            word=word,
            separate=self.separate,
            folder=self._request["cwd"],
            limits=tuple(_limits(self._request["limits"])),
            stdin=self._stdin,
            script=self._request["argv"][2],
            environ=self._request["environ"],
        )

    def write(self, stream: int, data: bytes) -> bool:
        """Pass on what the script said; False if the pipe is full and some of it waits."""
        pipe = stream if self.separate else 0
        data = self.pending[pipe] + data
        if self.pipes[pipe] < 0:
            return True  # nobody listens any more
        try:
            written = os.write(self.pipes[pipe], data)
        except BlockingIOError:
            written = 0
        except OSError:
            self.close_pipe(pipe)
            return True
        self.pending[pipe] = data[written:]
        return not self.pending[pipe]

    def flush(self) -> None:
        """Pass on what waits, as far as there is room."""
        for number in range(len(self.pipes)):
            if self.pending[number]:
                self.write(number, b"")

    def descriptors(self) -> list[int]:
        """All that may be waited for on its behalf while it goes on."""
        own = [pipe for pipe in self.pipes if pipe >= 0]
        kept = self.keeper.pipes if self.keeper else []
        stand_in = [self.stand_in.fileno()] if self.stand_in else []
        return [*own, *kept, *stand_in]

    @property
    def waits(self) -> int | None:
        """The pipe that is full, while something waits for it."""
        for pipe, data in zip(self.pipes, self.pending, strict=True):
            if data and pipe >= 0:
                return pipe
        return None

    def close_pipe(self, number: int) -> None:
        """Let go of one pipe."""
        self.pending[number] = b""
        if self.pipes[number] >= 0:
            os.close(self.pipes[number])
            self.pipes[number] = -1

    def tell(self, **message: object) -> None:
        """Send word to the host."""
        if self.lifeline.fileno() >= 0:
            tell(self.lifeline, message)

    def let_go(self) -> None:
        """Close all there is but the lifeline, once nothing more can come."""
        for number in range(len(self.pipes)):
            self.close_pipe(number)
        if self.stand_in:
            self.stand_in.close()


def _limits(numbers: list[tuple[int, int]]) -> list[tuple[str, int]]:
    """Resource limits as bash's `ulimit` is told of them."""
    return [
        (_OPTIONS[number], 0 if number == _CORE else -(-most // _BLOCKS.get(number, 1)))
        for number, most in numbers
        if number in _OPTIONS
    ]
