"""A thread that gave up its rights, and spawns what must not have them.

Part of the warden. Landlock, seccomp, no_new_privs and capabilities bind the thread that
asks for them, and pass to what it spawns; the other threads of the warden keep theirs. So
a confinement costs nothing when a script is started.
"""

from __future__ import annotations

import binascii
import ctypes
import os
import queue
import signal
import stat
import struct
import subprocess
import threading

TYPE_CHECKING = False  # importing typing would cost a tenth of the start
if TYPE_CHECKING:
    from typing import Any

    from nacre.process.courier import Courier

__all__ = ("RestrictedThread", "spawn_room", "spawn_shell")

_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446
_PATH_BENEATH = 1
# Rights that a rule on something other than a folder may have.
_FILE_RIGHTS = 1 << 0 | 1 << 1 | 1 << 2 | 1 << 14 | 1 << 15 | 1 << 16
_PR_CAPBSET_DROP, _PR_SET_NO_NEW_PRIVS, _PR_SET_SECCOMP, _PR_CAP_AMBIENT = 24, 38, 22, 47
_CAP_AMBIENT_CLEAR_ALL = 4
_SECCOMP_MODE_FILTER = 2
_CAPABILITY_VERSION_3 = 0x20080522
_LAST_CAPABILITY = 63
_CHILD = frozenset({signal.SIGCHLD})
# As the maker of the filter writes the numbers of this thread and this process.
_STAND_INS = (0x7ACE0001, 0x7ACE0002)


def spawn_shell(request: dict[str, Any], stdin: int, outputs: list[int]) -> int:
    """Start the program of a request from this thread; return its pid."""
    child = subprocess.Popen(
        request["argv"],
        executable=request["executable"],
        stdin=stdin,
        stdout=outputs[0],
        stderr=outputs[-1],
        cwd=request["cwd"],
        env=request["environ"],
        pass_fds=request.get("passed", ()),
        start_new_session=True,
    )
    child.returncode = 0  # reaped by the warden with all the others
    return child.pid


def spawn_room(argv: list[str], null: int, fds: list[int]) -> int:
    """Start a room: the words `{0}`, `{1}` ... stand for descriptors it inherits.

    The last descriptor is for what it has to complain about.
    """
    for fd in fds:
        os.set_inheritable(fd, True)
    child = subprocess.Popen(
        [word.format(*fds) if word.startswith("{") else word for word in argv],
        # A launcher's own variables can be read inside its namespaces, at /proc/1/environ.
        env={"LC_ALL": "C.UTF-8"},
        stdin=null,
        stdout=null,
        stderr=fds[-1],
        pass_fds=fds,
        cwd="/",
        start_new_session=True,
    )
    child.returncode = 0
    return child.pid


class RestrictedThread:
    """Restricts itself once, and from then on does nothing but spawn.

    Raises:
        OSError: If the kernel refuses one of the restrictions.
    """

    def __init__(self, restriction: dict[str, Any]) -> None:
        self._tasks: queue.SimpleQueue[tuple[dict[str, Any], int, list[int]]] = queue.SimpleQueue()
        self._answers: queue.SimpleQueue[int | Exception] = queue.SimpleQueue()
        self._courier: Courier | None = None
        self._listener: int | None = None
        threading.Thread(target=self._live, args=(restriction,), daemon=True).start()
        self._answer()
        if self._listener is not None:
            from nacre.process.courier import Courier

            self._courier = Courier(self._listener)  # here, on a thread that has its rights

    def spawn(self, request: dict[str, Any], stdin: int, outputs: list[int]) -> int:
        """Start the program of a request with this thread's rights; return its pid.

        Raises:
            OSError: If it cannot be started.
        """
        if self._courier is not None:
            self._courier.admit(request["jobs"])
        self._tasks.put((request, stdin, outputs))
        return self._answer()

    def _answer(self) -> int:
        answer = self._answers.get()
        if isinstance(answer, Exception):
            raise answer
        return answer

    def _live(self, restriction: dict[str, Any]) -> None:
        signal.pthread_sigmask(signal.SIG_BLOCK, _CHILD)
        try:
            self._listener = _restrict(restriction)
        except Exception as error:  # noqa: BLE001 (told to the thread that waits for it)
            self._answers.put(error)
            return
        self._answers.put(0)
        while True:
            task = self._tasks.get()
            # Of the end of its child the kernel tells the thread that spawned it, and this one would
            # have to wake the other. What is spawned inherits what is blocked.
            signal.pthread_sigmask(signal.SIG_UNBLOCK, _CHILD)
            try:
                answer: int | Exception = spawn_shell(*task)
            except Exception as error:  # noqa: BLE001 (as above)
                answer = error
            signal.pthread_sigmask(signal.SIG_BLOCK, _CHILD)
            self._answers.put(answer)


def _restrict(restriction: dict[str, Any]) -> int | None:
    """Give up rights, in the order in which each step is still allowed.

    Returns where questions about signals come, if there are to be any.
    """
    libc = ctypes.CDLL(None, use_errno=True)
    _check(libc.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), "no_new_privs")
    ruleset = _ruleset(libc, restriction)
    _drop_capabilities(libc)
    if ruleset is not None:
        _check(libc.syscall(_RESTRICT_SELF, ruleset, 0), "landlock_restrict_self")
        os.close(ruleset)
    # Before the other one, which closes the call that loads it.
    listener = _listener(binascii.a2b_base64(restriction["asking"]))
    code = _with_numbers(binascii.a2b_base64(restriction["program"]))
    if code:
        buffer = ctypes.create_string_buffer(code, len(code))
        program = struct.pack("HxxxxxxP", len(code) // 8, ctypes.addressof(buffer))
        _check(
            libc.prctl(_PR_SET_SECCOMP, _SECCOMP_MODE_FILTER, program, 0, 0),
            "seccomp",
        )
    return listener


def _listener(code: bytes) -> int | None:
    if not code:
        return None
    from nacre.process.courier import listen

    return listen(code)


def _with_numbers(code: bytes) -> bytes:
    """A filter that knows which thread loads it, and of which process."""
    for stand_in, number in zip(_STAND_INS, (threading.get_native_id(), os.getpid()), strict=True):
        code = code.replace(struct.pack("=I", stand_in), struct.pack("=I", number))
    return code


def _ruleset(libc: ctypes.CDLL, restriction: dict[str, Any]) -> int | None:
    masks = [restriction["fs"], restriction["net"], restriction["scope"]]
    while masks and not masks[-1]:
        masks.pop()  # an old kernel knows a shorter structure
    if not masks:
        return None
    handled = struct.pack(f"={len(masks)}Q", *masks)
    ruleset: int = libc.syscall(_CREATE_RULESET, handled, len(handled), 0)
    _check(ruleset, "landlock_create_ruleset")
    for path, access in restriction["rules"]:
        _add_rule(libc, ruleset, path, access)
    return ruleset


def _add_rule(libc: ctypes.CDLL, ruleset: int, path: str, access: int) -> None:
    try:
        beneath = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except (FileNotFoundError, NotADirectoryError, PermissionError):
        return  # what cannot be reached needs no grant
    try:
        if not stat.S_ISDIR(os.fstat(beneath).st_mode):
            access &= _FILE_RIGHTS
        if access:
            rule = struct.pack("=Qi", access, beneath)
            _check(libc.syscall(_ADD_RULE, ruleset, _PATH_BENEATH, rule, 0), f"a rule for {path}")
    finally:
        os.close(beneath)


def _drop_capabilities(libc: ctypes.CDLL) -> None:
    """Give up every capability, and the means to get one by executing something as root."""
    libc.prctl(_PR_CAP_AMBIENT, _CAP_AMBIENT_CLEAR_ALL, 0, 0, 0)
    for capability in range(_LAST_CAPABILITY + 1):
        # Refused without CAP_SETPCAP: with no_new_privs, exec cannot raise any either.
        libc.prctl(_PR_CAPBSET_DROP, capability, 0, 0, 0)
    header = struct.pack("=Ii", _CAPABILITY_VERSION_3, 0)
    _check(libc.capset(header, bytes(24)), "capset")


def _check(result: int, what: str) -> None:
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{os.strerror(number)} ({what})")
