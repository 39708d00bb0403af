"""Tell a client that waits that its call is alive."""

from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager

import anyio
from mcp.server.context import ServerRequestContext

from nacre.server.beside import beside

__all__ = ("BEAT_SECONDS", "heartbeat")

# Clients that count their patience anew with each sign of life have a minute or more.
BEAT_SECONDS = 5.0

_Context = ServerRequestContext[object, object]


@asynccontextmanager
async def heartbeat(
    ctx: _Context, said: Callable[[], int], every: float = BEAT_SECONDS
) -> AsyncGenerator[None]:
    """Send progress during the block, to a client that asked for it: seconds, and bytes of output."""
    if not ctx.meta or "progress_token" not in ctx.meta:
        yield
        return
    began = anyio.current_time()

    async def beat() -> None:
        while True:
            await anyio.sleep(every)
            seconds = anyio.current_time() - began
            message = f"running for {seconds:.0f} s, {said()} bytes of output"
            await ctx.session.report_progress(round(seconds, 3), None, message)

    async with beside(beat):
        yield
