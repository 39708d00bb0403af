"""The tools of one dialect, called as an agent calls them."""

import anyio

from nacre import Bash, Reply

__all__ = ("completed", "look", "run", "start", "until")

_PATIENCE = 10.0


async def run(tool: Bash, command: str, **more: object) -> Reply:
    """Run a command, described as it must be."""
    return await tool.call("Bash", {"command": command, "description": "try it", **more})


async def start(tool: Bash, command: str, **more: object) -> str:
    """Start a command in the background; return its shell_id."""
    reply = await run(tool, command, run_in_background=True, **more)
    assert not reply.is_error, reply.text
    first, _, _ = reply.text.partition("\n")
    return first.removeprefix("shell_id: ")


async def look(tool: Bash, shell_id: str) -> Reply:
    """Ask for all that a shell said."""
    return await tool.call("BashOutput", {"shell_id": shell_id})


async def until(tool: Bash, shell_id: str, text: str) -> Reply:
    """Ask until the answer has a text in it."""
    with anyio.fail_after(_PATIENCE):
        while text not in (reply := await look(tool, shell_id)).text:
            await anyio.sleep(0.01)
    return reply


async def completed(tool: Bash, shell_id: str) -> Reply:
    """Ask until a shell has ended."""
    return await until(tool, shell_id, "\nstatus: completed ")
