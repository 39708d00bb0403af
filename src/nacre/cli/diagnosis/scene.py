"""Everything an attack needs to show itself: files, listeners, processes, all made for it."""

import ctypes
import os
import secrets
import shutil
import socket
import stat
import subprocess  # noqa: TID251 (processes that are no script: what scripts must not reach)
import tempfile
import time
from collections.abc import Callable, Mapping
from contextlib import ExitStack, suppress
from functools import partial
from pathlib import Path
from typing import Self

from nacre.process.bash import find_bash

__all__ = ("Scene",)

_MODE, _OPENED_MODE = 0o640, 0o604
_NICE = 7
_REMOVED_WITH_LAST_USE, _NO_COMMAND = 0, None
_GONE_SECONDS = 4.0
_LOOK_SECONDS = 0.02
_DEATH_SECONDS = 1.0
_HOOK = ".git/hooks/post-checkout"


class Scene:
    """A workspace, a folder outside of it, a denied one, and others of the same user.

    What could not be made, because this host itself is held, is not in `given`.
    """

    def __init__(self) -> None:
        self.canary = secrets.token_hex(8)
        self.folder = Path(os.path.realpath(tempfile.mkdtemp(prefix="nacre-doctor-")))
        self.workspace = self.folder / "workspace"
        self.outside = self.folder / "outside"
        self.denied = self.folder / "denied"
        self.given: dict[str, str] = {"canary": self.canary, "scene": self.folder.name}
        self._stack = ExitStack()
        self._stack.callback(shutil.rmtree, self.folder, ignore_errors=True)
        self._ears: dict[str, socket.socket] = {}
        self._screen = -1
        self._victim: subprocess.Popen[bytes] | None = None
        self._doomed: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Self:
        with ExitStack() as undo:
            undo.callback(self._stack.close)
            self._make_files()
            for make in (self._make_ears, self._make_processes, self._make_memory, self._make_tty):
                with suppress(OSError):
                    make()
            undo.pop_all()
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def _make_files(self) -> None:
        for folder in (self.workspace / ".git/hooks", self.outside, self.denied):
            folder.mkdir(parents=True)
        for name in ("objects", "refs"):
            (self.workspace / ".git" / name).mkdir()
        (self.workspace / ".git/HEAD").write_text("ref: refs/heads/main\n", "ascii")
        (self.workspace / ".git/config").write_text("[core]\n\tbare = false\n", "ascii")
        self._kept = self.outside / "kept"
        self._kept.touch()
        self._kept.chmod(_MODE)
        secret = self.denied / "secret"
        secret.write_text(self.canary, "ascii")
        # One that a careless program would pass on.
        held = os.open(secret, os.O_RDONLY)
        self._stack.callback(os.close, held)
        os.set_inheritable(held, True)
        self.given |= {
            "outside": str(self._kept),
            "mode": f"{_OPENED_MODE:o}",
            "denied": str(secret),
            "held": str(secret),
            "hook": str(self.workspace / _HOOK),
            "large": str(self.workspace / "large"),
        }

    def _make_ears(self) -> None:
        path = str(self.outside / "ear")
        for name, family, kind, where in (
            ("unix", socket.AF_UNIX, socket.SOCK_STREAM, path),
            ("tcp", socket.AF_INET, socket.SOCK_STREAM, ("127.0.0.1", 0)),
            ("udp", socket.AF_INET, socket.SOCK_DGRAM, ("127.0.0.1", 0)),
        ):
            with suppress(OSError):
                ear = self._stack.enter_context(socket.socket(family, kind))
                ear.bind(where)
                ear.setblocking(False)
                if kind == socket.SOCK_STREAM:
                    ear.listen()
                self._ears[name] = ear
                self.given[name] = path if name == "unix" else str(ear.getsockname()[1])

    def _make_processes(self) -> None:
        """Two that wait for a line that never comes, and end when we do."""
        bash = find_bash()
        if bash is None:
            return
        for name in ("victim", "doomed"):
            process = subprocess.Popen(
                [bash, "-c", "read -r", self.canary],
                env={"CANARY": self.canary},
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
            )
            self._stack.callback(_end, process)
            self.given[name] = str(process.pid)
            if name == "victim":
                self._victim = process
            else:
                self._doomed = process
        self.given["nice"] = str(_NICE)

    def _make_memory(self) -> None:
        libc = ctypes.CDLL(None, use_errno=True)
        libc.shmat.restype = ctypes.c_void_p
        segment: int = libc.shmget(0, 4096, 0o600)
        if segment < 0:
            return
        address = libc.shmat(segment, None, 0)
        libc.shmctl(segment, _REMOVED_WITH_LAST_USE, _NO_COMMAND)
        if address is None or address == ctypes.c_void_p(-1).value:
            return
        self._stack.callback(libc.shmdt, ctypes.c_void_p(address))
        ctypes.memmove(address, self.canary.encode(), len(self.canary))
        self.given["segment"] = str(segment)

    def _make_tty(self) -> None:
        self._screen, terminal = os.openpty()
        self._stack.callback(os.close, self._screen)
        self._stack.callback(os.close, terminal)
        os.set_blocking(self._screen, False)
        self.given["terminal"] = os.ttyname(terminal)

    def has(self, name: str) -> bool:
        """Whether there is something to try an attack on."""
        return _ON.get(name, "canary") in self.given

    def breached(self, name: str, *, went: bool, said: str) -> bool:
        """Whether an attack went through, by what can be seen from here if anything can."""
        looks: Mapping[str, Callable[[], bool]] = {
            "write": lambda: self._kept.stat().st_size > 0,
            "metadata": lambda: stat.S_IMODE(self._kept.stat().st_mode) != _MODE,
            "protected": (self.workspace / _HOOK).exists,
            "tcp": lambda: self._heard("tcp"),
            "udp": lambda: self._heard("udp"),
            "unix_sockets": lambda: self._heard("unix"),
            "signals": partial(self._died, certain=went),
            "scheduling_of_others": self._is_nicer,
            "terminals": self._is_shown,
            "lifetime": self._survived,
            # What was to be got is the proof that it was got.
            **dict.fromkeys(_READING, lambda: went and self.canary in said),
        }
        return looks[name]() if name in looks else went

    def _heard(self, name: str) -> bool:
        ear = self._ears[name]
        with suppress(BlockingIOError):
            if ear.type == socket.SOCK_DGRAM:
                return bool(ear.recv(64))
            peer, _ = ear.accept()
            peer.close()
            return True
        return False

    def _died(self, *, certain: bool) -> bool:
        if self._doomed is None:
            return False
        with suppress(subprocess.TimeoutExpired):
            self._doomed.wait(_DEATH_SECONDS if certain else 0)
        return self._doomed.returncode is not None

    def _is_nicer(self) -> bool:
        return (
            self._victim is not None and os.getpriority(os.PRIO_PROCESS, self._victim.pid) == _NICE
        )

    def _is_shown(self) -> bool:
        with suppress(OSError):
            return self.canary.encode() in os.read(self._screen, 4096)
        return False

    def _survived(self) -> bool:
        """Whether a process of the script is still there, given the time that is promised."""
        deadline = time.monotonic() + _GONE_SECONDS
        while found := self._left_behind():
            if time.monotonic() > deadline:
                for pid in found:
                    with suppress(OSError):
                        os.kill(pid, 9)
                return True
            time.sleep(_LOOK_SECONDS)  # noqa: TID251 (nobody tells of the end of a stranger)
        return False

    def _left_behind(self) -> list[int]:
        found: list[int] = []
        for entry in os.listdir("/proc"):
            if entry.isdecimal():
                with suppress(OSError):
                    words = Path(f"/proc/{entry}/cmdline").read_bytes()
                    if f'"scene": "{self.folder.name}"'.encode() in words:
                        found.append(int(entry))
        return found


# What an attack is tried on, where this host may not have it.
_ON = {
    "tcp": "tcp",
    "udp": "udp",
    "unix_sockets": "unix",
    "signals": "doomed",
    "scheduling_of_others": "victim",
    "memory_of_others": "victim",
    "view_of_others": "victim",
    "ipc": "segment",
    "terminals": "terminal",
}
_READING = ("read", "view_of_others", "memory_of_others", "ipc", "environment")


def _end(process: "subprocess.Popen[bytes]") -> None:
    process.kill()
    with process:  # closes its pipe, and waits
        pass
