"""Who lets a script run that the policy leaves to a person: a grant, or somebody who is asked."""

import logging
import os
from collections.abc import Awaitable, Callable
from dataclasses import replace
from hashlib import sha256
from pathlib import PurePath
from typing import TYPE_CHECKING, NamedTuple, Protocol, cast

from nacre.engine.asking import ask
from nacre.engine.grants import Grants
from nacre.engine.identity import identity
from nacre.engine.threads import in_thread
from nacre.errors import StateError
from nacre.model.approval import Answer, Consent, Question, Scope
from nacre.model.confinement import Confinement
from nacre.model.outcome import Denied, Stopped, Unstarted
from nacre.model.value import dataclass
from nacre.model.verdict import Verdict
from nacre.process.cancel import CancelToken

if TYPE_CHECKING:
    from nacre.syntax.script import Surroundings

__all__ = ("Approvals", "Approve", "Checker", "Judged", "Petition")

_LOG = logging.getLogger("nacre")
_SHORT = 8  # digits of a hash that tells confinements apart

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

    `approve` asks somebody; None if nobody is there. One that is not `plain` is given
    more than its text shows, an input or variables of its own: that nobody grants for always.
    """

    question: Question
    surroundings: "Surroundings"
    confinement: Confinement
    approve: Approve | None
    cancel: CancelToken | None
    plain: bool = True

    @property
    def scope(self) -> Scope:
        """Where a grant counts that is given now."""
        asked, confinement = self.question, repr(self.confinement)
        # The words leave out what is long: which paths are denied or protected, and the limits.
        rest = sha256(confinement.encode("utf-8", "backslashreplace")).hexdigest()[:_SHORT]
        return Scope(
            conversation=asked.conversation,
            folder=_storable(os.path.realpath(asked.cwd)),
            held=_storable(f"{asked.held} ({rest})"),
        )


class Judged(NamedTuple):
    """What was decided about a script, and what keeps it from running, if anything does."""

    verdict: Verdict
    refused: Denied | Stopped | Unstarted | None = None
    answer: Answer | None = None
    notices: tuple[str, ...] = ()


class Approvals:
    """Answers petitions. What it remembers is in the state directory, never in itself.

    Where scripts are let write the state directory by their confinement, they could write
    grants; then there are none.
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
        """Find somebody's yes or no, whoever's it is. What an approver raises, is raised."""
        verdict = petition.question.verdict
        if grant := await in_thread(self._granted, petition):
            answer = Answer(consent=Consent.ALWAYS, by="a grant", grant=grant)
            return Judged(verdict, answer=answer)
        if petition.approve is None:
            return Judged(verdict, Denied(verdict))
        whole = replace(petition, question=await self._whole(petition))
        return await self._ask(petition.approve, whole)

    def close(self) -> None:
        """Let go of the grants."""
        self._grants.close()

    async def _whole(self, petition: Petition) -> Question:
        """The question, with what a yes for always would come to."""
        return replace(petition.question, grants=await in_thread(self._offered, petition))

    async def _ask(self, approve: Approve, petition: Petition) -> Judged:
        question = petition.question
        verdict, folder = question.verdict, identity(question.cwd)
        said = await ask(approve, question, petition.cancel)
        if said is None:
            return Judged(verdict, Stopped())
        answer = _settled(said)
        if not answer.consent.allows:
            answered = answer.consent is Consent.NO
            return Judged(verdict, Denied(verdict, answered=answered, said=answer.said), answer)
        if identity(question.cwd) != folder:
            why = f"{str(question.cwd)!r} became another folder while the question was open"
            return Judged(verdict, Unstarted(why), answer)
        always = answer.consent is Consent.ALWAYS
        notices = await in_thread(self._remember, petition) if always else ()
        return Judged(verdict, None, answer, notices)

    def _offered(self, petition: Petition) -> tuple[str, ...]:
        if not self._can_remember(petition):
            return ()
        try:
            return self._checker.offer(petition.question.script, petition.surroundings)
        except Exception:  # noqa: BLE001 (whatever it is, a person can still answer)
            _LOG.exception("what a yes for always would come to cannot be said")
            return ()

    def _granted(self, petition: Petition) -> str:
        """The ids of the grants that answer a petition; empty if they do not."""
        if not self._can_remember(petition):
            return ""
        script, surroundings = petition.question.script, petition.surroundings
        try:
            found = self._grants.within(petition.scope)
            rules = tuple(each.rule for each in found)
            used = self._checker.grants(script, surroundings, rules) if found else ()
        except StateError as error:
            _LOG.warning("no grant is known, so somebody is asked again: %s", error)
            return ""
        except Exception:  # noqa: BLE001 (whatever it is, a person can still answer)
            _LOG.exception("whether a grant answers cannot be said, so somebody is asked again")
            return ""
        return " ".join(each.id for each in found if each.rule in used)

    def _remember(self, petition: Petition) -> tuple[str, ...]:
        try:
            for rule in petition.question.grants:
                self._grants.add(rule, petition.scope)
        except StateError as error:
            return (f"the yes holds for this once only: {error}",)
        return ()

    def _can_remember(self, petition: Petition) -> bool:
        """Whether a grant is one: the text is all there is, and no script writes its own.

        Where everything may be written, that was said in words; rules could be written too.
        """
        state = PurePath(os.path.realpath(self._grants.path.parent))
        writable = (os.path.realpath(each) for each in petition.confinement.writable or ())
        return petition.plain and not any(state.is_relative_to(each) for each in writable)


def _settled(said: object) -> Answer:
    """An answer as it is acted on and written down; what is none is a no."""
    if not isinstance(said, Answer) or not isinstance(cast("object", said.consent), Consent):
        return Answer(consent=Consent.NO)
    return replace(said, said=str(said.said), by=str(said.by), grant="")


def _storable(text: str) -> str:
    """A text as it can be stored, so that no two become the same: a path begins with no quote."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return ascii(text)
    return text
