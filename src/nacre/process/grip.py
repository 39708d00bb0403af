"""What one has hold of a spare by: enough to make it a script's shell, from any process.

The warden that started a spare hands a copy to the host, so that a script need not wait for the
warden to be woken. Part of both: it imports the standard library alone.
"""

from __future__ import annotations

import array
import fcntl
import os
import signal
import termios

__all__ = ("NAME", "ROOM", "Grip")

# A script that is longer has a shell of its own.
ROOM = 16_000
# Carried out only if nobody wrote a script over it.
NAME = b"exit 125 # nacre: a shell without a script as yet"
# The line is what lets it go. What is behind the line stays in the pipe, and so tells the warden,
# which holds an end that can be read, that a script has come.
_LET_GO = b"\n."


class Grip:
    """The memory of a spare with the place of its script, its pipe, its number, its folder.

    `place` is where in the memory the script goes. The descriptors belong to the grip.
    """

    __slots__ = ("_folder", "_memory", "_number", "_place", "_release")

    def __init__(self, place: int, fds: tuple[int, int, int, int]) -> None:
        self._place = place
        self._memory, self._release, self._number, self._folder = fds

    @property
    def place(self) -> int:
        """Where in its memory its script goes."""
        return self._place

    @property
    def fds(self) -> tuple[int, int, int, int]:
        """The descriptors, in the order in which they were given."""
        return self._memory, self._release, self._number, self._folder

    def folder_name(self) -> str:
        """What the folder it works in is called now, where this process can tell."""
        return os.readlink(f"/proc/self/fd/{self._folder}")

    def is_in(self, path: str) -> bool:
        """Whether a shell that is started at a path now would work in the same folder.

        Raises:
            OSError: If there is no such folder any more.
        """
        here, there = os.fstat(self._folder), os.stat(path)
        return (here.st_dev, here.st_ino) == (there.st_dev, there.st_ino)

    def begin(self, script: bytes) -> bool:
        """Have the spare carry out a script; False if it cannot any more."""
        if len(script) > ROOM:
            return False
        try:
            text = script.ljust(len(NAME), b"\0")
            if os.pwrite(self._memory, text, self._place) != len(text):
                return False  # it has ended
            # Another script may have stopped it.
            signal.pidfd_send_signal(self._number, signal.SIGCONT)
            os.write(self._release, _LET_GO)
        except OSError:
            return False
        return True

    def close(self) -> None:
        """Let go of it. Safe to call again."""
        for fd in self.fds:
            if fd >= 0:
                os.close(fd)
        self._memory = self._release = self._number = self._folder = -1


def holds_data(pipe: int) -> bool:
    """Whether there is something to be read in a pipe."""
    there = array.array("i", [0])
    fcntl.ioctl(pipe, termios.FIONREAD, there)
    return there[0] > 0
