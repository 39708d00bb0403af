"""The system call filter, as the bytes the kernel is given.

What Landlock and namespaces leave open is closed here: families of sockets, io_uring,
ptrace, keyrings, mounts, new namespaces. A refused call fails with EPERM, so that the
script can go on and say what failed; clone3 answers ENOSYS, because its flags lie in
memory that a filter cannot read, and C libraries then use clone. Two entries are
checked before anything else: another architecture's (32-bit calls have other numbers) and
x32's, which shares the audit word of x86_64.

A parameter that the kernel takes as an `int` is compared by its low 32 bits: the kernel
ignores the others.
"""

import errno
import struct
from collections.abc import Callable, Iterable
from enum import Enum

from nacre.model.value import dataclass
from nacre.sandbox.calls import Machine

__all__ = (
    "NAMESPACE_FLAGS",
    "NEVER",
    "NEW_TIME",
    "REFUSED_IOCTLS",
    "SET_USER_ID",
    "SPAWNING_PROCESS",
    "SPAWNING_THREAD",
    "Filter",
    "Sockets",
    "program",
)

# Stand for the numbers of the thread that loads the filter; beyond any pid of Linux.
SPAWNING_THREAD, SPAWNING_PROCESS = 0x7ACE0001, 0x7ACE0002

_LOAD, _JUMP_EQUAL, _JUMP_ATLEAST, _JUMP_BITS, _AND, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x54, 0x06
_ALLOW = 0x7FFF0000
_NUMBER_AT, _ARCH_AT, _ARGUMENTS_AT = 0, 4, 16

_AF_UNIX, _AF_INET, _AF_INET6, _AF_NETLINK = 1, 2, 10, 16
_SOCK_STREAM, _SOCK_DGRAM, _TYPE_BITS = 1, 2, 0xF  # above them: SOCK_CLOEXEC, SOCK_NONBLOCK
_NETLINK_ROUTE = 0
_IPPROTO_TCP, _IPPROTO_UDP = 6, 17
# TIOCSTI, TIOCLINUX, FIOSETOWN, SIOCSPGRP
REFUSED_IOCTLS = (0x5412, 0x541C, 0x8901, 0x8902)
_F_SETOWN, _F_SETOWN_EX = 8, 15
_SOCK_SEQPACKET = 5
SET_USER_ID = 0o4000
_O_CREAT, _O_TMPFILE = 0o100, 0o20000000
_PRIO_USER, _IOPRIO_WHO_USER = 2, 3
_O_ACCMODE, _O_TRUNC = 0o3, 0o1000
_PERSONALITY_ASK = 0xFFFFFFFF
# NEWNS, NEWCGROUP, NEWUTS, NEWIPC, NEWUSER, NEWPID, NEWNET. The bit of NEWTIME is part
# of clone's exit signal, and means a new namespace in unshare alone.
NAMESPACE_FLAGS = 0x7E020000
NEW_TIME = 0x80

NEVER = (
    "io_uring_setup", "io_uring_enter", "io_uring_register",
    "ptrace", "process_vm_readv", "process_vm_writev", "process_madvise", "kcmp", "pidfd_getfd",
    "keyctl", "add_key", "request_key", "bpf", "perf_event_open", "userfaultfd",
    "mount", "umount2", "pivot_root", "open_tree", "open_tree_attr", "move_mount", "fsopen",
    "fsconfig", "fsmount", "fspick", "mount_setattr", "setns", "chroot",
    "name_to_handle_at", "open_by_handle_at", "fanotify_init", "fanotify_mark",
    "kexec_load", "kexec_file_load", "init_module", "finit_module", "delete_module",
    "create_module", "reboot", "swapon", "swapoff", "acct", "quotactl", "quotactl_fd",
    "settimeofday", "clock_settime", "clock_adjtime", "adjtimex", "sethostname", "setdomainname",
    "iopl", "ioperm", "syslog", "vhangup", "lookup_dcookie", "nfsservctl", "uselib", "_sysctl",
    "modify_ldt", "move_pages", "migrate_pages", "mbind", "set_mempolicy",
    "set_mempolicy_home_node",
)  # fmt: skip
# Without a namespace of its own for them, a script would share these with the host.
_SHARED_IPC = (
    "mq_open", "mq_unlink", "msgget", "msgsnd", "msgrcv", "msgctl",
    "semget", "semop", "semtimedop", "semctl", "shmget", "shmat", "shmctl",
)  # fmt: skip
_SIGNALS = ("kill", "tkill", "tgkill", "rt_sigqueueinfo", "rt_tgsigqueueinfo")
_SCHEDULING = ("sched_setaffinity", "sched_setattr", "sched_setparam", "sched_setscheduler")


class Sockets(Enum):
    """Which sockets a script may make; pairs that talk to nobody else are always there."""

    NONE = "none"
    INTERNET = "internet"
    ALL = "all"


@dataclass(frozen=True, slots=True, kw_only=True)
class Filter:
    """What a filter has to close beside what it always closes.

    `own_processes` says that a script sees no processes but its own, so that it may
    schedule any it sees; `own_ipc` that its queues and segments are its own;
    `truncate` that Landlock sees files being truncated, or nobody need.
    """

    sockets: Sockets
    own_processes: bool = False
    own_ipc: bool = False
    truncate: bool = True


class _Block:
    """The instructions for one call, entered with its number in the accumulator."""

    def __init__(self) -> None:
        self._code: list[tuple[int, int, int, int]] = []

    def load(self, argument: int, *, high: bool = False) -> None:
        self.load_at(_ARGUMENTS_AT + 8 * argument + 4 * high)

    def load_at(self, offset: int) -> None:
        self._add(_LOAD, offset)

    def keep_bits(self, bits: int) -> None:
        self._add(_AND, bits)

    def refuse_if_equal(self, value: int) -> None:
        self._add(_JUMP_EQUAL, value, 0, 1)
        self.refuse()

    def refuse_unless(self, *values: int) -> None:
        """Refuse all but some values; goes on after the block for those."""
        for left, value in zip(range(len(values), 0, -1), values, strict=True):
            self._add(_JUMP_EQUAL, value, left, 0)
        self.refuse()

    def refuse_from(self, value: int, number: int) -> None:
        self._add(_JUMP_ATLEAST, value, 0, 1)
        self.refuse(number)

    def skip_if_equal(self, value: int, instructions: int) -> None:
        self._add(_JUMP_EQUAL, value, instructions, 0)

    def skip_unless_equal(self, value: int, instructions: int) -> None:
        self._add(_JUMP_EQUAL, value, 0, instructions)

    def append(self, other: "_Block") -> None:
        self._code.extend(other.instructions())

    def instructions(self) -> list[tuple[int, int, int, int]]:
        return self._code

    def refuse_if_bits(self, bits: int) -> None:
        self._add(_JUMP_BITS, bits, 0, 1)
        self.refuse()

    def refuse(self, number: int = errno.EPERM) -> None:
        self._add(_RETURN, 0x00050000 | number)

    def allow(self) -> None:
        self._add(_RETURN, _ALLOW)

    def allow_if_equal(self, value: int) -> None:
        self._add(_JUMP_EQUAL, value, 0, 1)
        self.allow()

    def _add(self, code: int, value: int, if_true: int = 0, if_false: int = 0) -> None:
        self._code.append((code, if_true, if_false, value))

    def bytes(self) -> bytes:
        return b"".join(struct.pack("=HBBI", *each) for each in self._code)

    def __len__(self) -> int:
        return len(self._code)


def program(wanted: Filter, machine: Machine) -> bytes:
    """The filter for an architecture, as an array of `struct sock_filter`."""
    parts = [_entry(machine)]
    calls: dict[str, Callable[[_Block], None]] = dict.fromkeys(NEVER, _Block.refuse)
    if not wanted.own_ipc:
        calls |= dict.fromkeys(_SHARED_IPC, _Block.refuse)
    calls |= {
        "clone": _clone,
        "clone3": _unknown,
        "unshare": _unshare,
        "ioctl": _ioctl,
        "fcntl": _fcntl,
        "personality": _personality,
        "prlimit64": _prlimit,
        "socketpair": _socketpair,
        # A file that runs as its owner, for whoever comes: nobody needs it made here.
        "chmod": _mode(1),
        "fchmod": _mode(1),
        "fchmodat": _mode(2),
        "fchmodat2": _mode(2),
        "creat": _mode(1),
        "mknod": _mode(1),
        "mknodat": _mode(2),
        "open": _opening(1, truncate=wanted.truncate),
        "openat": _opening(2, truncate=wanted.truncate),
        "openat2": _unknown,  # its mode and flags lie in memory
        "pidfd_send_signal": _unknown,
    }
    calls |= dict.fromkeys(_SIGNALS, _signal)
    other = _refuse_warden if wanted.own_processes else _refuse_other_process
    calls |= dict.fromkeys(_SCHEDULING, other(0))
    calls |= {
        "setpriority": _priority(_PRIO_USER, other(1)),
        "ioprio_set": _priority(_IOPRIO_WHO_USER, other(1)),
    }
    if not wanted.truncate:
        calls["truncate"] = _Block.refuse
    if wanted.sockets is Sockets.NONE:
        calls["socket"] = _Block.refuse
    elif wanted.sockets is Sockets.INTERNET:
        calls["socket"] = _internet_only
    parts += _dispatch(calls.items(), machine)
    last = _Block()
    last.allow()
    return b"".join([*parts, last.bytes()])


def _entry(machine: Machine) -> bytes:
    block = _Block()
    block.load_at(_ARCH_AT)
    block.refuse_unless(machine.audit)
    block.load_at(_NUMBER_AT)
    if machine.foreign_bit is not None:
        block.refuse_from(machine.foreign_bit, errno.ENOSYS)
    return block.bytes()


def _dispatch(
    calls: Iterable[tuple[str, Callable[[_Block], None]]], machine: Machine
) -> Iterable[bytes]:
    for name, fill in calls:
        number = machine.number(name)
        if number is None:
            continue
        block = _Block()
        fill(block)
        block.allow()
        test = _Block()
        test.skip_unless_equal(number, len(block))
        yield test.bytes() + block.bytes()


def _unknown(block: _Block) -> None:
    block.refuse(errno.ENOSYS)


def _mode(argument: int) -> Callable[[_Block], None]:
    def fill(block: _Block) -> None:
        block.load(argument)
        block.refuse_if_bits(SET_USER_ID)

    return fill


def _opening(flags: int, *, truncate: bool) -> Callable[[_Block], None]:
    """Refuse to make a set-user-id file, and to empty one that Landlock would not see emptied."""

    def fill(block: _Block) -> None:
        making = _Block()
        _mode(flags + 1)(making)
        if not truncate:
            block.load(flags)
            block.keep_bits(_O_ACCMODE | _O_TRUNC)
            block.refuse_if_equal(_O_TRUNC)
        block.load(flags)
        block.keep_bits(_O_CREAT | _O_TMPFILE)
        block.skip_if_equal(0, len(making))
        block.append(making)

    return fill


def _signal(block: _Block) -> None:
    """Refuse signals to the thread that spawned the script: Landlock takes it for one of ours.

    Some of these calls name a process and then a thread, the others one of the two.
    """
    for argument in (0, 1):
        block.load(argument)
        block.refuse_if_equal(SPAWNING_THREAD)


def _fcntl(block: _Block) -> None:
    """Refuse to have signals sent to that thread when a file is ready."""
    owner = _Block()
    owner.load(2)
    owner.refuse_if_equal(SPAWNING_THREAD)
    block.load(1)
    block.refuse_if_equal(_F_SETOWN_EX)
    block.skip_unless_equal(_F_SETOWN, len(owner))
    block.append(owner)


def _clone(block: _Block) -> None:
    block.load(0)
    block.refuse_if_bits(NAMESPACE_FLAGS)


def _unshare(block: _Block) -> None:
    block.load(0)
    block.refuse_if_bits(NAMESPACE_FLAGS | NEW_TIME)


def _ioctl(block: _Block) -> None:
    block.load(1)
    for request in REFUSED_IOCTLS:
        block.refuse_if_equal(request)


def _personality(block: _Block) -> None:
    block.load(0)
    block.refuse_unless(0, _PERSONALITY_ASK)


def _prlimit(block: _Block) -> None:
    """Reading anyone's limits is harmless; so is setting one's own."""
    block.load(0)
    block.allow_if_equal(0)
    block.load(2)
    block.refuse_unless(0)
    block.load(2, high=True)
    block.refuse_unless(0)


def _socketpair(block: _Block) -> None:
    """A pair that is connected for good: a datagram can be sent to any address."""
    block.load(0)
    block.refuse_unless(_AF_UNIX)
    block.load(1)
    block.keep_bits(_TYPE_BITS)
    block.refuse_unless(_SOCK_STREAM, _SOCK_SEQPACKET)


def _internet_only(block: _Block) -> None:
    """TCP and UDP, and the questions about interfaces that resolvers ask; no MPTCP, no raw."""
    netlink = _Block()
    netlink.load(2)
    netlink.refuse_unless(_NETLINK_ROUTE)
    netlink.allow()
    block.load(0)
    block.skip_unless_equal(_AF_NETLINK, len(netlink))
    block.append(netlink)
    block.refuse_unless(_AF_INET, _AF_INET6)
    block.load(1)
    block.keep_bits(_TYPE_BITS)
    block.refuse_unless(_SOCK_STREAM, _SOCK_DGRAM)
    block.load(2)
    block.refuse_unless(0, _IPPROTO_TCP, _IPPROTO_UDP)


def _priority(of_user: int, other: Callable[[_Block], None]) -> Callable[[_Block], None]:
    """Refuse to schedule all processes of a user; the rest is as for one process."""

    def fill(block: _Block) -> None:
        block.load(0)
        block.refuse_if_equal(of_user)
        other(block)

    return fill


def _refuse_other_process(argument: int) -> Callable[[_Block], None]:
    def fill(block: _Block) -> None:
        block.load(argument)
        block.refuse_unless(0)

    return fill


def _refuse_warden(argument: int) -> Callable[[_Block], None]:
    def fill(block: _Block) -> None:
        block.load(argument)
        block.refuse_if_equal(SPAWNING_THREAD)
        block.refuse_if_equal(SPAWNING_PROCESS)

    return fill
