"""The process above an attempt by plain bash: it takes what the attempt leaves behind.

It is given a socket and the words to run, in a session of their own. It says their pid, and how
they ended once they did, and takes orphans until there are none; when the other end of the socket
is closed, it ends them first. Dead orphans count towards what their user may start, and a machine's
process 1 may take its time.
"""

import ctypes
import os
import select
import signal
import struct
import sys
from contextlib import suppress
from pathlib import Path

_SET_CHILD_SUBREAPER = 36
_STANDARD = (0, 1, 2)
# What Python ignores, and programs expect to be ended by.
_IGNORED = (signal.SIGPIPE, signal.SIGXFSZ)
_AGAIN_SECONDS = 0.02


class Reaper:
    """Waits for its children, those it started and those that came to it."""

    def __init__(self, link: int) -> None:
        os.set_inheritable(link, False)
        self._link = link
        self._main = 0
        self._woken, woken = os.pipe()
        for end in (self._woken, woken):
            os.set_blocking(end, False)
        signal.signal(signal.SIGCHLD, _wake)
        signal.set_wakeup_fd(woken, warn_on_full_buffer=False)

    def start(self, words: list[str]) -> None:
        """Start the words, say their pid, and hold none of what was given to them."""
        self._main = os.posix_spawn(words[0], words, os.environ, setsid=True, setsigdef=_IGNORED)
        self._say(self._main)
        null = os.open(os.devnull, os.O_RDWR)
        for number in _STANDARD:
            os.dup2(null, number)

    def stay(self) -> None:
        """Stay until there is no child any more."""
        wanted = True
        while self._reap():
            if wanted:
                ready = select.select([self._link, self._woken], [], [])[0]
                wanted = self._link not in ready
            else:
                _end_children()
                ready = select.select([self._woken], [], [], _AGAIN_SECONDS)[0]
            if self._woken in ready:
                os.read(self._woken, 65536)

    def _reap(self) -> bool:
        """Take all that ended; whether there may be more to come."""
        try:
            while (found := os.waitpid(-1, os.WNOHANG))[0]:
                if found[0] == self._main:
                    self._say(found[1])
        except ChildProcessError:
            return False
        return True

    def _say(self, number: int) -> None:
        with suppress(OSError):
            os.write(self._link, struct.pack("i", number))


def _wake(_number: int, _frame: object) -> None:
    """What wakes is that there is one."""


def _end_children() -> None:
    for task in Path("/proc/self/task").iterdir():
        for pid in (task / "children").read_text().split():
            with suppress(ProcessLookupError):
                os.kill(int(pid), signal.SIGKILL)


def main() -> None:
    ctypes.CDLL(None).prctl(_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    reaper = Reaper(int(sys.argv[1]))
    reaper.start(sys.argv[2:])
    reaper.stay()


if __name__ == "__main__":
    main()
