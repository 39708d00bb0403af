"""What a host gives with a call, and what it gets back beside the reply."""

import os
from collections.abc import Awaitable, Callable
from dataclasses import replace
from inspect import isawaitable

from nacre.model.approval import Answer, Consent, Question
from nacre.model.call import Run
from nacre.model.reply import Reply
from nacre.model.result import Result
from nacre.model.value import dataclass
from nacre.process.cancel import CancelToken

__all__ = ("Approver", "Ran", "ToolContext", "answer_of")

_Said = bool | Consent | Answer
Approver = Callable[[Question], _Said | Awaitable[_Said]]


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolContext:
    """Everything a call needs to know that is not in its arguments.

    Cursors, jobs and grants belong to a `conversation`; without one, to a common one.
    `confinement` is the name of a confinement that holds for this call only. `approver`
    is asked in the place of the tool's own. With `secret_ids` nobody can guess the id of
    a job that the call makes.
    """

    working_dir: str | os.PathLike[str]
    cancel: CancelToken | None = None
    conversation: str | None = None
    confinement: str | None = None
    approver: Approver | None = None
    secret_ids: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Ran:
    """What came of a script: the call it was taken for, all it produced, and the reply."""

    call: Run
    result: Result
    reply: Reply


async def answer_of(approver: Approver, question: Question) -> Answer:
    """Have an approver answer, in whichever way it does; nothing else is a yes, however it reads."""
    said = approver(question)
    answer = _answer(await said if isawaitable(said) else said)
    if answer.consent is Consent.ALWAYS and not question.grants:
        return replace(answer, consent=Consent.ONCE)
    return answer


def _answer(said: object) -> Answer:
    match said:
        case Answer():
            return said
        case Consent():
            return Answer(consent=said)
        case True:
            return Answer(consent=Consent.ONCE)
        case _:
            return Answer(consent=Consent.NO)
