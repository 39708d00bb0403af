"""What one layer of rules says of a script."""

from collections.abc import Iterable
from typing import Protocol, TypeVar

from nacre.model.value import dataclass
from nacre.model.verdict import Decision
from nacre.syntax.script import Script
from nacre.syntax.tree import Span

__all__ = ("Ruling", "excerpt", "strictest", "unread")

_LONGEST = 120


@dataclass(frozen=True, slots=True, kw_only=True)
class Ruling:
    """A decision about a part of a script, and what it rests on.

    `stated` says that the reason is its author's own words.
    """

    decision: Decision
    span: Span
    rule: str
    reason: str
    suggestion: str
    stated: bool = False


class _Decided(Protocol):
    @property
    def decision(self) -> Decision: ...

    @property
    def span(self) -> Span: ...


D = TypeVar("D", bound=_Decided)


def strictest(decided: Iterable[D]) -> D | None:
    """The strictest of several; among equals, the one about the earliest part."""
    return min(decided, key=lambda each: (-each.decision, each.span.start), default=None)


def unread(script: Script, decision: Decision, origin: str) -> Ruling:
    """What rules say of a script that could not be read, if nothing in it is worse."""
    return Ruling(
        decision=decision,
        span=Span(0, len(script.text)),
        rule=f"unreadable ({origin})" if origin else "unreadable",
        reason=f"The script cannot be read as a whole: {script.unreadable}.",
        suggestion="Mend it, or split it into smaller scripts.",
    )


def excerpt(script: Script, span: Span) -> str:
    """A part of a script on one line, for a sentence."""
    line = " ".join(script.text[slice(*span)].split())
    return line if len(line) <= _LONGEST else f"{line[: _LONGEST - 1]}…"
