"""Guards: built-in rules that no rule file can switch off.

A guard looks at one command of a script and says whether it is a mistake or a
trick it knows. Each carries its reason, a suggestion to the model, and examples
that are tried when its pack is loaded, so a guard that stopped working is an
error and not a silence.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

from nacre.model.verdict import Decision
from nacre.syntax.script import Command, Script
from nacre.syntax.tree import Span

__all__ = ("Finding", "Guard", "Hit", "Pack")


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
    command: Command


class Pack:
    """Guards under one name, found quickly by the commands they are about."""

    def __init__(self, name: str, guards: tuple[Guard, ...]) -> None:
        self.name = name
        self.guards = guards
        self._always = tuple(guard for guard in guards if not guard.names)
        self._by_name: dict[str, list[Guard]] = {}
        for guard in guards:
            for each in guard.names:
                self._by_name.setdefault(each, []).append(guard)

    def find(self, command: Command, script: Script) -> list[Finding]:
        """Everything this pack holds against one command."""
        guards = self._always
        for name in command.names:
            if named := self._by_name.get(name):
                guards = (*guards, *named)
        return [
            Finding(
                rule=f"{self.name}.{guard.name}",
                decision=hit.decision,
                reason=guard.reason,
                suggestion=guard.suggestion,
                span=hit.span,
                token=hit.token,
                command=command,
            )
            for guard in guards
            if (hit := guard.find(command, script))
        ]
