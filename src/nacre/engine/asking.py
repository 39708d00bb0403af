"""Wait for a person's answer, or for the call to be cancelled."""

import os
from collections.abc import Awaitable, Callable

from nacre.model.approval import Answer, Question
from nacre.process.cancel import CancelToken
from nacre.process.waits import is_alone

__all__ = ("ask",)


async def ask(
    approve: Callable[[Question], Awaitable[Answer]], question: Question, cancel: CancelToken | None
) -> Answer | None:
    """Have a question answered; None if the call was cancelled first.

    What the one who is asked raises, is raised.
    """
    if cancel is not None and cancel.cancelled:
        return None
    if cancel is None or is_alone():  # then nobody else is there to cancel it
        return await approve(question)
    import anyio

    answer: Answer | None = None
    failure: BaseException | None = None
    # Of its own: several calls may hold one token, and only one task may wait for a descriptor.
    cancelled = os.dup(cancel.fileno())
    try:
        async with anyio.create_task_group() as tasks:

            async def give_up() -> None:
                await anyio.wait_readable(cancelled)
                tasks.cancel_scope.cancel()

            tasks.start_soon(give_up)
            try:
                answer = await approve(question)
            except (Exception, KeyboardInterrupt, SystemExit) as error:  # noqa: BLE001 (a task group would wrap it)
                failure = error
            tasks.cancel_scope.cancel()
    finally:
        os.close(cancelled)
    if failure is not None:
        raise failure
    return answer
