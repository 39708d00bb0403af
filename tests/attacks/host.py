"""A host of its own: runs the scripts it is told to, one JSON object a line, and answers in kind."""

import json
import os
import sys
from typing import cast

import anyio
import anyio.to_thread

from nacre import Bash, ToolContext

_INHERITABLE = 47


class Host:
    """A tool for each kind of request; where the workspace is new, the context names it."""

    def __init__(self, sandbox: str, state: str) -> None:
        self._sandbox = sandbox
        self._state = state
        self._tools: dict[str, Bash] = {}

    async def answer(self, request: dict[str, object]) -> dict[str, object]:
        """Run one script."""
        tool = self._tool_for(request)
        reply = await tool.call(
            "Bash",
            {"command": request["script"], "timeout": request["seconds"]},
            ToolContext(working_dir=str(request["cwd"])),
        )
        return {"text": reply.text, "details": reply.details}

    async def close(self) -> None:
        """Let go of the tools."""
        for tool in self._tools.values():
            await tool.aclose()

    def _tool_for(self, request: dict[str, object]) -> Bash:
        fixed = ("workspace", "protect", "deny_read")
        key = json.dumps([request[name] for name in fixed])
        if key not in self._tools:
            self._tools[key] = Bash(
                workspace=cast("str | None", request["workspace"]),
                sandbox=self._sandbox,
                deny_read=cast("list[str]", request["deny_read"]),
                protect=cast("list[str]", request["protect"]),
                on_timeout="kill",
                state=self._state,
            )
        return self._tools[key]


async def main() -> None:
    sandbox, state, kept, terminal = sys.argv[1:5]
    os.open(terminal, os.O_RDWR)  # the first of a session is its controlling one
    os.dup2(os.open(kept, os.O_WRONLY | os.O_APPEND), _INHERITABLE, inheritable=True)
    host = Host(sandbox, state)
    while line := await anyio.to_thread.run_sync(sys.stdin.readline):
        answer = await host.answer(json.loads(line))
        sys.stdout.write(json.dumps(answer) + "\n")
        sys.stdout.flush()
    await host.close()


if __name__ == "__main__":
    anyio.run(main)
