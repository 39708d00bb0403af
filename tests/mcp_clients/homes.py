"""A home of its own for each client: settings, a workspace, variables, and an end."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from mcp_conformance.npm import node

__all__ = ("Done", "Home")

_MOST_SECONDS = 90.0
_END_SECONDS = 10.0
_LOOK_SECONDS = 0.05
# Where nothing listens: whoever asks for anything but this machine is refused at once.
_NOWHERE = "http://127.0.0.1:9"


@dataclass(frozen=True, slots=True)
class Done:
    """How a program ended, and what it printed."""

    code: int | None
    stdout: str
    stderr: str

    def __str__(self) -> str:
        """For whoever has to find out why."""
        how = f"exited {self.code}" if self.code is not None else "was ended after its time"
        return f"{how}: {(self.stdout + self.stderr)[-2000:]}"


class Home:
    """A folder that a client takes for its user's, and nothing of the real one."""

    def __init__(self, folder: Path, programs: Path) -> None:
        self.folder = folder
        self.workspace = folder / "workspace"
        self.workspace.mkdir(parents=True)
        path = (Path(sys.executable).parent, programs, node().parent)
        self._variables = {
            "HOME": str(folder),
            "PATH": os.pathsep.join([*map(str, path), os.defpath]),
            "LANG": "C.UTF-8",
            "TERM": "dumb",
            "HTTP_PROXY": _NOWHERE,
            "HTTPS_PROXY": _NOWHERE,
            "NO_PROXY": "127.0.0.1,localhost",
        }

    def write(self, name: str, content: str | Mapping[str, object]) -> Path:
        """A file in this home; a mapping as JSON."""
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content if isinstance(content, str) else json.dumps(content), "utf-8")
        return path

    def run(self, *words: str, **variables: str) -> Done:
        """Run a program in the workspace, for a minute and a half at most."""
        process = subprocess.Popen(
            words,
            cwd=self.workspace,
            env={**self._variables, **variables},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        try:
            stdout, stderr = process.communicate(timeout=_MOST_SECONDS)
        except subprocess.TimeoutExpired:
            self.end()
            stdout, stderr = process.communicate()
            return Done(None, stdout, stderr)
        return Done(process.returncode, stdout, stderr)

    def left(self) -> list[str]:
        """What still runs when a client has ended, and does not end soon; the command lines."""
        deadline = time.monotonic() + _END_SECONDS
        while (found := self._processes()) and time.monotonic() < deadline:
            signal.sigtimedwait([], _LOOK_SECONDS)
        return [line for pid in found if (line := _read(pid, "cmdline"))]

    def end(self) -> None:
        """End whatever was started here."""
        while found := self._processes():
            for pid in found:
                with suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
            signal.sigtimedwait([], _LOOK_SECONDS)

    def _processes(self) -> list[int]:
        mark = f" HOME={self.folder} "
        pids = [int(entry) for entry in os.listdir("/proc") if entry.isdecimal()]
        return [pid for pid in pids if mark in f" {_read(pid, 'environ')} "]


def _read(pid: int, what: str) -> str:
    """The words of a process, or its variables; nothing, if it is gone."""
    with suppress(OSError):
        return (
            Path(f"/proc/{pid}/{what}").read_bytes().replace(b"\0", b" ").decode(errors="replace")
        )
    return ""
