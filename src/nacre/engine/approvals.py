"""Who lets a script run that the policy leaves to a person: a grant, or somebody who is asked."""

import logging
import os
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from pathlib import PurePath
from typing import TYPE_CHECKING, NamedTuple, Protocol

from nacre.engine.asking import ask
from nacre.engine.grants import Grants
from nacre.engine.threads import in_thread
from nacre.errors import StateError
from nacre.model.approval import Answer, Consent, Question, Scope
from nacre.model.confinement import Confinement
from nacre.model.outcome import Denied, Stopped, Unstarted
from nacre.model.verdict import Verdict
from nacre.process.cancel import CancelToken

if TYPE_CHECKING:
    from nacre.syntax.script import Surroundings

__all__ = ("Approvals", "Approve", "Checker", "Judged", "Petition")

_LOG = logging.getLogger("nacre")

Approve = Callable[[Question], Awaitable[Answer]]


class Checker(Protocol):
    """Says of a script whether it may run, and does nothing else: no clock, no exception."""

    def check(self, text: str, surroundings: "Surroundings") -> Verdict:
        """Read a script and decide about it."""
        ...

    def offer(self, text: str, surroundings: "Surroundings") -> tuple[str, ...]:
        """The rules that a yes for always would come to; none if it cannot be said."""
        ...

    def grants(
        self, text: str, surroundings: "Surroundings", rules: tuple[str, ...]
    ) -> tuple[str, ...]:
        """Those of the granted rules that answer all that is asked about a script, or none."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Petition:
    """What is to be decided: a question, where its script would run, and for whom.

    `approve` asks somebody; None if nobody is there.
    """

    question: Question
    surroundings: "Surroundings"
    confinement: Confinement
    approve: Approve | None
    cancel: CancelToken | None


class Judged(NamedTuple):
    """What was decided about a script, and what keeps it from running, if anything does."""

    verdict: Verdict
    refused: Denied | Stopped | Unstarted | None = None
    answer: Answer | None = None
    notices: tuple[str, ...] = ()


class Approvals:
    """Answers petitions. What it remembers is in the state directory, never in itself.

    Where scripts can write the state directory, they could write grants; then there are none.
    """

    def __init__(self, checker: Checker, grants: Grants) -> None:
        self._checker = checker
        self._grants = grants

    async def question(self, petition: Petition) -> Question | None:
        """What a person has to be asked; None if a grant answers it."""
        if await in_thread(self._granted, petition):
            return None
        return await self._whole(petition)

    async def judge(self, petition: Petition) -> Judged:
        """Find somebody's yes or no, whoever's it is."""
        verdict = petition.question.verdict
        if grant := await in_thread(self._granted, petition):
            answer = Answer(consent=Consent.ALWAYS, by="a grant", grant=grant)
            return Judged(verdict, answer=answer)
        if petition.approve is None:
            return Judged(verdict, Denied(verdict))
        return await self._ask(petition.approve, await self._whole(petition), petition.cancel)

    def close(self) -> None:
        """Let go of the grants."""
        self._grants.close()

    async def _whole(self, petition: Petition) -> Question:
        """The question, with what a yes for always would come to."""
        question = petition.question
        if not self._kept_from_scripts(petition.confinement):
            return question
        grants = await in_thread(self._checker.offer, question.script, petition.surroundings)
        return replace(question, grants=grants)

    async def _ask(
        self, approve: Approve, question: Question, cancel: CancelToken | None
    ) -> Judged:
        verdict, folder = question.verdict, _identity(question.cwd)
        answer = await ask(approve, question, cancel)
        if answer is None:
            return Judged(verdict, Stopped())
        if not answer.consent.allows:
            answered = answer.consent is Consent.NO
            return Judged(verdict, Denied(verdict, answered=answered, said=answer.said), answer)
        if _identity(question.cwd) != folder:
            why = f"{str(question.cwd)!r} became another folder while the question was open"
            return Judged(verdict, Unstarted(why), answer)
        always = answer.consent is Consent.ALWAYS
        return Judged(
            verdict, None, answer, await in_thread(self._remember, question) if always else ()
        )

    def _granted(self, petition: Petition) -> str:
        """The ids of the grants that answer a petition; empty if they do not."""
        if not self._kept_from_scripts(petition.confinement):
            return ""
        try:
            found = self._grants.within(_scope(petition.question))
        except StateError as error:
            _LOG.warning("no grant is known, so somebody is asked again: %s", error)
            return ""
        if not found:
            return ""
        used = self._checker.grants(
            petition.question.script, petition.surroundings, tuple(each.rule for each in found)
        )
        return " ".join(each.id for each in found if each.rule in used)

    def _remember(self, question: Question) -> tuple[str, ...]:
        try:
            for rule in question.grants:
                self._grants.add(rule, _scope(question))
        except StateError as error:
            return (f"the yes holds for this once only: {error}",)
        return ()

    def _kept_from_scripts(self, confinement: Confinement) -> bool:
        """Whether scripts that are confined cannot write what they would be granted by."""
        state = PurePath(os.path.realpath(self._grants.path.parent))
        return not any(state.is_relative_to(folder) for folder in confinement.writable or ())


def _scope(question: Question) -> Scope:
    return Scope(conversation=question.conversation, folder=str(question.cwd), held=question.held)


def _identity(folder: PurePath) -> tuple[int, int] | None:
    """Which folder a path leads to; None if it leads to none."""
    try:
        found = os.stat(folder)
    except OSError:
        return None
    return found.st_dev, found.st_ino
