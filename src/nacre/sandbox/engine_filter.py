"""The system call filter of a container, in the words that engines take.

It closes what `nacre.sandbox.seccomp` closes, and all that is not known: an engine leaves out a
call whose name it does not know, so what is not allowed must be refused. A rule allows a call if
all its tests hold; there can be several for one call, but in one rule only one test of an argument.
"""

import errno
import json
import os
import threading
from collections.abc import Iterable, Iterator
from contextlib import suppress
from hashlib import sha256
from itertools import product
from pathlib import Path

from nacre.sandbox.calls import Machine
from nacre.sandbox.harmless import HARMLESS
from nacre.sandbox.seccomp import (
    NAMESPACE_FLAGS,
    NEW_TIME,
    REFUSED_IOCTLS,
    SET_USER_ID,
    Sockets,
)

__all__ = ("engine_filter", "kept_filter")

_ARCHITECTURES = {"x86_64": "SCMP_ARCH_X86_64", "aarch64": "SCMP_ARCH_AARCH64"}
_INT = 0xFFFFFFFF  # the kernel takes no more of an int
_AF_UNIX, _AF_INET, _AF_INET6, _AF_NETLINK = 1, 2, 10, 16
_STREAM, _DATAGRAM, _SEQUENCED, _TYPES = 1, 2, 5, 0xF
_PROTOCOLS = (0, 6, 17)  # the usual one, TCP, UDP
_O_CREAT, _O_TMPFILE = 0o100, 0o20000000
_PRIO_USER, _IOPRIO_WHO_USER = 2, 3
# Which argument is the mode of a new file.
_MODES = {
    "chmod": 1,
    "fchmod": 1,
    "fchmodat": 2,
    "fchmodat2": 2,
    "creat": 1,
    "mknod": 1,
    "mknodat": 2,
}
_OPENING = {"open": 2, "openat": 3}

_Rule = dict[str, object]
_Test = dict[str, object]


def engine_filter(sockets: Sockets, machine: Machine) -> str:
    """The filter for an architecture, as JSON."""
    rules = [
        _allow(sorted(HARMLESS)),
        # A library has something to fall back on if it hears that these do not exist, and it hears
        # from older engines that all else is not permitted.
        _unknown(["clone3", "openat2"]),
        _allow(["clone"], _has(0, 0, of=NAMESPACE_FLAGS)),
        _allow(["unshare"], _has(0, 0, of=NAMESPACE_FLAGS | NEW_TIME)),
        *(_allow(["ioctl"], test) for test in _none_of(1, REFUSED_IOCTLS)),
        *(_allow(["personality"], _is(0, value)) for value in (0, _INT)),
        *(_allow(["prlimit64"], _is_zero(argument)) for argument in (0, 2)),
        *(_allow(["setpriority"], test) for test in _none_of(0, {_PRIO_USER})),
        *(_allow(["ioprio_set"], test) for test in _none_of(0, {_IOPRIO_WHO_USER})),
        *_modes(),
        *_sockets(sockets),
    ]
    return json.dumps(
        {
            "defaultAction": "SCMP_ACT_ERRNO",
            "defaultErrnoRet": errno.EPERM,
            "architectures": [_ARCHITECTURES[machine.name]],
            "syscalls": rules,
        }
    )


def kept_filter(text: str, state: Path) -> str:
    """The path of a file in the state directory that has this filter.

    Raises:
        OSError: If it cannot be written.
    """
    folder = state / "filters"
    path = folder / f"{sha256(text.encode()).hexdigest()[:16]}.json"
    with suppress(OSError):
        if path.read_text("utf-8") == text:
            return str(path)
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    new = folder / f"{path.name}.{os.getpid()}.{threading.get_ident()}"
    new.write_text(text, "utf-8")
    new.replace(path)  # others may read it at the moment
    return str(path)


def _modes() -> Iterator[_Rule]:
    """No file that runs as its owner, for whoever comes."""
    for call, mode in {**_MODES, **_OPENING}.items():
        yield _allow([call], _has(mode, 0, of=SET_USER_ID))
    for call, mode in _OPENING.items():
        yield _allow([call], _has(mode - 1, 0, of=_O_CREAT | _O_TMPFILE))


def _sockets(sockets: Sockets) -> Iterator[_Rule]:
    """TCP and UDP, and the questions about interfaces that resolvers ask; pairs, connected for good."""
    if sockets is Sockets.ALL:
        yield _allow(["socket", "socketpair"])
        return
    yield _allow(["socket"], _is(0, _AF_NETLINK), _is_zero(2))
    for family, kind, protocol in product((_AF_INET, _AF_INET6), (_STREAM, _DATAGRAM), _PROTOCOLS):
        yield _allow(["socket"], _is(0, family), _has(1, kind, of=_TYPES), _is(2, protocol))
    for kind in (_STREAM, _SEQUENCED):
        yield _allow(["socketpair"], _is(0, _AF_UNIX), _has(1, kind, of=_TYPES))


def _none_of(argument: int, values: Iterable[int]) -> Iterator[_Test]:
    """Tests of which one holds for each number but these: by the bits that a number begins with.

    A number that is not among them differs from each in some bit; the first bits up to there,
    which it shares with none of them, are one test.
    """
    others = {0}  # what some of the values begin with, at this length
    for bit in reversed(range(_INT.bit_length())):
        known = {value >> bit for value in values}
        for start in sorted(others):
            for longer in (start << 1, start << 1 | 1):
                if longer not in known:
                    yield _has(argument, longer << bit, of=_INT >> bit << bit)
        others = known


def _allow(calls: Iterable[str], *tests: _Test) -> _Rule:
    return {"names": list(calls), "action": "SCMP_ACT_ALLOW", "args": list(tests)}


def _unknown(calls: Iterable[str]) -> _Rule:
    return {
        "names": list(calls),
        "action": "SCMP_ACT_ERRNO",
        "errnoRet": errno.ENOSYS,
        "args": list[_Test](),
    }


def _is(argument: int, value: int) -> _Test:
    return _has(argument, value, of=_INT)


def _is_zero(argument: int) -> _Test:
    """All of it: it may be an address."""
    return {"index": argument, "value": 0, "op": "SCMP_CMP_EQ"}


def _has(argument: int, value: int, *, of: int) -> _Test:
    """Of some bits of an argument, these are set and the others are not."""
    return {"index": argument, "value": of, "valueTwo": value, "op": "SCMP_CMP_MASKED_EQ"}
