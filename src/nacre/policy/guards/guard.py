"""Guards: built-in rules that no rule file can switch off.

A guard looks at one command of a script and says whether it is a mistake or a
trick it knows. Each carries its reason, a suggestion to the model, and examples
that are tried before it is first asked, so a guard that stopped working is an
error and not a silence.
"""

from collections.abc import Callable
from typing import NamedTuple

from nacre.model.value import dataclass
from nacre.model.verdict import Decision
from nacre.syntax.script import Command, Script
from nacre.syntax.tree import Span

__all__ = ("Finding", "Guard", "Hit", "Pack", "Watch")


class Hit(NamedTuple):
    """A guard's answer: the part of the script, and the word it is about."""

    span: Span
    token: str = ""
    decision: Decision = Decision.DENY


@dataclass(frozen=True, slots=True, kw_only=True)
class Guard:
    """One thing a pack refuses.

    `find` is asked about commands that could have one of `names`, or about every
    command if it has none.
    """

    name: str
    reason: str
    suggestion: str
    find: Callable[[Command, Script], Hit | None]
    names: frozenset[str] = frozenset()
    examples: tuple[str, ...] = ()
    counterexamples: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """What a guard found: enough to make a verdict of."""

    rule: str
    decision: Decision
    reason: str
    suggestion: str
    span: Span
    token: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Pack:
    """Guards under one name."""

    name: str
    guards: tuple[Guard, ...]


class Watch:
    """Packs at work: each command is shown to the guards that are about it, and to no others."""

    def __init__(self, packs: tuple[Pack, ...]) -> None:
        named = [(f"{pack.name}.{guard.name}", guard) for pack in packs for guard in pack.guards]
        self._always = tuple(each for each in named if not each[1].names)
        self._by_name = {
            name: tuple(each for each in named if not each[1].names or name in each[1].names)
            for name in {name for _, guard in named for name in guard.names}
        }

    def find(self, command: Command, script: Script) -> list[Finding]:
        """Everything that is held against one command."""
        return [
            Finding(
                rule=rule,
                decision=hit.decision,
                reason=guard.reason,
                suggestion=guard.suggestion,
                span=hit.span,
                token=hit.token,
            )
            for rule, guard in self._guards(command.names)
            if (hit := guard.find(command, script))
        ]

    def _guards(self, names: tuple[str, ...]) -> tuple[tuple[str, Guard], ...]:
        if len(names) == 1:
            return self._by_name.get(names[0], self._always)
        several = [each for name in names for each in self._by_name.get(name, ())]
        return tuple({rule: (rule, guard) for rule, guard in (*self._always, *several)}.values())
