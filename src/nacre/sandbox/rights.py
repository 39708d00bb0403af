"""The rights of Landlock, as the running kernel knows them.

    ABI 1   files and folders          Linux 5.13
    ABI 2   + moving between folders   5.19
    ABI 3   + truncating               6.2
    ABI 4   + TCP                      6.7
    ABI 5   + ioctl on devices         6.10
    ABI 6   + signals, abstract unix sockets    6.12
    ABI 9   + connecting to unix sockets by path    7.1
    ABI 10  + UDP                      7.2

A right that is handled is denied wherever no rule grants it; one that the kernel does not
know cannot be handled, and stays open.
"""

from enum import IntFlag

from nacre.model.value import dataclass

__all__ = (
    "FILE_RIGHTS",
    "NO_FS",
    "NO_NET",
    "NO_SCOPE",
    "READ",
    "WRITE",
    "Fs",
    "Net",
    "Rights",
    "Scope",
    "rights",
)


class Fs(IntFlag):
    """Rights on files and folders."""

    EXECUTE = 1 << 0
    WRITE_FILE = 1 << 1
    READ_FILE = 1 << 2
    READ_DIR = 1 << 3
    REMOVE_DIR = 1 << 4
    REMOVE_FILE = 1 << 5
    MAKE_CHAR = 1 << 6
    MAKE_DIR = 1 << 7
    MAKE_REG = 1 << 8
    MAKE_SOCK = 1 << 9
    MAKE_FIFO = 1 << 10
    MAKE_BLOCK = 1 << 11
    MAKE_SYM = 1 << 12
    REFER = 1 << 13
    TRUNCATE = 1 << 14
    IOCTL_DEV = 1 << 15
    RESOLVE_UNIX = 1 << 16


class Net(IntFlag):
    """Rights on the network."""

    BIND_TCP = 1 << 0
    CONNECT_TCP = 1 << 1
    BIND_UDP = 1 << 2
    CONNECT_SEND_UDP = 1 << 3


class Scope(IntFlag):
    """What must stay within the domain."""

    ABSTRACT_UNIX_SOCKET = 1 << 0
    SIGNAL = 1 << 1


NO_FS, NO_NET, NO_SCOPE = Fs(0), Net(0), Scope(0)
READ = Fs.EXECUTE | Fs.READ_FILE | Fs.READ_DIR
WRITE = (
    Fs.WRITE_FILE | Fs.TRUNCATE | Fs.REMOVE_DIR | Fs.REMOVE_FILE | Fs.MAKE_DIR | Fs.MAKE_REG
    | Fs.MAKE_SOCK | Fs.MAKE_FIFO | Fs.MAKE_SYM | Fs.REFER
)  # fmt: skip
# The kernel answers EINVAL to a rule on a file that has any other.
FILE_RIGHTS = (
    Fs.EXECUTE | Fs.WRITE_FILE | Fs.READ_FILE | Fs.TRUNCATE | Fs.IOCTL_DEV | Fs.RESOLVE_UNIX
)
_ABI_1 = Fs(0x1FFF)


@dataclass(frozen=True, slots=True, kw_only=True)
class Rights:
    """Every right of one ABI."""

    fs: Fs = NO_FS
    net: Net = NO_NET
    scope: Scope = NO_SCOPE


def rights(abi: int) -> Rights:
    """The rights that a kernel with this ABI can handle."""
    added: tuple[tuple[int, Rights], ...] = (
        (1, Rights(fs=_ABI_1)),
        (2, Rights(fs=Fs.REFER)),
        (3, Rights(fs=Fs.TRUNCATE)),
        (4, Rights(net=Net.BIND_TCP | Net.CONNECT_TCP)),
        (5, Rights(fs=Fs.IOCTL_DEV)),
        (6, Rights(scope=Scope.ABSTRACT_UNIX_SOCKET | Scope.SIGNAL)),
        (9, Rights(fs=Fs.RESOLVE_UNIX)),
        (10, Rights(net=Net.BIND_UDP | Net.CONNECT_SEND_UDP)),
    )
    known = Rights()
    for since, more in added:
        if abi >= since:
            known = Rights(
                fs=known.fs | more.fs, net=known.net | more.net, scope=known.scope | more.scope
            )
    return known
