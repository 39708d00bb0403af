"""One bash for everything that the host itself is asked: what comes before an attempt, and after."""

import select
import subprocess
import time
from collections.abc import Mapping
from pathlib import Path

from attacks.runners import BASH

__all__ = ("Shell",)

_SECONDS = 20.0
_LOOP = """
repository() { mkdir -p "$1" && cp -a "$REPOSITORY" "$1/.git"; }
while IFS= read -r -d '' folder && IFS= read -r -d '' script; do
  (cd "$folder" && eval "$script") </dev/null >/dev/null 2>&1
  echo $?
done
"""


class Shell:
    """Runs short scripts in turn, each in a subshell; `repository FOLDER` makes one for git."""

    def __init__(self, environ: Mapping[str, str], repository: Path) -> None:
        subprocess.run(
            ["git", "init", "-q", "--template=", repository.parent],
            check=True,
            env=environ,
            capture_output=True,
        )
        for name in ("hooks", "info"):
            (repository / name).mkdir(exist_ok=True)
        self._process = subprocess.Popen(
            [BASH, "-c", _LOOP],
            env={**environ, "REPOSITORY": str(repository)},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            bufsize=0,
            start_new_session=True,
        )

    def run(self, script: str, folder: Path) -> int:
        """Run one in a folder, and return its exit status."""
        if not script:
            return 0
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(f"{folder}\0{script}\0".encode())
        answer = b""
        deadline = time.monotonic() + _SECONDS
        while not answer.endswith(b"\n"):
            left = max(0.0, deadline - time.monotonic())
            assert select.select([self._process.stdout], [], [], left)[0], f"no end: {script}"
            piece = self._process.stdout.read(100)
            assert piece, f"the shell is gone: {script}"
            answer += piece
        return int(answer)

    def close(self) -> None:
        """End it."""
        for stream in (self._process.stdin, self._process.stdout):
            if stream is not None:
                stream.close()
        self._process.wait()
