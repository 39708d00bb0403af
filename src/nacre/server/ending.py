"""When a server is to end."""

import signal
from collections.abc import AsyncGenerator

import anyio

__all__ = ("told_to_end",)

_SIGNALS = (signal.SIGHUP, signal.SIGINT, signal.SIGTERM)


async def told_to_end() -> AsyncGenerator[None]:
    """Each time that somebody asks this process to end, as long as it is listened to."""
    with anyio.open_signal_receiver(*_SIGNALS) as signals:
        async for _ in signals:
            yield
