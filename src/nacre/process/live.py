"""A live process group, held by its lifeline to the warden."""

import json
import os
import select
import socket
from contextlib import suppress
from typing import Any

from nacre.errors import StateError, WardenError
from nacre.process.events import Event, Gone, Kept, Started, events_of
from nacre.process.marks import pid_outside

__all__ = ("Process",)

_KEEP_SECONDS = 10.0
_MESSAGE_BYTES = 4096
_MOST_FDS = 8
_LAST = (Gone(),)
_DIED = "the warden that held this script died"


class Process:
    """A launch that was handed to the warden.

    `pipes` are the read ends, non-blocking: one for merged output, two for
    separate. However the holder ends, closing the lifeline kills whatever the
    launch started; `keep` is the one way to prevent that.
    """

    def __init__(
        self, lifeline: socket.socket, pipes: tuple[int, ...], *, in_room: bool = False
    ) -> None:
        self._lifeline = lifeline
        self.in_room = in_room
        self._gone = False
        self.pipes: tuple[int, ...] = pipes

    def fileno(self) -> int:
        """The descriptor that is readable when there are events."""
        return self._lifeline.fileno()

    def events(self) -> list[Event]:
        """What the warden said since the last time, without waiting.

        Raises:
            WardenError: If the warden died, and with it the knowledge of this call.
        """
        found: list[Event] = []
        gone = False
        while not gone:
            try:
                data = self._lifeline.recv(_MESSAGE_BYTES)
            except BlockingIOError:
                break
            except ConnectionError:
                data = b""
            if not data:
                if found:
                    break
                raise WardenError(_DIED)
            heard = events_of(data)
            self._gone |= (gone := heard[-1:] == _LAST)
            found += map(self._outside, heard) if self.in_room else heard
        return found

    def _outside(self, event: Event) -> Event:
        """A room counts its own pids; the job's record is for all of the machine."""
        if isinstance(event, Started):
            return Started(pid_outside(event.pid, event.mark), event.mark)
        return event

    def hear(self) -> tuple[bytes, list[int]]:
        """The next message with its descriptors; nothing, if there is none as yet.

        Raises:
            WardenError: If no more will come.
        """
        try:
            data, fds, _, _ = socket.recv_fds(
                self._lifeline, _MESSAGE_BYTES, _MOST_FDS, socket.MSG_CMSG_CLOEXEC
            )
        except BlockingIOError:
            return b"", []
        except ConnectionError:
            data, fds = b"", []
        if not data:
            raise WardenError(_DIED)
        return data, list(fds)

    def send(self, data: bytes) -> bool:
        """Say something to the warden; whether it is there to hear it."""
        try:
            self._lifeline.send(data)
        except OSError:
            return False
        return True

    def ask_who(self) -> None:
        """Have the warden say which process this is: a `Started` event follows."""
        self._tell({"who": True})

    def end(self, grace: float) -> None:
        """Ask every process of the call to end, and insist after the grace."""
        self._tell({"end": grace})

    def _tell(self, message: dict[str, float]) -> None:
        self.send(json.dumps(message).encode())  # a warden that died is noticed by `events`

    def keep(self, request: dict[str, Any], fds: list[int]) -> None:
        """Hand the call over to the warden as a job, with its pipes; blocks a moment.

        Raises:
            StateError: If the warden has no room for it.
            WardenError: If the warden died.
        """
        data = json.dumps({"keep": {**request, "fds": len(fds)}}).encode()
        poll = select.poll()
        poll.register(self._lifeline.fileno(), select.POLLIN)
        try:
            socket.send_fds(self._lifeline, [data], fds)
        except OSError as error:
            raise WardenError(_DIED) from error
        while poll.poll(_KEEP_SECONDS * 1000):
            answers = [event for event in self.events() if isinstance(event, Kept)]
            if Kept(kept=True) in answers:
                return
            if answers:
                raise StateError("the warden has no descriptors left for another job")
        raise WardenError("the warden that held this script does not answer")

    def close(self) -> None:
        """Let go: what is not kept is killed. Safe to call again."""
        if not self._gone:
            with suppress(OSError):
                # Also for copies in processes that the host forked meanwhile.
                self._lifeline.shutdown(socket.SHUT_RDWR)
        self.leave()

    def leave(self) -> None:
        """Close what this process has of it, and nothing else: somebody else may hold it, too."""
        self._lifeline.close()
        for pipe in self.pipes:
            os.close(pipe)
        self.pipes = ()
