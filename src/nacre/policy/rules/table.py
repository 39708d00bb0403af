"""An ordered table of rules: the first that matches decides.

A pattern is matched against the bytes of a whole text: `*` is any of them, `?` is one, all
others stand for themselves. The script as a whole and every part of it must come
out allowed, so what follows `&&` is not hidden by what comes before.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import field
from typing import NamedTuple

from nacre.model.expression import expression
from nacre.model.value import dataclass
from nacre.model.verdict import Decision
from nacre.policy.rules.against import runs_unknown_code
from nacre.policy.rules.lines import possible_lines
from nacre.policy.rules.pattern import Glob, Likeness
from nacre.policy.rules.ruling import Ruling, excerpt, strictest, unread
from nacre.syntax.script import Command, Script
from nacre.syntax.tree import Span

__all__ = ("Row", "RuleTable", "Wildcard", "parse_wildcard")

_SPECIAL = expression(r"[*?]+")


@dataclass(frozen=True, slots=True)
class Wildcard:
    """A pattern of a table, ready to be matched."""

    text: str
    pieces: tuple[re.Pattern[str], ...]
    loose: Glob

    @property
    def name(self) -> str | None:
        """The command it is about, if it can be only one."""
        word = self.text.partition(" ")[0]
        return None if _SPECIAL.search(word) else word.rpartition("/")[2]

    def likeness(self, line: str) -> Likeness:
        """How surely a line is what the pattern says."""
        if self._matches(line):
            return Likeness.SURELY
        return Likeness.PERHAPS if self.loose.could_match(line) else Likeness.NO

    def _matches(self, text: str) -> bool:
        line = _octets(text)
        first = self.pieces[0].match(line)
        if len(self.pieces) == 1 or first is None:
            return first is not None and first.end() == len(line)
        at, end = first.end(), len(line) - self._length_of_last
        for piece in self.pieces[1:-1]:
            found = piece.search(line, at, end) if at <= end else None
            if found is None:
                return False
            at = found.end()
        return at <= end and self.pieces[-1].match(line, end) is not None

    @property
    def _length_of_last(self) -> int:
        return len(_octets(self.text).rpartition("*")[2])


def parse_wildcard(text: str) -> Wildcard:
    """Read a pattern of a table."""
    pieces = tuple(
        re.compile(".".join(map(re.escape, piece.split("?"))), re.DOTALL)
        for piece in _octets(text).split("*")
    )
    return Wildcard(text, pieces, Glob(tuple(_SPECIAL.split(text))))


def _octets(text: str) -> str:
    """A text with a character for each of its bytes."""
    return text if text.isascii() else text.encode("utf-8", "surrogatepass").decode("latin-1")


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One rule of a table; no pattern if it is about another tool."""

    action: Decision
    pattern: Wildcard | None
    text: str = ""
    origin: str = ""

    @property
    def label(self) -> str:
        """The rule and where it is written."""
        return f"{self.text} ({self.origin})" if self.origin else self.text


class _Answer(NamedTuple):
    decision: Decision
    span: Span
    row: Row | None
    likeness: Likeness = Likeness.SURELY


@dataclass(frozen=True, slots=True, kw_only=True)
class RuleTable:
    """Rows in the order they were written, and the action for what none of them matches."""

    default: Decision
    rows: tuple[Row, ...] = ()
    origin: str = ""
    _named_against: frozenset[str | None] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        patterns = (row.pattern for row in self.rows if row.pattern and row.action)
        names = frozenset(pattern.name for pattern in patterns)
        object.__setattr__(self, "_named_against", names)

    def judge(self, script: Script) -> Ruling | None:
        """The strictest action for the script and for each of its parts."""
        if self.default is Decision.ALLOW and not self.rows:
            return None
        answers = list(self._written(script.text, Span(0, len(script.text))))
        unsure = next((row for row in self.rows if row.pattern and row.action), None)
        for at, command in enumerate(script.commands):
            answers += self._part(command, script)
            if unsure and runs_unknown_code(script, at):
                answers.append(_Answer(Decision.ASK, command.span, unsure, Likeness.PERHAPS))
        found = strictest(answers)
        rulings = [self._ruling(found, script)] if found and found.decision else []
        if script.unreadable:
            rulings.append(unread(script, max(Decision.ASK, self.default), self.origin))
        return strictest(rulings)

    def _part(self, command: Command, script: Script) -> Iterator[_Answer]:
        """What the table says of one command, however it is spelled.

        The default is for how it is written. Its other spellings, and what a
        wrapper runs, only have to match no rule against them.
        """
        rows = self.rows
        if not command.via:
            for answer in self._written(script.text[slice(*command.span)], command.span):
                yield answer
                if answer.row and answer.likeness is Likeness.SURELY:
                    rows = rows[: rows.index(answer.row)]
        if self._could_be_meant(command):
            for line in possible_lines(command, script):
                yield from _first(rows, line, command.span)

    def _could_be_meant(self, command: Command) -> bool:
        """Whether a row against something could be against this command, by its name."""
        if None in self._named_against:
            return True
        programs = {
            each.rpartition("/")[2] for word in command.words[:1] for each in word.templates
        }
        return not self._named_against.isdisjoint(programs) or any(
            not each.isascii() for each in programs
        )

    def _written(self, text: str, span: Span) -> Iterator[_Answer]:
        answers = list(_first(self.rows, text, span))
        yield from answers
        if not any(each.likeness is Likeness.SURELY for each in answers):
            yield _Answer(self.default, span, None)

    def _ruling(self, answer: _Answer, script: Script) -> Ruling:
        row, part = answer.row, excerpt(script, answer.span)
        label = row.label if row else "default_action" + (f" ({self.origin})" * bool(self.origin))
        if answer.likeness is Likeness.PERHAPS:
            reason = f"`{part}` could be what the rule {label} is about."
            suggestion = "Write the command out, without variables, and call again."
        elif answer.decision is Decision.DENY:
            reason = f"`{part}` is denied by {label}."
            suggestion = "Do it another way, or ask the user to change the rules."
        else:
            reason = f"`{part}` needs approval by {label}."
            suggestion = "Ask the user to approve it."
        return Ruling(
            decision=answer.decision,
            span=answer.span,
            rule=label,
            reason=reason,
            suggestion=suggestion,
        )


def _first(rows: Sequence[Row], line: str, span: Span) -> Iterator[_Answer]:
    """The first row that surely matches, and those before it that perhaps do."""
    for row in rows:
        likeness = row.pattern.likeness(line) if row.pattern else Likeness.NO
        if likeness is Likeness.SURELY:
            yield _Answer(row.action, span, row, likeness)
            return
        if likeness and row.action:
            yield _Answer(Decision.ASK, span, row, likeness)
