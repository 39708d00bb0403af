"""The filter as the kernel would run it, by an interpreter of the six instructions it is made of."""

import errno
import os
import struct
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nacre.sandbox.calls import _MACHINES, _NUMBERS, Machine
from nacre.sandbox.seccomp import (
    _SHARED_IPC,
    NEVER,
    SPAWNING_PROCESS,
    SPAWNING_THREAD,
    Filter,
    Sockets,
    program,
)

X86_64, AARCH64 = _MACHINES["x86_64"], _MACHINES["aarch64"]
ALLOW = "ALLOW"
# The numbers of the kernel's own tables for what matters most, written down once more.
KNOWN = {
    "socket": (41, 198), "socketpair": (53, 199), "clone": (56, 220), "clone3": (435, 435),
    "ptrace": (101, 117), "ioctl": (16, 29), "openat": (257, 56), "open": (2, None),
    "mount": (165, 40), "unshare": (272, 97), "setns": (308, 268), "kill": (62, 129),
    "io_uring_setup": (425, 425), "process_vm_writev": (311, 271), "bpf": (321, 280),
    "keyctl": (250, 219), "prlimit64": (302, 261), "truncate": (76, 45), "fcntl": (72, 25),
    "fchmodat": (268, 53), "personality": (135, 92), "shmget": (29, 194), "setpriority": (141, 140),
}  # fmt: skip
LOW, HIGH = 0xFFFFFFFF, 0xFFFFFFFF00000000


def interpret(code: bytes, number: int, arch: int, arguments: tuple[int, ...]) -> str:
    """What the kernel would do about a call: ALLOW, or the name of an error."""
    data = struct.pack("=IIQ6Q", number, arch, 0xDEAD, *(*arguments, 0, 0, 0, 0, 0, 0)[:6])
    steps = list(struct.iter_unpack("=HBBI", code))
    accumulator = at = 0
    while True:
        kind, if_true, if_false, value = steps[at]
        at += 1
        match kind:
            case 0x20:
                accumulator = struct.unpack_from("=I", data, value)[0]
            case 0x54:
                accumulator &= value
            case 0x15:
                at += if_true if accumulator == value else if_false
            case 0x35:
                at += if_true if accumulator >= value else if_false
            case 0x45:
                at += if_true if accumulator & value else if_false
            case 0x06 if value == 0x7FFF0000:
                return ALLOW
            case 0x06 if value >> 16 == 0x5:
                return errno.errorcode[value & 0xFFFF]
            case _:
                raise AssertionError(f"the filter holds {kind:#x} with {value:#x}")


@cache
def code(wanted: Filter, machine: Machine) -> bytes:
    return program(wanted, machine)


def answer(wanted: Filter, machine: Machine, call: str, *arguments: int) -> str:
    number = machine.number(call)
    assert number is not None
    given = tuple(each & (LOW | HIGH) for each in arguments)
    return interpret(code(wanted, machine), number, machine.audit, given)


HOST = Filter(sockets=Sockets.NONE)
HOST_ONLINE = Filter(sockets=Sockets.INTERNET)
ROOM = Filter(sockets=Sockets.INTERNET, own_processes=True, own_ipc=True)
OPEN = Filter(sockets=Sockets.ALL)
OLD = Filter(sockets=Sockets.NONE, truncate=False)
FILTERS = (HOST, HOST_ONLINE, ROOM, OPEN, OLD)
EPERM, ENOSYS = "EPERM", "ENOSYS"
UNIX, INET, INET6, NETLINK, PACKET, VSOCK, ALG = 1, 2, 10, 16, 17, 40, 38
STREAM, DGRAM, RAW, SEQPACKET, CLOEXEC = 1, 2, 3, 5, 0o2000000
CREAT, TRUNC, WRONLY, RDWR, TMPFILE = 0o100, 0o1000, 1, 2, 0o20200000
NEWUSER, NEWNS, NEWNET, NEWTIME = 0x10000000, 0x20000, 0x40000000, 0x80
MPTCP, TCP, UDP, SMC = 262, 6, 17, 256

# A call with its arguments, and what happens to it under each filter, in the order of FILTERS.
TABLE: list[tuple[str, tuple[int, ...], str]] = [
    ("socket", (INET, STREAM, 0), "EPERM ALLOW ALLOW ALLOW EPERM"),
    ("socket", (INET, STREAM, TCP), "EPERM ALLOW ALLOW ALLOW EPERM"),
    ("socket", (INET6, STREAM | CLOEXEC, TCP), "EPERM ALLOW ALLOW ALLOW EPERM"),
    ("socket", (INET6, DGRAM | CLOEXEC, UDP), "EPERM ALLOW ALLOW ALLOW EPERM"),
    ("socket", (INET, DGRAM, 0), "EPERM ALLOW ALLOW ALLOW EPERM"),
    ("socket", (INET, STREAM, MPTCP), "EPERM EPERM EPERM ALLOW EPERM"),
    ("socket", (INET, STREAM, SMC), "EPERM EPERM EPERM ALLOW EPERM"),
    ("socket", (INET, RAW, 1), "EPERM EPERM EPERM ALLOW EPERM"),
    ("socket", (INET, DGRAM, 1), "EPERM EPERM EPERM ALLOW EPERM"),
    ("socket", (INET, SEQPACKET, 132), "EPERM EPERM EPERM ALLOW EPERM"),
    ("socket", (NETLINK, RAW, 0), "EPERM ALLOW ALLOW ALLOW EPERM"),
    ("socket", (NETLINK, RAW | CLOEXEC, 15), "EPERM EPERM EPERM ALLOW EPERM"),
    ("socket", (UNIX, STREAM, 0), "EPERM EPERM EPERM ALLOW EPERM"),
    ("socket", (UNIX, DGRAM | CLOEXEC, 0), "EPERM EPERM EPERM ALLOW EPERM"),
    ("socket", (PACKET, RAW, 0), "EPERM EPERM EPERM ALLOW EPERM"),
    ("socket", (VSOCK, STREAM, 0), "EPERM EPERM EPERM ALLOW EPERM"),
    ("socket", (ALG, SEQPACKET, 0), "EPERM EPERM EPERM ALLOW EPERM"),
    ("socketpair", (UNIX, STREAM, 0), "ALLOW ALLOW ALLOW ALLOW ALLOW"),
    ("socketpair", (UNIX, SEQPACKET | CLOEXEC, 0), "ALLOW ALLOW ALLOW ALLOW ALLOW"),
    ("socketpair", (UNIX, DGRAM, 0), "EPERM EPERM EPERM EPERM EPERM"),
    ("socketpair", (INET, STREAM, 0), "EPERM EPERM EPERM EPERM EPERM"),
    ("shmget", (0, 4096, 0), "EPERM EPERM ALLOW EPERM EPERM"),
    ("shmat", (0, 0, 0), "EPERM EPERM ALLOW EPERM EPERM"),
    ("mq_open", (0, 0, 0), "EPERM EPERM ALLOW EPERM EPERM"),
    ("sched_setaffinity", (0, 8, 1), "ALLOW ALLOW ALLOW ALLOW ALLOW"),
    ("sched_setaffinity", (4321, 8, 1), "EPERM EPERM ALLOW EPERM EPERM"),
    ("sched_setscheduler", (SPAWNING_THREAD, 0, 1), "EPERM EPERM EPERM EPERM EPERM"),
    ("sched_setattr", (SPAWNING_PROCESS, 0, 1), "EPERM EPERM EPERM EPERM EPERM"),
    ("sched_setparam", (4321, 0), "EPERM EPERM ALLOW EPERM EPERM"),
    ("setpriority", (0, 0, 5), "ALLOW ALLOW ALLOW ALLOW ALLOW"),
    ("setpriority", (0, 4321, 5), "EPERM EPERM ALLOW EPERM EPERM"),
    ("setpriority", (0, SPAWNING_PROCESS, 5), "EPERM EPERM EPERM EPERM EPERM"),
    ("setpriority", (2, 0, 5), "EPERM EPERM EPERM EPERM EPERM"),
    ("ioprio_set", (1, 0, 5), "ALLOW ALLOW ALLOW ALLOW ALLOW"),
    ("ioprio_set", (1, 4321, 5), "EPERM EPERM ALLOW EPERM EPERM"),
    ("ioprio_set", (3, 0, 5), "EPERM EPERM EPERM EPERM EPERM"),
    ("truncate", (0x1000, 0), "ALLOW ALLOW ALLOW ALLOW EPERM"),
    ("openat", (0, 0x1000, TRUNC), "ALLOW ALLOW ALLOW ALLOW EPERM"),
    ("open", (0x1000, TRUNC, 0), "ALLOW ALLOW ALLOW ALLOW EPERM"),
    ("openat", (0, 0x1000, WRONLY | TRUNC), "ALLOW ALLOW ALLOW ALLOW ALLOW"),
    ("openat", (0, 0x1000, RDWR | TRUNC | CREAT, 0o644), "ALLOW ALLOW ALLOW ALLOW ALLOW"),
]  # fmt: skip
# What every filter answers alike.
ALWAYS: list[tuple[str, tuple[int, ...], str]] = [
    ("clone3", (0x1000, 88), ENOSYS),
    ("openat2", (0, 0x1000, 0x2000, 24), ENOSYS),
    ("pidfd_send_signal", (3, 9, 0, 0), ENOSYS),
    ("clone", (17,), ALLOW),
    ("clone", (0x3D0F00,), ALLOW),  # a thread, as C libraries make one
    ("clone", (17 | NEWTIME,), ALLOW),  # part of the exit signal here
    ("clone", (NEWUSER | 17,), EPERM),
    ("clone", (NEWNS,), EPERM),
    ("clone", (NEWNET | 17,), EPERM),
    ("unshare", (0x200,), ALLOW),
    ("unshare", (NEWUSER,), EPERM),
    ("unshare", (NEWNS | 0x200,), EPERM),
    ("unshare", (NEWTIME,), EPERM),
    ("ioctl", (0, 0x5401), ALLOW),
    ("ioctl", (0, 0x5412), EPERM),  # TIOCSTI
    ("ioctl", (0, 0x541C), EPERM),  # TIOCLINUX
    ("ioctl", (0, 0x8901, 0x1000), EPERM),  # FIOSETOWN
    ("ioctl", (0, 0x8902, 0x1000), EPERM),  # SIOCSPGRP
    ("fcntl", (3, 1), ALLOW),
    ("fcntl", (3, 8, 4321), ALLOW),
    ("fcntl", (3, 8, SPAWNING_THREAD), EPERM),
    ("fcntl", (3, 1, SPAWNING_THREAD), ALLOW),
    ("fcntl", (3, 15, 0x1000), EPERM),
    ("kill", (4321, 9), ALLOW),
    ("kill", (SPAWNING_THREAD, 9), EPERM),
    ("tgkill", (4321, SPAWNING_THREAD, 9), EPERM),
    ("tgkill", (4321, 4322, 9), ALLOW),
    ("tkill", (SPAWNING_THREAD, 9), EPERM),
    ("rt_sigqueueinfo", (SPAWNING_THREAD, 9, 0), EPERM),
    ("rt_tgsigqueueinfo", (4321, SPAWNING_THREAD, 9), EPERM),
    ("personality", (LOW,), ALLOW),
    ("personality", (0,), ALLOW),
    ("personality", (0x0040000,), EPERM),
    ("personality", (8,), EPERM),
    ("prlimit64", (0, 7, 0x1000, 0), ALLOW),
    ("prlimit64", (4321, 7, 0, 0x1000), ALLOW),
    ("prlimit64", (4321, 7, 0x1000, 0), EPERM),
    ("prlimit64", (4321, 7, 0x100000000, 0), EPERM),
    ("chmod", (0x1000, 0o755), ALLOW),
    ("chmod", (0x1000, 0o4755), EPERM),
    ("chmod", (0x1000, 0o2755), ALLOW),
    ("fchmod", (3, 0o4000), EPERM),
    ("fchmodat", (0, 0x1000, 0o4755), EPERM),
    ("fchmodat", (0, 0x1000, 0o1777), ALLOW),
    ("fchmodat2", (0, 0x1000, 0o4755, 0), EPERM),
    ("creat", (0x1000, 0o4755), EPERM),
    ("creat", (0x1000, 0o644), ALLOW),
    ("mknod", (0x1000, 0o104755, 0), EPERM),
    ("mknodat", (0, 0x1000, 0o104755, 0), EPERM),
    ("mknodat", (0, 0x1000, 0o010644, 0), ALLOW),
    ("openat", (0, 0x1000, CREAT | WRONLY, 0o4755), EPERM),
    ("openat", (0, 0x1000, TMPFILE | RDWR, 0o4755), EPERM),
    ("openat", (0, 0x1000, CREAT | WRONLY, 0o644), ALLOW),
    ("openat", (0, 0x1000, RDWR, 0o4755), ALLOW),  # the mode means nothing then
    ("open", (0x1000, CREAT | WRONLY, 0o4755), EPERM),
    ("open", (0x1000, RDWR, 0o4755), ALLOW),
]  # fmt: skip
NAMED = {call for call, _, _ in (*TABLE, *ALWAYS)} | {*NEVER, *_SHARED_IPC}


def on_machines(call: str) -> Iterator[Machine]:
    return (machine for machine in (X86_64, AARCH64) if machine.number(call) is not None)


@pytest.mark.parametrize(("call", "arguments", "answers"), TABLE)
def test_what_depends_on_the_confinement(
    call: str, arguments: tuple[int, ...], answers: str
) -> None:
    for machine in on_machines(call):
        said = [answer(wanted, machine, call, *arguments) for wanted in FILTERS]
        assert said == answers.split(), machine.name


@pytest.mark.parametrize(("call", "arguments", "wanted"), ALWAYS)
def test_what_is_the_same_for_all(call: str, arguments: tuple[int, ...], wanted: str) -> None:
    for machine in on_machines(call):
        assert {answer(each, machine, call, *arguments) for each in FILTERS} == {wanted}


@pytest.mark.parametrize("wanted", FILTERS)
@pytest.mark.parametrize("machine", [X86_64, AARCH64])
def test_what_nobody_needs_is_refused_whatever_its_arguments(
    wanted: Filter, machine: Machine
) -> None:
    for call in NEVER:
        if machine.number(call) is not None:
            assert answer(wanted, machine, call) == EPERM
            assert answer(wanted, machine, call, *[LOW | HIGH] * 6) == EPERM


def test_the_families_of_calls_that_must_never_be_had_are_named() -> None:
    assert {
        "io_uring_setup", "ptrace", "process_vm_readv", "pidfd_getfd", "keyctl", "bpf",
        "perf_event_open", "userfaultfd", "mount", "move_mount", "setns", "chroot",
        "open_by_handle_at", "kexec_load", "init_module", "clock_settime", "iopl",
    } <= {*NEVER}  # fmt: skip


def test_every_call_that_has_a_number_here_is_in_a_table() -> None:
    assert set(_NUMBERS) == NAMED


@pytest.mark.parametrize("call", KNOWN)
def test_numbers_are_those_of_the_kernel(call: str) -> None:
    assert _NUMBERS[call] == KNOWN[call]


@pytest.mark.parametrize("machine", [X86_64, AARCH64])
def test_no_number_means_two_calls(machine: Machine) -> None:
    numbers = [number for call in _NUMBERS if (number := machine.number(call)) is not None]
    assert len(numbers) == len({*numbers})


_ARGUMENTS = st.lists(st.integers(0, LOW | HIGH), min_size=6, max_size=6).map(tuple)
_FILTERED = st.tuples(st.sampled_from(FILTERS), st.sampled_from([X86_64, AARCH64]))


def numbers_named(machine: Machine) -> dict[int, str]:
    return {number: call for call in NAMED if (number := machine.number(call)) is not None}


@given(_FILTERED, st.integers(0, 600) | st.integers(0, 0x3FFFFFFF), _ARGUMENTS)
def test_every_call_that_is_not_named_is_allowed(
    filtered: tuple[Filter, Machine], number: int, arguments: tuple[int, ...]
) -> None:
    wanted, machine = filtered
    if number not in numbers_named(machine):
        assert interpret(code(wanted, machine), number, machine.audit, arguments) == ALLOW


@given(_FILTERED, st.integers(0, 600), st.integers(0, LOW), _ARGUMENTS)
def test_another_architecture_is_refused_whatever_it_calls(
    filtered: tuple[Filter, Machine], number: int, arch: int, arguments: tuple[int, ...]
) -> None:
    wanted, machine = filtered
    for foreign in (arch, 0x40000003, 0x40000028, 0xC000003E, 0xC00000B7):
        if foreign != machine.audit:
            assert interpret(code(wanted, machine), number, foreign, arguments) == EPERM


@given(st.sampled_from(FILTERS), st.integers(0x40000000, LOW), _ARGUMENTS)
def test_x32_is_unknown(wanted: Filter, number: int, arguments: tuple[int, ...]) -> None:
    assert interpret(code(wanted, X86_64), number, X86_64.audit, arguments) == ENOSYS


# The one parameter that is compared and is a pointer: all of it counts.
_POINTERS: Mapping[str, frozenset[int]] = {"prlimit64": frozenset({2})}


@given(
    st.sampled_from([*TABLE, *ALWAYS]),
    st.sampled_from(FILTERS),
    st.lists(st.integers(0, LOW), min_size=6, max_size=6),
)
def test_the_high_words_of_int_arguments_do_not_matter(
    row: tuple[str, tuple[int, ...], str], wanted: Filter, words: list[int]
) -> None:
    call, arguments, _ = row
    pointers = _POINTERS.get(call, frozenset())
    high = [
        each if at in pointers else each & LOW | words[at] << 32
        for at, each in enumerate(arguments)
    ]
    for machine in on_machines(call):
        plain = answer(wanted, machine, call, *arguments)
        assert answer(wanted, machine, call, *high) == plain


@pytest.mark.parametrize("machine", [X86_64, AARCH64])
@pytest.mark.parametrize("wanted", FILTERS)
def test_a_filter_is_one_the_kernel_takes(wanted: Filter, machine: Machine) -> None:
    steps = list(struct.iter_unpack("=HBBI", code(wanted, machine)))
    assert len(steps) < 4096
    for at, (kind, if_true, if_false, value) in enumerate(steps):
        if kind in {0x15, 0x35, 0x45}:
            assert at + 1 + max(if_true, if_false) < len(steps)
        if kind == 0x20:
            assert value % 4 == 0
            assert value < 64
    assert steps[-1] == (0x06, 0, 0, 0x7FFF0000)


def test_stand_ins_are_beyond_any_pid() -> None:
    most = int(Path("/proc/sys/kernel/pid_max").read_text())
    assert most <= 1 << 22 < min(SPAWNING_THREAD, SPAWNING_PROCESS)
    assert SPAWNING_PROCESS != SPAWNING_THREAD
    # They are replaced wherever their bytes stand, so they stand for nothing else.
    for wanted in FILTERS:
        for _, _, _, value in struct.iter_unpack("=HBBI", code(wanted, X86_64)):
            assert value in {SPAWNING_THREAD, SPAWNING_PROCESS} or value >> 16 != 0x7ACE
    assert os.getpid() < SPAWNING_THREAD
