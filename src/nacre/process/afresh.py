"""What the warden does to itself before it serves: scripts would inherit the rest."""

import ctypes
import os
import resource
import signal

__all__ = ("child_wakeup", "require_files", "start_afresh")

_PR_SET_DUMPABLE = 4
_PR_SET_CHILD_SUBREAPER = 36


def start_afresh(ours: set[int]) -> None:
    """Forget what a host may have set for itself: scripts would inherit it."""
    first = 3
    for fd in sorted(ours):
        os.closerange(first, fd)
        os.set_inheritable(fd, False)
        first = fd + 1
    os.closerange(first, resource.getrlimit(resource.RLIMIT_NOFILE)[0])
    for number in signal.valid_signals() - {signal.SIGKILL, signal.SIGSTOP}:
        signal.signal(number, signal.SIG_DFL)
    # Errors, not deaths; Popen gives scripts the default of both.
    signal.signal(signal.SIGPIPE, signal.SIG_IGN)
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    signal.pthread_sigmask(signal.SIG_SETMASK, [])
    libc = ctypes.CDLL(None)
    libc.prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    # A restricted thread is in the same Landlock domain as the scripts it spawned, so the
    # memory of this process would be theirs to read and write, through that thread.
    libc.prctl(_PR_SET_DUMPABLE, 0, 0, 0, 0)


def require_files(expected: list[str]) -> None:
    """See that a room is what it was meant to be, and end if it is not.

    Each word is `=` or `!`, the device and the number of a file, and a path: that file must
    be there, or must not. While a room was made, a script could put a link in the way.
    """
    for word in expected:
        wanted, path = word[0], word.split(":", 2)[2]
        try:
            found = os.stat(path, follow_symlinks=False)
        except OSError:
            there = False
        else:
            there = word[1:].startswith(f"{found.st_dev}:{found.st_ino}:")
        if there != (wanted == "="):
            raise SystemExit(f"the room was not made as planned: {path} is another file")


def child_wakeup() -> int:
    """A descriptor that becomes readable when a child changes state."""
    read, write = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
    signal.set_wakeup_fd(write, warn_on_full_buffer=False)
    # A handler, not SIG_IGN: that would be inherited by every script. The warden
    # is ended by the end of its host and its jobs, not by a stray `pkill python`.
    for number in (signal.SIGCHLD, signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGQUIT):
        signal.signal(number, _heed)
    return read


def _heed(*_: object) -> None:
    """Do nothing: the wake-up descriptor says all there is to say."""
