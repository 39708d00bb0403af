"""Signals to the jobs of one's own conversation, where a script may send none out of its domain.

Part of the warden. Landlock's scope lets a script signal what was started in its own domain,
and every warden makes domains of its own. A job that another host started is out of reach
then, although an agent was given the number of its group so that it could end it. So the
kernel asks (seccomp's user notification) before a restricted script signals a group. A
signal to a job that the host named is sent from here; about any other the kernel decides,
as if it had not asked.
"""

from __future__ import annotations

import ctypes
import fcntl
import os
import struct
import threading

from nacre.process.marks import born

__all__ = ("Courier", "listen")

_SECCOMP = {"x86_64": 317, "aarch64": 277}
_SET_MODE_FILTER, _NEW_LISTENER = 1, 1 << 3
_RECEIVE, _SEND = 0xC0502100, 0xC0182101
# struct seccomp_notif: id, pid, flags, then the call: number, architecture, address, arguments.
_NOTICE = struct.Struct("=QIIiIQ6Q")
_ANSWER = struct.Struct("=QqiI")
_CONTINUE = 1


def listen(code: bytes) -> int | None:
    """Load the filter that asks, for this thread; return where its questions come.

    None if there can be no such filter here: a process has one listener at most, and
    another sandbox around this one may have it.
    """
    number = _SECCOMP.get(os.uname().machine)
    if number is None:
        return None
    buffer = ctypes.create_string_buffer(code, len(code))
    program = struct.pack("HxxxxxxP", len(code) // 8, ctypes.addressof(buffer))
    found: int = ctypes.CDLL(None).syscall(number, _SET_MODE_FILTER, _NEW_LISTENER, program)
    return found if found >= 0 else None


class Courier:
    """Answers one filter's questions, on a thread that kept its rights."""

    def __init__(self, listener: int) -> None:
        self._listener = listener
        self._groups: dict[int, int] = {}
        threading.Thread(target=self._serve, daemon=True).start()

    def admit(self, groups: list[list[int]]) -> None:
        """Send signals to these groups too, each known by its leader and when that began."""
        if groups:
            self._groups = {each: when for each, when in self._groups.items() if born(each) == when}
        for group, began in groups:
            self._groups[group] = began

    def _serve(self) -> None:
        while True:
            notice = bytearray(_NOTICE.size)
            try:
                fcntl.ioctl(self._listener, _RECEIVE, notice)
                answer = self._answer(notice)
                fcntl.ioctl(self._listener, _SEND, bytearray(answer))
            except FileNotFoundError:
                continue  # whoever asked is gone
            except OSError:
                os.close(self._listener)  # then the kernel answers at once, and nobody waits
                return

    def _answer(self, notice: bytearray) -> bytes:
        asked = _NOTICE.unpack(notice)
        group = -ctypes.c_int32(asked[6] & 0xFFFFFFFF).value
        number = ctypes.c_int32(asked[7] & 0xFFFFFFFF).value
        if not self._is_ours(group):
            return _ANSWER.pack(asked[0], 0, 0, _CONTINUE)
        try:
            os.killpg(group, number)
        except OSError as error:
            return _ANSWER.pack(asked[0], 0, -(error.errno or 1), 0)
        except ValueError:  # no such signal: the kernel says so itself
            return _ANSWER.pack(asked[0], 0, 0, _CONTINUE)
        return _ANSWER.pack(asked[0], 0, 0, 0)

    def _is_ours(self, group: int) -> bool:
        """Whether a group is a job that was named, is still that job, and is restricted itself."""
        began = self._groups.get(group)
        return bool(began) and born(group) == began and _filters(group) > _filters(os.getpid())


def _filters(pid: int) -> int:
    """How many system call filters a process has."""
    try:
        with open(f"/proc/{pid}/status", "rb") as file:
            for line in file:
                if line.startswith(b"Seccomp_filters:"):
                    return int(line.split()[1])
    except (OSError, ValueError, IndexError):
        pass
    return 0
