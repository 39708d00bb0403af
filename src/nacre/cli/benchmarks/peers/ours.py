"""nacre among the others, as it is when nothing is set but the sandbox."""

import time
from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, asynccontextmanager
from functools import partial
from pathlib import Path

from nacre.cli.benchmarks.peers.entrant import Answer, Entrant, Kind, Racer, Shell
from nacre.cli.benchmarks.subject import details_of
from nacre.tool import Bash

__all__ = ("our_racers",)

_SANDBOXES = ("landlock", "bubblewrap")


@asynccontextmanager
async def our_racers(scratch: Path) -> AsyncGenerator[list[Racer]]:
    """A tool for each sandbox that this host has, for the length of the block."""
    async with AsyncExitStack() as stack:
        racers: list[Racer] = []
        for sandbox in _SANDBOXES:
            entrant = Entrant(
                name=f"nacre {sandbox}", kind=Kind.NACRE, shell=Shell.FRESH, confined=True
            )
            workspace = scratch / sandbox
            workspace.mkdir()
            tool = await stack.enter_async_context(
                Bash(state=scratch / f"{sandbox}-state", workspace=workspace, sandbox=sandbox)
            )
            first = await tool.call("Bash", {"command": "true"})
            if (first.details or {}).get("outcome") == "unstarted":
                racers.append(Racer(entrant=entrant, why_not=first.text))
            else:
                racers.append(Racer(entrant=entrant, call=partial(_call, tool)))
        yield racers


async def _call(tool: Bash, script: str) -> Answer:
    began = time.perf_counter()
    reply = await tool.call("Bash", {"command": script})
    seconds = time.perf_counter() - began
    details_of(reply)
    return Answer(seconds, reply.text)
