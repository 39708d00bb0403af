"""Rooms: namespaces with a warden of their own inside.

The host's warden starts a room's launcher, which makes the namespaces and starts another
warden in them. That one serves the host over a link of its own, as the first does: what
holds of calls, jobs and their ends holds in a room as well, and a script costs no more
there than outside. When the launcher dies, the kernel ends everything in the room.
"""

import os
import sys
import threading

from nacre.model.launch import Room
from nacre.process.link import INSIDE, Link

__all__ = ("Rooms",)

# More than a tool needs at once; the longest unused end when their last job does.
_MOST_ROOMS = 16


class Rooms:
    """The rooms of one tool, each opened when it is first needed."""

    def __init__(self, outside: Link) -> None:
        self._outside = outside
        self._links: dict[Room, Link] = {}
        self._older: list[Link] = []
        self._lock = threading.Lock()

    def link(self, room: Room) -> Link:
        """The link to a room; nothing is started before something is sent."""
        with self._lock:
            link = self._links.pop(room, None)
            if link is None:
                link = Link(_Starter(self._outside, room))
                link.acquire()
                for stale in [other for other in self._links if other.argv == room.argv]:
                    self._retire(stale)
            self._links[room] = link  # the last is the latest used
            while len(self._links) > _MOST_ROOMS:
                self._retire(next(iter(self._links)))
            return link

    def _retire(self, room: Room) -> None:
        old = self._links.pop(room)
        old.retire()
        self._older.append(old)

    def close(self) -> None:
        """End what the rooms own, and the rooms that hold nothing else."""
        with self._lock:
            links = [*self._links.values(), *self._older]
            self._links.clear()
            self._older.clear()
        for link in links:
            link.release()


class _Starter:
    """Has the warden outside start a room with one inside."""

    def __init__(self, outside: Link, room: Room) -> None:
        self._outside = outside
        self._room = room

    def __call__(self, link: int, errors: int) -> None:
        host = os.pidfd_open(os.getpid())
        try:
            argv = [*self._room.argv, sys.executable, *INSIDE, *self._room.expected]
            self._outside.send({"room": argv}, [link, host, errors])
        finally:
            os.close(host)
