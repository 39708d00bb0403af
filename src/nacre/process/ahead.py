"""A launch that a host has sent ahead of its script; the host's side of `nacre.process.reserve`."""

import json
import os
import socket
from contextlib import suppress

from nacre.errors import WardenError
from nacre.process.grip import Grip, holds_data
from nacre.process.live import Process

__all__ = ("Ahead", "Place")

# What a warden reads of one message.
_MOST_MESSAGE = 1 << 15
_GRIP = 4


class Place:
    """Where some launches work, as far as that can be seen from this process.

    Whether a spare still works in the folder at this path can be seen, but not what the folder was
    called when its bash asked for that. So a spare is in place if the folder is called what it was
    called the last time; the first time, and whenever it is not, the warden is to look.
    """

    def __init__(self, path: str) -> None:
        self._path = path
        self._called: str | None = None

    def has(self, grip: Grip) -> bool:
        """Whether a spare is where a shell that is started now would be."""
        try:
            there, called = grip.is_in(self._path), grip.folder_name()
        except OSError:
            return False
        before, self._called = self._called, called
        return there and called == before


class Ahead:
    """Such a launch, until it has its script: from then on it is its `process`.

    One whose spare had come leaves a `successor`, the next such launch.
    """

    def __init__(self, process: Process) -> None:
        self.process = process
        self.successor: Ahead | None = None
        self._grip: Grip | None = None

    def begin(self, script: str, place: Place) -> bool:
        """Give it its script; False if nobody is there to take it."""
        try:
            if any(map(holds_data, self.process.pipes)):
                return False  # whose words would that be?
            return (self._hear() and self._begin_spare(script, place)) or self._tell(script)
        except WardenError:
            return False
        finally:
            self._let_go()

    def _hear(self) -> bool:
        """Hear the next thing its warden said; whether it was that its spare has come.

        Raises:
            WardenError: If it has ended, or its warden.
        """
        data, fds = self.process.hear()
        if not data:
            return False
        message = json.loads(data.decode())
        if "ready" not in message or len(fds) < _GRIP:
            _close(fds)
            raise WardenError(f"the shell that waited for a script said {message!r:.60}")
        self._grip = Grip(message["ready"], (fds[0], fds[1], fds[2], fds[3]))
        if fds[_GRIP:]:
            self.successor = _next(fds[_GRIP:], in_room=self.process.in_room)
        return True

    def _begin_spare(self, script: str, place: Place) -> bool:
        grip = self._grip
        return (
            grip is not None
            and place.has(grip)
            and grip.begin(script.encode("utf-8", "surrogateescape"))
        )

    def _tell(self, script: str) -> bool:
        while self._hear():
            pass  # it may have ended since it was ready
        data = json.dumps({"script": script}).encode()
        return len(data) <= _MOST_MESSAGE and self.process.send(data)

    def _let_go(self) -> None:
        if self._grip is not None:
            self._grip.close()
            self._grip = None

    def close(self) -> None:
        """End it."""
        self._let_go()
        self.process.close()
        if self.successor:
            self.successor.close()

    def leave(self) -> None:
        """Close what this process has of it, and nothing else: somebody else may hold it, too."""
        self._let_go()
        self.process.leave()
        if self.successor:
            self.successor.leave()


def _next(fds: list[int], *, in_room: bool) -> Ahead:
    lifeline = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET, 0, fileno=fds[0])
    return Ahead(Process(lifeline, tuple(fds[1:]), in_room=in_room))


def _close(fds: list[int]) -> None:
    for fd in fds:
        with suppress(OSError):
            os.close(fd)
