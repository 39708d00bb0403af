"""Runs a command on a host that lacks something: `without.py WHAT[,WHAT] COMMAND...`.

What is missing is missing for real, for the command and everything it starts: a filter
answers as an older kernel or a container would, a mount hides a program, a Landlock
domain is around it.
"""

import ctypes
import errno
import os
import platform
import struct
import sys
from collections.abc import Callable
from pathlib import Path

_LIBC = ctypes.CDLL(None, use_errno=True)
_NUMBERS = {
    "x86_64": {"seccomp": 317, "prctl": 157, "unshare": 272, "clone": 56},
    "aarch64": {"seccomp": 277, "prctl": 167, "unshare": 97, "clone": 220},
}[platform.machine()]
_CLONE3, _LANDLOCK = 435, (444, 445, 446)
_NEWUSER, _NEWNS = 0x10000000, 0x20000
_PR_SET_SECCOMP, _PR_SET_NO_NEW_PRIVS, _FILTER = 22, 38, 2
_MS_BIND, _MS_PRIVATE, _MS_REC = 0x1000, 0x40000, 0x4000
_MAKE_BLOCK = 1 << 11
_MOST_DOMAINS = 16

Instruction = tuple[int, int, int, int]


def _answer(number: int) -> Instruction:
    return (0x06, 0, 0, 0x00050000 | number)


def _call(number: int, *inside: Instruction) -> list[Instruction]:
    """For one call, some instructions; the others go past them."""
    return [(0x20, 0, 0, 0), (0x15, 0, len(inside), number), *inside]


def _with_bits(bits: int, number: int) -> tuple[Instruction, ...]:
    return ((0x20, 0, 0, 16), (0x45, 0, 1, bits), _answer(number))


def _filter(code: list[Instruction]) -> None:
    packed = b"".join(struct.pack("=HBBI", *each) for each in [*code, (0x06, 0, 0, 0x7FFF0000)])
    buffer = ctypes.create_string_buffer(packed, len(packed))
    program = struct.pack("HxxxxxxP", len(packed) // 8, ctypes.addressof(buffer))
    _LIBC.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
    if _LIBC.prctl(_PR_SET_SECCOMP, _FILTER, program, 0, 0):
        raise OSError(ctypes.get_errno(), "no filter")


def _landlock() -> None:
    _filter([each for number in _LANDLOCK for each in _call(number, _answer(errno.ENOSYS))])


def _namespaces() -> None:
    """As a container's filter does; what clone3 is told cannot be seen by one."""
    _filter(
        [
            *_call(_NUMBERS["unshare"], *_with_bits(_NEWUSER, errno.EPERM)),
            *_call(_NUMBERS["clone"], *_with_bits(_NEWUSER, errno.EPERM)),
            *_call(_CLONE3, _answer(errno.ENOSYS)),
        ]
    )


def _seccomp() -> None:
    asked = ((0x20, 0, 0, 16), (0x15, 0, 1, _PR_SET_SECCOMP), _answer(errno.EINVAL))
    _filter(
        [
            *_call(_NUMBERS["seccomp"], _answer(errno.EINVAL)),
            *_call(_NUMBERS["prctl"], *asked),
        ]
    )


def _bubblewrap() -> None:
    uid, gid = os.getuid(), os.getgid()
    if _LIBC.unshare(_NEWNS | (_NEWUSER if uid else 0)):
        raise OSError(ctypes.get_errno(), "no namespace")
    if uid:
        Path("/proc/self/setgroups").write_text("deny")
        Path("/proc/self/uid_map").write_text(f"{uid} {uid} 1")
        Path("/proc/self/gid_map").write_text(f"{gid} {gid} 1")
    _LIBC.mount(None, b"/", None, _MS_PRIVATE | _MS_REC, None)
    for folder in {"/usr/bin", "/bin", "/usr/local/bin", *os.environ["PATH"].split(":")}:
        path = os.path.join(folder, "bwrap").encode()
        # A file that is no program.
        if os.path.exists(path) and _LIBC.mount(b"/etc/passwd", path, None, _MS_BIND, None):
            raise OSError(ctypes.get_errno(), "no mount")


def _domain() -> None:
    """Landlock around us that denies next to nothing, and mounts with it."""
    _LIBC.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
    ruleset = _LIBC.syscall(444, struct.pack("=Q", _MAKE_BLOCK), 8, 0)
    if ruleset < 0 or _LIBC.syscall(446, ruleset, 0):
        raise OSError(ctypes.get_errno(), "no domain")
    os.close(ruleset)


def _room_for_domains() -> None:
    for _ in range(_MOST_DOMAINS):
        _domain()


_WITHOUT: dict[str, Callable[[], None]] = {
    "bubblewrap": _bubblewrap,
    "domain": _domain,
    "landlock": _landlock,
    "namespaces": _namespaces,
    "room-for-domains": _room_for_domains,
    "seccomp": _seccomp,
}

if __name__ == "__main__":
    for what in filter(None, sys.argv[1].split(",")):
        _WITHOUT[what]()
    os.execvp(sys.argv[2], sys.argv[2:])  # noqa: S606 (it is what it is for)
