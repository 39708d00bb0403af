"""Where the options of a program end, read as the program itself would.

A program that runs another one has options of its own first. Which word is the
command depends on which of them take a value. Where that is not known, every
way to read the words is given, so that a command is not missed.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import field
from enum import Enum
from itertools import islice
from typing import NamedTuple

from nacre.model.expression import expression
from nacre.model.value import dataclass
from nacre.syntax.word import FIELDS, Word, known
from nacre.syntax.wrappers.inner import derived

__all__ = ("Option", "Options", "Reading", "Unknown", "options", "readings")

_OPTIONS_NAME = expression(r"OPT|FLAG|ARG", re.IGNORECASE)
# Doubt beyond this many readings is settled by the first one.
_MOST_READINGS = 8


class Unknown(Enum):
    """What an option that is not listed is taken for."""

    EITHER = "with a value, and without"
    VALUED = "with a value"
    PLAIN = "without a value"


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """The options of one program, each with how many words follow as its value.

    `attached` ones may have a value, but only in the same word. `permuted`: options
    may follow operands. `worded`: `-name` is one option and not four letters.
    `exact`: no name is shortened. `detached`: a value never stands in the same word as its letter. `plus`: `+x`
    is an option, too.
    """

    values: Mapping[str, int]
    attached: frozenset[str] = frozenset()
    unknown: Unknown = Unknown.EITHER
    permuted: bool = False
    worded: bool = False
    exact: bool = False
    detached: bool = False
    plus: bool = False

    def named(self, name: str) -> tuple[str, ...]:
        """The long options that a name, perhaps shortened, could stand for."""
        if name in self.values:
            return (name,)
        if self.exact:
            return ()
        return tuple(each for each in self.values if each.startswith(name))


class Option(NamedTuple):
    """One option as given."""

    name: str
    value: Word | None = None


@dataclass(slots=True)
class Reading:
    """One way to read the words after a program's name.

    `operands` are the words that are no options, or from the first of them on if
    options may not follow. `before` is how many of them came before `--`.
    `skipped`: a word that is not known was taken for options, `named` if its
    variable is called so.
    """

    given: list[Option] = field(default_factory=list[Option])
    operands: list[Word] = field(default_factory=list[Word])
    before: int | None = None
    skipped: bool = False
    named: bool = False

    def has(self, names: frozenset[str]) -> bool:
        """Whether one of these options was given."""
        return any(each.name in names for each in self.given)

    def value(self, names: frozenset[str]) -> Word | None:
        """The value of the last of these options."""
        found = self.values(names)
        return found[-1] if found else None

    def values(self, names: frozenset[str]) -> list[Word]:
        """The values of all of these options."""
        return [each.value for each in self.given if each.name in names and each.value]

    def copy(self) -> "Reading":
        """Another reading that goes its own way from here."""
        return Reading(list(self.given), list(self.operands), self.before, self.skipped, self.named)


class _Step(NamedTuple):
    to: int
    given: tuple[Option, ...] = ()
    operand: bool = False
    ends: bool = False
    skips: bool = False
    unsure: bool = False


def options(
    valued: str = "",
    plain: str = "",
    attached: str = "",
    *,
    unknown: Unknown = Unknown.EITHER,
    several: Mapping[str, int] | None = None,
    style: str = "",
) -> Options:
    """Write down options as a manual lists them: `-n --signal`; `style` names its habits."""
    optional = attached.split()
    values = dict.fromkeys((*plain.split(), *optional, "--help", "--version"), 0)
    values |= dict.fromkeys(valued.split(), 1)
    values |= several or {}
    habits = style.split()
    return Options(
        values=values,
        attached=frozenset(optional),
        unknown=unknown,
        permuted="permuted" in habits,
        worded="worded" in habits,
        exact="exact" in habits,
        detached="detached" in habits,
        plus="plus" in habits,
    )


def readings(words: Sequence[Word], known: Options) -> list[Reading]:
    """Every plausible way to tell a program's options from what follows them."""
    done: list[Reading] = []
    pending = [(0, Reading())]
    while pending:
        at, reading = pending.pop()
        while at < len(words):
            first, *others = _steps(words, at, known)
            if first.unsure and reading.skipped and (done or pending):
                break
            room = _MOST_READINGS - len(pending) - len(done) - 1
            branches = [_taken(reading.copy(), words, step, known) for step in others[:room]]
            pending += reversed(branches)
            at, reading = _taken(reading, words, first, known)
        else:
            done.append(reading)
    return done


def _taken(
    reading: Reading, words: Sequence[Word], step: _Step, known: Options
) -> tuple[int, Reading]:
    reading.given += step.given
    if step.skips:
        reading.skipped = True
        reading.named = _named_options(words[step.to - 1])
    if step.ends:
        reading.before = len(reading.operands)
    elif step.operand and known.permuted:
        reading.operands.append(words[step.to - 1])
        return step.to, reading
    elif not step.operand:
        return step.to, reading
    reading.operands += islice(words, step.to if step.ends else step.to - 1, None)
    return len(words), reading


def _steps(words: Sequence[Word], at: int, known: Options) -> list[_Step]:
    templates = words[at].templates
    if len(templates) == 1:
        return _meanings(templates[0], words, at, known)
    steps = (step for each in templates for step in _meanings(each, words, at, known))
    return list(dict.fromkeys(steps))


def _meanings(template: str, words: Sequence[Word], at: int, known: Options) -> list[_Step]:
    if template == "--":
        return [_Step(at + 1, ends=True)]
    if template == "-" and "-" in known.values:
        return [_Step(at + 1, (Option("-"),))]
    if len(template) > 1 and template[0] == "-":
        if known.worded or template[1] == "-":
            return _long(template, words, at, known)
        return _bundle(template, words, at, known)
    if len(template) > 1 and known.plus and template[0] == "+":
        return _bundle(template, words, at, known)
    operand = _Step(at + 1, operand=True)
    if template[:1] != FIELDS or "/" in template or known.permuted or at + 1 == len(words):
        return [operand]
    skips = [_Step(at + 1, skips=True), operand]
    following = words[at + 1].value
    if following and following[0].isdecimal():
        skips.append(_Step(at + 2, skips=True))
    return skips


def _long(template: str, words: Sequence[Word], at: int, known: Options) -> list[_Step]:
    name, equals, text = template.partition("=")
    if known.worded and name.startswith("--"):
        name = name[1:]
    found = known.named(name)
    full = found[0] if len(found) == 1 else name
    if equals:
        return [_Step(at + 1, (Option(full, derived(words[at], text)),))]
    counts = {known.values[each] for each in found}
    if len(counts) == 1:
        return [_valued(full, words, at, counts.pop())]
    if name.lstrip("-").isdecimal():
        return [_Step(at + 1, (Option(name),))]
    return _doubtful((Option(name),), words, at, known)


def _bundle(template: str, words: Sequence[Word], at: int, known: Options) -> list[_Step]:
    word, sign, to, sure = words[at], template[0], at + 1, True
    given: list[Option] = []
    for index, letter in enumerate(template[1:], start=2):
        name = sign + letter
        count = known.values.get(name)
        if count and known.detached:
            given.append(Option(name, words[to] if to < len(words) else None))
            to += 1
        elif count or name in known.attached:
            rest = template[index:]
            if rest:
                return [_Step(at + 1, (*given, Option(name, derived(word, rest))))]
            step = _valued(name, words, at, count or 0)
            return [step._replace(given=(*given, *step.given))]
        else:
            given.append(Option(name))
            sure = sure and (count == 0 or letter.isdecimal())
    if sure:
        return [_Step(to, tuple(given))]
    return _doubtful(tuple(given), words, to - 1, known)


def _valued(name: str, words: Sequence[Word], at: int, count: int) -> _Step:
    value = words[at + 1] if count and at + 1 < len(words) else None
    return _Step(min(at + 1 + count, len(words)), (Option(name, value),))


def _doubtful(
    given: tuple[Option, ...], words: Sequence[Word], at: int, known: Options
) -> list[_Step]:
    at = min(at, len(words) - 1)
    without = _Step(at + 1, given, unsure=not _unsure(words[at]))
    if at + 1 >= len(words) or (known.unknown is Unknown.PLAIN and not _unsure(words[at])):
        return [without]
    last = Option(given[-1].name, words[at + 1])
    valued = _Step(at + 2, (*given[:-1], last))
    return [valued] if known.unknown is Unknown.VALUED else [without, valued]


def _named_options(word: Word) -> bool:
    return any(_OPTIONS_NAME.search(each.name) for each in word.expansions)


def _unsure(word: Word) -> bool:
    return any(not known(each) for each in word.templates)
