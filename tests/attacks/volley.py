"""Makes attempts: the only one in this very process, several in a child each.

It is copied to where scripts can read it, and given a file with a JSON object a line:
the attempt's id, the file that holds it, where it leaves what it got, and where its
output goes; an attempt without such a place is the only one.
"""

import ctypes
import errno
import fcntl
import json
import mmap
import os
import signal
import socket
import struct
import sys
from collections.abc import Callable
from functools import partial

_BASH = "/bin/bash"
_SECONDS = 6
# Taken once: after its end the parent is another process, which is none of an attempt's business.
_PARENT = os.getppid()
_COLUMN = {"x86_64": 0, "aarch64": 1}[os.uname().machine]
_LIBC = ctypes.CDLL(None, use_errno=True)
_NUMBERS = {
    "_sysctl": (156, 0),
    "acct": (163, 89),
    "add_key": (248, 217),
    "adjtimex": (159, 171),
    "bpf": (321, 280),
    "chroot": (161, 51),
    "clock_adjtime": (305, 266),
    "clock_settime": (227, 112),
    "clone": (56, 220),
    "clone3": (435, 435),
    "delete_module": (176, 106),
    "fanotify_init": (300, 262),
    "fchmodat2": (452, 452),
    "finit_module": (313, 273),
    "fsconfig": (431, 431),
    "fsmount": (432, 432),
    "fsopen": (430, 430),
    "fspick": (433, 433),
    "init_module": (175, 105),
    "io_uring_enter": (426, 426),
    "io_uring_register": (427, 427),
    "io_uring_setup": (425, 425),
    "ioperm": (173, 0),
    "iopl": (172, 0),
    "ioprio_set": (251, 30),
    "kcmp": (312, 272),
    "kexec_file_load": (320, 294),
    "kexec_load": (246, 104),
    "keyctl": (250, 219),
    "linkat": (265, 37),
    "mbind": (237, 235),
    "migrate_pages": (256, 238),
    "modify_ldt": (154, 0),
    "mount": (165, 40),
    "mount_setattr": (442, 442),
    "move_mount": (429, 429),
    "move_pages": (279, 239),
    "mq_open": (240, 180),
    "name_to_handle_at": (303, 264),
    "open_by_handle_at": (304, 265),
    "open_tree": (428, 428),
    "open_tree_attr": (467, 467),
    "perf_event_open": (298, 241),
    "personality": (135, 92),
    "pidfd_getfd": (438, 438),
    "pidfd_open": (434, 434),
    "pidfd_send_signal": (424, 424),
    "pivot_root": (155, 41),
    "prlimit64": (302, 261),
    "process_madvise": (440, 440),
    "process_vm_readv": (310, 270),
    "process_vm_writev": (311, 271),
    "ptrace": (101, 117),
    "quotactl": (179, 60),
    "reboot": (169, 142),
    "renameat2": (316, 276),
    "request_key": (249, 218),
    "rt_sigqueueinfo": (129, 138),
    "rt_tgsigqueueinfo": (297, 240),
    "sched_setaffinity": (203, 122),
    "sched_setattr": (314, 274),
    "sched_setscheduler": (144, 119),
    "sendmmsg": (307, 269),
    "set_mempolicy": (238, 237),
    "setdomainname": (171, 162),
    "sethostname": (170, 161),
    "setns": (308, 268),
    "setpriority": (141, 140),
    "settimeofday": (164, 170),
    "setxattrat": (463, 463),
    "shmat": (30, 196),
    "socket": (41, 198),
    "swapoff": (168, 225),
    "swapon": (167, 224),
    "syslog": (103, 116),
    "tgkill": (234, 131),
    "umount2": (166, 39),
    "unshare": (272, 97),
    "userfaultfd": (323, 282),
    "vhangup": (153, 58),
}


def text(value: str) -> ctypes.c_char_p:
    """A string as a system call takes it."""
    return ctypes.c_char_p(os.fsencode(value))


def call(name: str, *args: object) -> int:
    """Make a system call and return what it returned, or the error as a negative number."""
    words = (ctypes.c_long(word) if isinstance(word, int) else word for word in args)
    ctypes.set_errno(0)
    result = int(_LIBC.syscall(ctypes.c_long(_NUMBERS[name][_COLUMN]), *words))
    return result if result >= 0 else -ctypes.get_errno()


def attempt(entry: dict[str, str]) -> None:
    """Make one, with the words that attempts are written in."""
    os.write(1, f"started {entry['id']}\n".encode())
    with open(entry["file"], encoding="utf-8") as file:
        program = compile(file.read(), entry["file"], "exec")

    def loot(word: object) -> None:
        """Bring home what was got hold of."""
        with open(entry["loot"], "a") as file:
            file.write(f"{word}\n")

    def answer(name: str, *args: object) -> None:
        """Make a system call and bring home the name of its error, or OK."""
        result = call(name, *args)
        loot(f"{name} {'OK' if result >= 0 else errno.errorcode.get(-result, result)}")

    words: dict[str, object] = {
        "PARENT": _PARENT,
        "answer": answer,
        "call": call,
        "errno": errno,
        "fcntl": fcntl,
        "loot": loot,
        "mmap": mmap,
        "os": os,
        "signal": signal,
        "socket": socket,
        "struct": struct,
        "text": text,
    }
    exec(program, words)  # noqa: S102 (an attempt)


def in_child(act: Callable[[], None], said: str) -> None:
    """Do something in a child that ends after a while, with nothing open but its output."""
    pid = os.fork()
    if pid:
        os.waitpid(pid, 0)
        return
    try:
        signal.alarm(_SECONDS)
        output = os.open(said, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        os.dup2(output, 1)
        os.dup2(output, 2)
        os.close(output)
        act()
    except BaseException as error:  # noqa: BLE001 (whatever ended it)
        sys.excepthook(type(error), error, error.__traceback__)
    finally:
        sys.stderr.flush()
        os._exit(0)


def main() -> None:
    with open(sys.argv[1], encoding="utf-8") as file:
        entries: list[dict[str, str]] = [json.loads(line) for line in file]
    for entry in entries:
        if not entry["said"]:
            attempt(entry)
        elif entry["file"].endswith(".py"):
            in_child(partial(attempt, entry), entry["said"])
        else:
            in_child(partial(os.execv, _BASH, ["bash", entry["file"]]), entry["said"])


if __name__ == "__main__":
    main()
