"""The shell of LangChain's `ShellToolMiddleware`, held by nacre."""

import io
import json
import os
import shutil
import signal
import site
import socket
import subprocess  # noqa: TID251 (what LangChain is to be given)
import sys
import tempfile
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Self

from nacre.adapters.langchain_shell import ERRORS, INPUT, OUTPUT, READY
from nacre.errors import ConfigError, SandboxError

try:
    from langchain.agents.middleware._execution import BaseExecutionPolicy
except ImportError as error:
    raise ConfigError(
        f"LangChain cannot be imported ({error}); pip install 'nacre[langchain]'"
    ) from error

__all__ = ("NacreExecutionPolicy",)

_ROOT = Path(__file__).resolve().parents[2]
# -I and -S keep the workspace and the host's variables out of what is imported. Where the host
# imports from goes last, so that nothing there stands in for the standard library or for us.
_CODE = """\
import sys
sys.path.extend(sys.argv[3:])
from nacre.adapters.langchain_shell import main
main(int(sys.argv[1]), int(sys.argv[2]))
"""
_PYTHON = ("-I", "-S", "-c", _CODE)
_LONGEST_LINE = 1 << 16
_MOST_TOLD = 1 << 16
_Path = str | os.PathLike[str]


@dataclass
class NacreExecutionPolicy(BaseExecutionPolicy):
    """Runs the middleware's shell in a sandbox, and leaves nothing of it when it ends.

    The settings are those of `nacre.Bash`; the workspace is the middleware's. The kernel holds
    the shell. What it is told to do is not read beforehand: guards see nothing of it, and where
    rules would have a say, no shell is started.
    """

    sandbox: str | None = None
    confinement: str | None = None
    network: str | None = None
    write: Sequence[_Path] = ()
    deny_read: Sequence[_Path] = ()
    protect: Sequence[_Path] = ()
    limits: Sequence[str] = ()
    pass_env: Sequence[str] = ()
    state: _Path | None = None

    def spawn(
        self, *, workspace: Path, env: Mapping[str, str], command: Sequence[str]
    ) -> subprocess.Popen[str]:
        """Start a shell; its pid is that of the process that holds it.

        Raises:
            ConfigError: If a setting cannot be used as given.
            SandboxError: If there can be no such shell here.
        """
        if not sys.executable:
            raise ConfigError("no shell can be started: sys.executable names no Python")
        with _folder() as folder, _Ends(folder) as ends:
            order = {
                "command": list(command),
                "folder": folder,
                "environ": dict(env),
                "settings": self._settings(workspace, folder),
            }
            process = _start(order, _search_path(workspace), self.startup_timeout)
            process.stdin, process.stdout, process.stderr = ends.taken()
        return process

    def _settings(self, workspace: Path, folder: str) -> dict[str, object]:
        return {
            "workspace": os.path.abspath(workspace),
            "sandbox": self.sandbox,
            "confinement": self.confinement,
            "network": self.network,
            # The FIFOs' own folder is gone as soon as the shell has them open.
            "write": [*(os.path.abspath(path) for path in self.write), folder],
            "deny_read": [os.path.abspath(path) for path in self.deny_read],
            "protect": [os.path.abspath(path) for path in self.protect],
            "limits": list(self.limits),
            "pass_env": list(self.pass_env),
            "state": None if self.state is None else os.path.abspath(self.state),
        }


class _Ends:
    """Our ends of the three FIFOs of a folder; closed when the block ends, unless taken."""

    def __init__(self, folder: str) -> None:
        self._fds: list[int] = []
        for name in (INPUT, OUTPUT, ERRORS):
            os.mkfifo(os.path.join(folder, name), 0o600)
        # Opened for both, so that there is a reader until the shell is one.
        self._open(folder, INPUT, os.O_RDWR)
        self._open(folder, INPUT, os.O_WRONLY)
        self._open(folder, OUTPUT, os.O_RDONLY | os.O_NONBLOCK)
        self._open(folder, ERRORS, os.O_RDONLY | os.O_NONBLOCK)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for fd in self._fds:
            os.close(fd)

    def taken(self) -> tuple[io.TextIOWrapper, "_Lines", "_Lines"]:
        """Standard input, output and error of the shell, which has opened its ends by now."""
        stdin, output, errors = self._fds[1:]
        del self._fds[1:]
        for fd in (output, errors):
            os.set_blocking(fd, True)
        return (
            open(stdin, "w", encoding="utf-8", errors="replace", buffering=1),
            _Lines(open(output, "rb"), encoding="utf-8", errors="replace"),
            _Lines(open(errors, "rb"), encoding="utf-8", errors="replace"),
        )

    def _open(self, folder: str, name: str, flags: int) -> None:
        self._fds.append(os.open(os.path.join(folder, name), flags | os.O_CLOEXEC))


class _Lines(io.TextIOWrapper):
    """What a shell says, line by line; one that does not end comes in pieces.

    LangChain reads it to its end and leaves it open, so it is closed there.
    """

    if not TYPE_CHECKING:  # two type checkers disagree about what it is that is replaced

        def readline(self, size: int = -1, /) -> str:
            """The next line, or as much of it as is kept in memory at once; nothing at the end."""
            line = "" if self.closed else super().readline(_LONGEST_LINE if size < 0 else size)
            if not line and size:
                self.close()
            return line


@contextmanager
def _folder() -> Generator[str]:
    """A folder that nobody else can enter, for as long as the block lasts."""
    folder = tempfile.mkdtemp(prefix="nacre-shell-")
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _start(
    order: Mapping[str, object], search_path: Sequence[str], seconds: float
) -> subprocess.Popen[str]:
    """Start the process that holds the shell; return when the shell has opened its FIFOs."""
    ours, theirs = socket.socketpair()
    host = os.pidfd_open(os.getpid())
    try:
        process = subprocess.Popen(
            [sys.executable, *_PYTHON, f"{theirs.fileno()}", f"{host}", *search_path],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            pass_fds=(theirs.fileno(), host),
            cwd="/",
            text=True,
            start_new_session=True,
        )
    except BaseException:
        ours.close()
        raise
    finally:
        theirs.close()
        os.close(host)
    try:
        with ours:
            ours.settimeout(seconds)
            _await_ready(ours, json.dumps(order).encode())
    except BaseException:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        raise
    return process


def _await_ready(channel: socket.socket, order: bytes) -> None:
    answer = b""
    try:
        channel.sendall(order)
        channel.shutdown(socket.SHUT_WR)
        while not answer.startswith(READY) and (data := channel.recv(_MOST_TOLD)):
            answer += data
    except TimeoutError:
        answer = b"it was not ready in time; see startup_timeout"
    except OSError as error:
        answer = answer or str(error).encode()
    if not answer.startswith(READY):
        why = answer.decode("utf-8", "replace").strip() or "the process that holds it ended"
        raise SandboxError(f"the shell was not started: {why}")


def _search_path(workspace: Path) -> list[str]:
    """Where this process imports from, without what the shell could write.

    An environment with installed packages is used wherever it is, as it was for this process.
    """
    inside = os.path.join(os.path.realpath(workspace), "")
    installed = site.getsitepackages()
    kept = [
        each
        for each in sys.path
        if each in installed
        or (os.path.isabs(each) and not f"{os.path.realpath(each)}/".startswith(inside))
    ]
    return [str(_ROOT), *kept]
