"""Wait for a person's answer, or for the call to be cancelled."""

from collections.abc import Awaitable, Callable

import anyio

from nacre.model.approval import Answer, Question
from nacre.process.cancel import CancelToken

__all__ = ("ask",)


async def ask(
    approve: Callable[[Question], Awaitable[Answer]], question: Question, cancel: CancelToken | None
) -> Answer | None:
    """Have a question answered; None if the call was cancelled first.

    What the one who is asked raises, is raised.
    """
    answer: Answer | None = None
    failure: Exception | None = None
    async with anyio.create_task_group() as tasks:

        async def give_up(token: CancelToken) -> None:
            await anyio.wait_readable(token.fileno())
            tasks.cancel_scope.cancel()

        if cancel is not None:
            tasks.start_soon(give_up, cancel)
        try:
            answer = await approve(question)
        except Exception as error:  # noqa: BLE001 (a task group would wrap it)
            failure = error
        tasks.cancel_scope.cancel()
    if failure is not None:
        raise failure
    return answer
