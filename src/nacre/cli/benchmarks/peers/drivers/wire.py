"""A driver's end of the wire: it makes one call of its peer for each line, and says how long it took.

A driver runs under its peer's own Python, in a process of its own, and imports nothing of nacre. What is said
is JSON, a line each:

    driver  {"version": "1.4.0"}                  once, when the peer is ready
    host    "echo 42"                             a script
    driver  {"seconds": 0.0011, "output": "42"}   what the peer's own call took, and what it gave back

At the end of its input a driver ends. If it cannot go on, it exits, and the last line of its standard error
says why.
"""

import json
import os
import sys
from collections.abc import Iterator
from importlib.metadata import version

__all__ = ("Wire",)


class Wire:
    """The wire, from before the peer is imported: peers print banners and logs on standard output."""

    def __init__(self) -> None:
        self._answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
        os.dup2(2, 1)

    def ready(self, package: str) -> None:
        """Say that the peer is ready, and which it is."""
        self.ready_as(version(package))

    def ready_as(self, name: str) -> None:
        """Say that the peer is ready, if no package of this Python has its version."""
        self._say({"version": name})

    def __iter__(self) -> Iterator[str]:
        """The scripts, as they come."""
        for line in sys.stdin:
            yield str(json.loads(line))

    def answer(self, seconds: float, output: object) -> None:
        """Say what the last script has come to."""
        self._say({"seconds": seconds, "output": str(output)})

    def _say(self, message: dict[str, object]) -> None:
        self._answers.write(f"{json.dumps(message)}\n")
        self._answers.flush()
