"""Other processes that use nacre: hosts of their own, which a test can kill."""

import os
import subprocess
import sys
import textwrap
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

__all__ = ("Finished", "finish", "nacre", "start_host")


@dataclass(frozen=True, slots=True, kw_only=True)
class Finished:
    """How a process ended and what it printed."""

    code: int
    out: str
    err: str


def start_host(
    code: str, state: Path, *, stderr: int | None = None, **variables: str
) -> subprocess.Popen[bytes]:
    """Start Python code as a process of its own; it talks on standard output."""
    return subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(code)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=stderr,
        env={**os.environ, "NACRE_STATE": str(state), **variables},
    )


def finish(process: subprocess.Popen[bytes]) -> None:
    """Kill a host, as nothing but SIGKILL can."""
    process.kill()
    process.wait()
    for stream in (process.stdin, process.stdout):
        if stream is not None:
            stream.close()


def nacre(*words: str, state: Path, variables: Mapping[str, str] | None = None) -> Finished:
    """Run the command line and wait for it."""
    done = subprocess.run(
        [sys.executable, "-m", "nacre", *words],
        check=False,
        capture_output=True,
        stdin=subprocess.DEVNULL,
        timeout=60,
        env={**os.environ, "NACRE_STATE": str(state), **(variables or {})},
    )
    return Finished(code=done.returncode, out=done.stdout.decode(), err=done.stderr.decode())
