"""A host in a process of its own, which makes the calls it is told of: a line of JSON for each.

Started by `Host`, which is this process's side of it.
"""

import json
import subprocess  # noqa: TID251 (other hosts)
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Self

import anyio

from nacre.cli.benchmarks.row import FailedToRunError
from nacre.tool import Bash, ToolContext

__all__ = ("Answer", "Host")

# However slow the machine is: then something hangs.
_PATIENCE_SECONDS = 600


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What came of one call, and how long it took there."""

    text: str
    details: Mapping[str, object]
    seconds: float


class Host:
    """A process with a tool of its own, on a state directory that it may share."""

    def __init__(self, state: str, sandbox: str, conversation: str = "bench") -> None:
        words = (sys.executable, "-m", "nacre.cli.benchmarks.host", state, sandbox, conversation)
        self._process = subprocess.Popen(
            words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._process.poll() is None:
            self._process.kill()
            self._process.communicate()

    def call(self, tool: str, **arguments: object) -> Answer:
        """Have one call made, and wait for its reply.

        Raises:
            FailedToRunError: If it is an error, or if the process has ended.
        """
        process = self._process
        if process.stdin is None or process.stdout is None:
            raise FailedToRunError("a host cannot be spoken to")
        process.stdin.write(json.dumps([tool, arguments]) + "\n")
        process.stdin.flush()
        return _answer(process.stdout.readline() or process.communicate()[1])

    def end(self) -> None:
        """Have it close its tool, and wait for the end.

        Raises:
            FailedToRunError: If that is not well.
        """
        _, errors = self._process.communicate(timeout=_PATIENCE_SECONDS)
        if self._process.returncode or errors:
            text = f"a host ended with {self._process.returncode}: {errors.strip()}"
            raise FailedToRunError(text)


def _answer(line: str) -> Answer:
    try:
        told = json.loads(line)
    except ValueError as error:
        raise FailedToRunError(f"a host said {line.strip()!r}") from error
    if told["is_error"]:
        raise FailedToRunError(f"a call that must succeed was answered {told['text']!r}")
    return Answer(text=told["text"], details=told["details"], seconds=told["seconds"])


async def _serve(state: str, sandbox: str, conversation: str) -> None:
    async with Bash(state=state, workspace=f"{state}/workspace", sandbox=sandbox) as tool:
        context = ToolContext(working_dir=f"{state}/workspace", conversation=conversation)
        for line in sys.stdin:
            name, arguments = json.loads(line)
            began = time.perf_counter()
            reply = await tool.call(name, arguments, context)
            told = {
                "seconds": time.perf_counter() - began,
                "is_error": reply.is_error,
                "text": reply.text,
                "details": dict(reply.details or {}),
            }
            sys.stdout.write(json.dumps(told) + "\n")
            sys.stdout.flush()


if __name__ == "__main__":
    _, own_state, own_sandbox, own_conversation = sys.argv
    anyio.run(_serve, own_state, own_sandbox, own_conversation)
