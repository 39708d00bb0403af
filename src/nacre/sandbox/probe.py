"""What this host can enforce, found out by trying.

Version numbers say little: a container's own filter, another sandbox around us or a
distribution's setting takes away what the kernel has.
"""

import ctypes
import errno
import os
import subprocess  # noqa: TID251 (tried before there is a warden)
import sys
from collections.abc import Generator, Iterable
from contextlib import contextmanager
from functools import cache
from pathlib import PurePath

from nacre.model.value import dataclass
from nacre.sandbox.bubblewrap import find_bwrap

__all__ = ("Host", "bwrap_ahead", "probe", "probe_bwrap", "probe_landlock")

# The path of bubblewrap, or None and why it is of no use.
Bwrap = tuple[str | None, str]

_CREATE_RULESET = 444
_VERSION = 1
_PR_GET_SECCOMP, _PR_SET_SECCOMP, _MODE_FILTER = 21, 22, 2
_TRY_SECONDS = 10.0
_TRIAL = (
    "--unshare-user", "--unshare-pid", "--unshare-ipc", "--unshare-uts", "--unshare-net",
    "--disable-userns", "--new-session", "--die-with-parent", "--cap-drop", "ALL",
    "--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc", "--tmpfs", "/run", "--",
)  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Host:
    """What was found: `landlock` is the ABI, 0 for none; the others name why not, or are empty."""

    landlock: int
    no_landlock: str = ""
    no_seccomp: str = ""
    bwrap: str | None = None
    no_bwrap: str = ""


def probe(untrusted: Iterable[PurePath] = (), *, bubblewrap: bool = True) -> Host:
    """Try everything once; without `bubblewrap`, all that costs no process."""
    abi, no_landlock = probe_landlock()
    bwrap, no_bwrap = probe_bwrap(untrusted) if bubblewrap else (None, "it was not tried")
    return Host(
        landlock=abi,
        no_landlock=no_landlock,
        no_seccomp=_seccomp(),
        bwrap=bwrap,
        no_bwrap=no_bwrap,
    )


def probe_landlock() -> tuple[int, str]:
    """The ABI of Landlock; 0 if there is none, and why."""
    if sys.platform != "linux":
        return 0, "Landlock requires Linux"
    libc = ctypes.CDLL(None, use_errno=True)
    abi: int = libc.syscall(_CREATE_RULESET, None, 0, _VERSION)
    if abi > 0:
        return abi, ""
    return 0, f"{os.strerror(ctypes.get_errno())} (it needs Linux 5.13 or newer, with Landlock on)"


def _seccomp() -> str:
    """Why no filter can be set, or nothing: a null filter is EFAULT where one could be."""
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(_PR_SET_SECCOMP, _MODE_FILTER, None, 0, 0) == 0:
        return ""
    number = ctypes.get_errno()
    return "" if number in {errno.EFAULT, errno.EACCES} else os.strerror(number)


def probe_bwrap(untrusted: Iterable[PurePath]) -> Bwrap:
    """Bubblewrap, if a room can be made with it; otherwise why not."""
    bwrap = find_bwrap(untrusted)
    if bwrap is None:
        return None, "bubblewrap is not installed"
    trial = _ahead(os.getpid()).pop(bwrap, None) or _Trial(bwrap)
    return trial.answer()


@contextmanager
def bwrap_ahead(untrusted: Iterable[PurePath]) -> Generator[None]:
    """Try bubblewrap for the first `probe` within the block, while that is not yet needed."""
    bwrap = find_bwrap(untrusted)
    begun = _ahead(os.getpid())
    if bwrap is not None:
        begun[bwrap] = _Trial(bwrap)
    try:
        yield
    finally:
        while begun:
            begun.popitem()[1].answer()


class _Trial:
    """A room that is made to see whether one can be made."""

    def __init__(self, bwrap: str) -> None:
        self._bwrap = bwrap
        self._failure = ""
        try:
            self._process = subprocess.Popen(
                [bwrap, *_TRIAL, "/bin/true"],
                env={"LC_ALL": "C.UTF-8"},
                cwd="/",
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.PIPE,
            )
        except OSError as error:
            self._failure = f"{bwrap} cannot be run: {error}"

    def answer(self) -> Bwrap:
        """What came of it; waits until that is known."""
        if self._failure:
            return None, self._failure
        with self._process as process:
            try:
                _, errors = process.communicate(timeout=_TRY_SECONDS)
            except subprocess.TimeoutExpired as error:
                process.kill()
                return None, f"{self._bwrap} cannot be run: {error}"
        if process.returncode == 0:
            return self._bwrap, ""
        said = errors.decode(errors="replace").strip().splitlines()
        why = said[-1] if said else f"exit code {process.returncode}"
        return None, f"{self._bwrap} fails: {why}"


@cache
def _ahead(pid: int) -> dict[str, _Trial]:
    """What this process has begun to try, by the program that is tried."""
    del pid  # a forked child did not begin what its parent did
    return {}
