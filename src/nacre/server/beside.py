"""Do something for as long as something else takes."""

from collections.abc import AsyncGenerator, Callable, Coroutine
from contextlib import asynccontextmanager

import anyio

__all__ = ("beside",)


@asynccontextmanager
async def beside(work: Callable[[], Coroutine[object, object, None]]) -> AsyncGenerator[None]:
    """Have work done for the length of a block.

    What the block raises is raised as it is: a task group would wrap it.
    """
    failure: Exception | None = None
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(work)
        try:
            yield
        except Exception as error:  # noqa: BLE001 (raised below)
            failure = error
        tasks.cancel_scope.cancel()
    if failure is not None:
        raise failure
