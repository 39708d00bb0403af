"""A place where any script can be run: what it calls is written down, and nothing else happens."""

import json
import subprocess
import sys
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Self, TypedDict

__all__ = ("Call", "Namespace", "Run", "lack")

Call = tuple[str, ...]
"""A program's name without folders, and its arguments."""

_DRIVER = Path(__file__).with_name("driver.py")


class _Answer(TypedDict):
    calls: list[list[str]]
    status: int | None
    refused: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """What happened: the fakes that ran, and the exit code (none if it was killed with all it left).

    `refused` says why the script could not be given to bash at all.
    """

    calls: tuple[Call, ...]
    status: int | None
    refused: str = ""


class Namespace:
    """A driver in namespaces of its own, which runs one script after another."""

    def __init__(self) -> None:
        self._driver = subprocess.Popen(
            [sys.executable, "-I", str(_DRIVER)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        greeting: dict[str, str | None] = json.loads(self._read() or '{"lack": "it ended"}')
        self.lack = greeting["lack"]

    def __enter__(self) -> Self:
        if self.lack:
            self.close()
            raise RuntimeError(f"no place to run scripts in: {self.lack}")
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def run(self, script: str) -> Run:
        """Run a script as `bash -c` would; it and everything it started is over afterwards."""
        stdin = self._driver.stdin
        assert stdin is not None
        stdin.write(json.dumps(script) + "\n")
        stdin.flush()
        answer: _Answer = json.loads(self._read())
        return Run(
            calls=tuple(tuple(call) for call in answer["calls"]),
            status=answer["status"],
            refused=answer["refused"],
        )

    def close(self) -> None:
        """End the driver, and with it everything in its namespaces."""
        self._driver.kill()
        self._driver.wait()
        for stream in (self._driver.stdin, self._driver.stdout):
            if stream is not None:
                stream.close()

    def _read(self) -> str:
        stdout = self._driver.stdout
        assert stdout is not None
        return stdout.readline()


@cache
def lack() -> str | None:
    """Say what keeps this host from running scripts safely, if anything does."""
    if sys.platform != "linux":
        return "scripts are run in namespaces of Linux only"
    place = Namespace()
    place.close()
    return place.lack and f"a private namespace cannot be made here ({place.lack})"
