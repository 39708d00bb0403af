# pyright: basic, reportMissingImports=false
"""The Anthropic SDK: the tool `bash` of its agent toolset; a shell kept open."""

import asyncio
from time import perf_counter

from wire import Wire


async def main() -> None:
    """Answer until the input ends."""
    wire = Wire()
    from anthropic.lib.tools.agent_toolset import AgentToolContext, beta_bash_tool

    async with AgentToolContext() as context:
        bash = beta_bash_tool(context)
        wire.ready("anthropic")
        for script in wire:
            began = perf_counter()
            said = await bash.call({"command": script})
            wire.answer(perf_counter() - began, said)


asyncio.run(main())
