"""What this host can enforce, found out by trying.

Version numbers say little: a container's own filter, another sandbox around us or a
distribution's setting takes away what the kernel has.
"""

import ctypes
import errno
import os
import subprocess  # noqa: TID251 (tried before there is a warden)
import sys
from collections.abc import Iterable
from pathlib import PurePath

from nacre.model.value import dataclass
from nacre.sandbox.bubblewrap import find_bwrap

__all__ = ("Host", "probe", "probe_bwrap", "probe_landlock")

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


def probe_bwrap(untrusted: Iterable[PurePath]) -> tuple[str | None, str]:
    """Bubblewrap, if a room can be made with it; otherwise why not."""
    bwrap = find_bwrap(untrusted)
    if bwrap is None:
        return None, "bubblewrap is not installed"
    try:
        tried = subprocess.run(
            [bwrap, *_TRIAL, "/bin/true"],
            env={"LC_ALL": "C.UTF-8"},
            cwd="/",
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            timeout=_TRY_SECONDS,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return None, f"{bwrap} cannot be run: {error}"
    if tried.returncode == 0:
        return bwrap, ""
    said = tried.stderr.decode(errors="replace").strip().splitlines()
    return None, f"{bwrap} fails: {said[-1] if said else f'exit code {tried.returncode}'}"
