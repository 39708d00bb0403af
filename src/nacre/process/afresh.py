"""What the warden does to itself before it serves: scripts would inherit the rest."""

import ctypes
import os
import resource
import signal

__all__ = ("child_wakeup", "start_afresh")

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
    ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


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
