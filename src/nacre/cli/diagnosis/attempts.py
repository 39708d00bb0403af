"""The program that is run under a sandbox: one harmless attack for each protection.

It is started by its path and imports nothing of ours. Its argument is a JSON object of
texts, all of them made for the occasion: files, ports, processes that may be harmed. For
each attack it prints a line `{"name", "went", "said"}`; what the line claims is looked at
from outside wherever that can be seen.
"""

import ctypes
import errno
import json
import mmap
import os
import resource
import signal
import socket
import sys
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path

__all__ = ("ATTEMPTS",)

Given = Mapping[str, str]

_NEWUSER = 0x10000000
_READ_ONLY = 0o10000
_FEW_SECONDS = 2.0
_SURVIVES_SECONDS = 20
# Calls that a kernel answers otherwise than a filter does, by number on x86_64 and aarch64:
# process_vm_readv, kcmp, name_to_handle_at, io_uring_setup.
_CALLS = {"x86_64": (310, 312, 303, 425), "aarch64": (270, 272, 264, 425)}
_REFUSED = (errno.EPERM, errno.ENOSYS)


def _write(given: Given) -> None:
    with open(given["outside"], "a", encoding="ascii") as file:
        file.write(given["canary"])


def _read(given: Given) -> str:
    return Path(given["denied"]).read_text("ascii")


def _metadata(given: Given) -> None:
    os.chmod(given["outside"], int(given["mode"], 8))


def _protected(given: Given) -> None:
    Path(given["hook"]).write_text("exit 1\n", "ascii")


def _tcp(given: Given) -> None:
    with socket.create_connection(("127.0.0.1", int(given["tcp"])), _FEW_SECONDS) as made:
        made.sendall(given["canary"].encode())


def _udp(given: Given) -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as made:
        made.sendto(given["canary"].encode(), ("127.0.0.1", int(given["udp"])))


def _unix_sockets(given: Given) -> None:
    with socket.socket(socket.AF_UNIX) as made:
        made.settimeout(_FEW_SECONDS)
        made.connect(given["unix"])
        made.sendall(given["canary"].encode())


def _signals(given: Given) -> None:
    os.kill(_other(given, "doomed"), signal.SIGKILL)


def _memory_of_others(given: Given) -> str:
    return Path(f"/proc/{_other(given, 'victim')}/environ").read_text("utf-8", "replace")


def _scheduling_of_others(given: Given) -> None:
    os.setpriority(os.PRIO_PROCESS, _other(given, "victim"), int(given["nice"]))


def _view_of_others(given: Given) -> str:
    return _cmdline(int(given["victim"]), given)


def _ipc(given: Given) -> str:
    libc = ctypes.CDLL(None, use_errno=True)
    libc.shmat.restype = ctypes.c_void_p
    address: int | None = libc.shmat(int(given["segment"]), None, _READ_ONLY)
    if address is None or address == ctypes.c_void_p(-1).value:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
    return ctypes.string_at(address, len(given["canary"])).decode("ascii", "replace")


def _terminals(given: Given) -> None:
    terminal = os.open(given["terminal"], os.O_WRONLY | os.O_NOCTTY | os.O_NONBLOCK)
    os.write(terminal, given["canary"].encode())


def _kernel_calls(given: Given) -> str:
    del given
    libc = ctypes.CDLL(None, use_errno=True)
    answered: list[str] = []
    for number in _CALLS[os.uname().machine]:
        ctypes.set_errno(0)
        if libc.syscall(number, 0, 0, 0, 0, 0, 0) >= 0 or ctypes.get_errno() not in _REFUSED:
            answered.append(str(number))
    if not answered:
        raise PermissionError(errno.EPERM, "every call is refused")
    return " ".join(answered)


def _namespaces(given: Given) -> None:
    del given
    child = os.fork()
    if child == 0:
        libc = ctypes.CDLL(None, use_errno=True)
        os._exit(ctypes.get_errno() if libc.unshare(_NEWUSER) else 0)
    if number := os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]):
        raise OSError(number, os.strerror(abs(number)))


def _privileges(given: Given) -> str:
    del given
    fields = dict(
        line.split(":\t", 1) for line in Path("/proc/self/status").read_text("ascii").splitlines()
    )
    if fields["NoNewPrivs"] == "1" and not int(fields["CapEff"], 16):
        raise PermissionError(errno.EPERM, "there is nothing to gain")
    return f"no_new_privs {fields['NoNewPrivs']}, capabilities {fields['CapEff']}"


def _environment(given: Given) -> str:
    seen = [" ".join(os.environ.values())]
    with suppress(OSError):
        seen.append(Path("/proc/self/environ").read_text("utf-8", "replace"))
    if not any(given["canary"] in each for each in seen):
        raise FileNotFoundError(errno.ENOENT, "the variable is not there")
    return given["canary"]


def _descriptors(given: Given) -> str:
    for name in os.listdir("/proc/self/fd"):
        with suppress(OSError):
            if int(name) > sys.stderr.fileno():
                target = os.readlink(f"/proc/self/fd/{name}")
                if target == given["held"]:
                    return target
    raise FileNotFoundError(errno.ENOENT, "no descriptor was left open")


def _lifetime(given: Given) -> None:
    """Leave a process behind, of a session of its own; its words hold the canary."""
    del given
    child = os.fork()
    if child:
        os.waitpid(child, 0)
        return
    os.setsid()
    if os.fork() == 0:
        for descriptor in range(3):
            os.close(descriptor)
        signal.alarm(_SURVIVES_SECONDS)
        signal.pause()
    os._exit(0)


def _memory_limit(given: Given) -> None:
    flags = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS
    mmap.mmap(-1, int(given["memory"]) + mmap.PAGESIZE, flags=flags).close()


def _file_limit(given: Given) -> None:
    path = Path(given["large"])
    with open(path, "wb") as file:
        try:
            os.ftruncate(file.fileno(), int(given["file_bytes"]) + 1)
        finally:
            path.unlink()


def _core_files(given: Given) -> None:
    del given
    hard = resource.getrlimit(resource.RLIMIT_CORE)[1]
    most = mmap.PAGESIZE if hard == resource.RLIM_INFINITY else max(hard, mmap.PAGESIZE)
    resource.setrlimit(resource.RLIMIT_CORE, (most, most))


def _process_limit(given: Given) -> None:
    """Last of all: where the warden counts, it ends the whole script."""
    wanted = int(given["processes"])
    children: list[int] = []
    try:
        for _ in range(wanted):
            children.append(os.fork())
            if children[-1] == 0:
                signal.alarm(_SURVIVES_SECONDS)
                signal.pause()
                os._exit(0)
        time.sleep(float(given["patience"]))  # noqa: TID251 (to be counted)
    finally:
        for child in children:
            os.kill(child, signal.SIGKILL)
        for child in children:
            os.waitpid(child, 0)


ATTEMPTS: Mapping[str, Callable[[Given], str | None]] = {
    "write": _write,
    "read": _read,
    "metadata": _metadata,
    "protected": _protected,
    "tcp": _tcp,
    "udp": _udp,
    "unix_sockets": _unix_sockets,
    "memory_of_others": _memory_of_others,
    "scheduling_of_others": _scheduling_of_others,
    "view_of_others": _view_of_others,
    "signals": _signals,
    "ipc": _ipc,
    "terminals": _terminals,
    "kernel_calls": _kernel_calls,
    "namespaces": _namespaces,
    "privileges": _privileges,
    "environment": _environment,
    "descriptors": _descriptors,
    "lifetime": _lifetime,
    "memory_limit": _memory_limit,
    "file_limit": _file_limit,
    "core_files": _core_files,
    "process_limit": _process_limit,
}


def _other(given: Given, name: str) -> int:
    """A process to harm; a number that is some other process's here is nobody's."""
    pid = int(given[name])
    with suppress(FileNotFoundError, PermissionError):
        _cmdline(pid, given)
    return pid


def _cmdline(pid: int, given: Given) -> str:
    words = Path(f"/proc/{pid}/cmdline").read_text("utf-8", "replace")
    if not words.endswith(f"{given['canary']}\0"):
        raise ProcessLookupError(errno.ESRCH, os.strerror(errno.ESRCH))
    return words


def _report(name: str, *, went: bool | None, said: str) -> None:
    sys.stdout.write(json.dumps({"name": name, "went": went, "said": said}) + "\n")
    sys.stdout.flush()


def main(given: Given) -> None:
    """Try everything for which there is something to try it on."""
    for name, attempt in ATTEMPTS.items():
        _report(name, went=None, said="begun")
        try:
            said = attempt(given)
        except KeyError as missing:
            _report(name, went=None, said=f"no {missing} to try it on")
        except (OSError, ValueError) as error:
            _report(name, went=False, said=str(error))
        except Exception as error:  # noqa: BLE001 (the next is to be tried all the same)
            _report(name, went=None, said=repr(error))
        else:
            _report(name, went=True, said=said or "")


if __name__ == "__main__":
    main(json.loads(sys.argv[1]))
