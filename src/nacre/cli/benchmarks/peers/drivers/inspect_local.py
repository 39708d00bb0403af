# pyright: basic, reportMissingImports=false
"""inspect-ai: its sandbox `local`, which holds nothing; a fresh process for each call."""

import asyncio
from time import perf_counter

from wire import Wire


async def main() -> None:
    """Answer until the input ends."""
    wire = Wire()
    from inspect_ai.util._sandbox.local import LocalSandboxEnvironment

    sandboxes = await LocalSandboxEnvironment.sample_init("bench", None, {})
    wire.ready("inspect-ai")
    for script in wire:
        began = perf_counter()
        result = await sandboxes["default"].exec(["bash", "-c", script])
        wire.answer(perf_counter() - began, result.stdout)
    await LocalSandboxEnvironment.sample_cleanup("bench", None, sandboxes, interrupted=False)


asyncio.run(main())
