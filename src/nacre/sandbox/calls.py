"""The system calls a confined script does without, by name and number.

Numbers are those of the kernel's own tables, for x86_64 and for the generic table
that aarch64 uses; None where an architecture never had the call.
"""

import os
from typing import NamedTuple

from nacre.errors import ConfigError

__all__ = ("Machine", "Numbers", "this_machine")


class Numbers(NamedTuple):
    """The number of a call on each architecture."""

    x86_64: int | None
    aarch64: int | None


class Machine(NamedTuple):
    """An architecture as seccomp sees it."""

    name: str
    audit: int
    column: int
    # x32 has the same audit word; its calls carry this bit.
    foreign_bit: int | None

    def number(self, call: str) -> int | None:
        """The number of a call here, None if there is no such call."""
        return _NUMBERS[call][self.column]


_MACHINES = {
    "x86_64": Machine("x86_64", 0xC000003E, 0, 0x40000000),
    "aarch64": Machine("aarch64", 0xC00000B7, 1, None),
}


def this_machine() -> Machine:
    """The architecture of this host.

    Raises:
        ConfigError: If no filter can be made for it.
    """
    name = os.uname().machine
    if name not in _MACHINES:
        raise ConfigError(
            f"there is no system call table for {name!r}; use x86_64 or aarch64, or sandbox='none'"
        )
    return _MACHINES[name]


def _same(number: int) -> Numbers:
    return Numbers(number, number)  # all calls since Linux 5.1 have one number everywhere


_NUMBERS = {
    "acct": Numbers(163, 89),
    "add_key": Numbers(248, 217),
    "adjtimex": Numbers(159, 171),
    "bpf": Numbers(321, 280),
    "chmod": Numbers(90, None),
    "creat": Numbers(85, None),
    "fchmod": Numbers(91, 52),
    "fchmodat": Numbers(268, 53),
    "fchmodat2": _same(452),
    "fcntl": Numbers(72, 25),
    "kill": Numbers(62, 129),
    "mknod": Numbers(133, None),
    "mknodat": Numbers(259, 33),
    "pidfd_send_signal": _same(424),
    "rt_sigqueueinfo": Numbers(129, 138),
    "rt_tgsigqueueinfo": Numbers(297, 240),
    "tgkill": Numbers(234, 131),
    "tkill": Numbers(200, 130),
    "chroot": Numbers(161, 51),
    "clock_adjtime": Numbers(305, 266),
    "clock_settime": Numbers(227, 112),
    "clone": Numbers(56, 220),
    "clone3": _same(435),
    "create_module": Numbers(174, None),
    "delete_module": Numbers(176, 106),
    "fanotify_init": Numbers(300, 262),
    "fanotify_mark": Numbers(301, 263),
    "finit_module": Numbers(313, 273),
    "fsconfig": _same(431),
    "fsmount": _same(432),
    "fsopen": _same(430),
    "fspick": _same(433),
    "init_module": Numbers(175, 105),
    "io_uring_enter": _same(426),
    "io_uring_register": _same(427),
    "io_uring_setup": _same(425),
    "ioctl": Numbers(16, 29),
    "ioperm": Numbers(173, None),
    "iopl": Numbers(172, None),
    "ioprio_set": Numbers(251, 30),
    "kcmp": Numbers(312, 272),
    "kexec_file_load": Numbers(320, 294),
    "kexec_load": Numbers(246, 104),
    "keyctl": Numbers(250, 219),
    "lookup_dcookie": Numbers(212, 18),
    "mbind": Numbers(237, 235),
    "migrate_pages": Numbers(256, 238),
    "modify_ldt": Numbers(154, None),
    "mount": Numbers(165, 40),
    "mount_setattr": _same(442),
    "move_mount": _same(429),
    "move_pages": Numbers(279, 239),
    "mq_open": Numbers(240, 180),
    "mq_unlink": Numbers(241, 181),
    "msgctl": Numbers(71, 187),
    "msgget": Numbers(68, 186),
    "msgrcv": Numbers(70, 188),
    "msgsnd": Numbers(69, 189),
    "name_to_handle_at": Numbers(303, 264),
    "nfsservctl": Numbers(180, 42),
    "open": Numbers(2, None),
    "openat": Numbers(257, 56),
    "openat2": _same(437),
    "open_by_handle_at": Numbers(304, 265),
    "open_tree": _same(428),
    "open_tree_attr": _same(467),
    "perf_event_open": Numbers(298, 241),
    "personality": Numbers(135, 92),
    "pidfd_getfd": _same(438),
    "pivot_root": Numbers(155, 41),
    "prlimit64": Numbers(302, 261),
    "process_madvise": _same(440),
    "process_vm_readv": Numbers(310, 270),
    "process_vm_writev": Numbers(311, 271),
    "ptrace": Numbers(101, 117),
    "quotactl": Numbers(179, 60),
    "quotactl_fd": _same(443),
    "reboot": Numbers(169, 142),
    "request_key": Numbers(249, 218),
    "sched_setaffinity": Numbers(203, 122),
    "sched_setattr": Numbers(314, 274),
    "sched_setparam": Numbers(142, 118),
    "sched_setscheduler": Numbers(144, 119),
    "semctl": Numbers(66, 191),
    "semget": Numbers(64, 190),
    "semop": Numbers(65, 193),
    "semtimedop": Numbers(220, 192),
    "set_mempolicy": Numbers(238, 237),
    "set_mempolicy_home_node": _same(450),
    "setdomainname": Numbers(171, 162),
    "sethostname": Numbers(170, 161),
    "setns": Numbers(308, 268),
    "setpriority": Numbers(141, 140),
    "settimeofday": Numbers(164, 170),
    "shmget": Numbers(29, 194),
    "shmat": Numbers(30, 196),
    "shmctl": Numbers(31, 195),
    "socket": Numbers(41, 198),
    "socketpair": Numbers(53, 199),
    "swapoff": Numbers(168, 225),
    "swapon": Numbers(167, 224),
    "_sysctl": Numbers(156, None),
    "syslog": Numbers(103, 116),
    "truncate": Numbers(76, 45),
    "umount2": Numbers(166, 39),
    "unshare": Numbers(272, 97),
    "uselib": Numbers(134, None),
    "userfaultfd": Numbers(323, 282),
    "vhangup": Numbers(153, 58),
}
