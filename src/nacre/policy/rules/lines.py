"""A command as lines of text, which the patterns of rules are matched against.

A line has the command's words with a blank between them. A rule that forbids is
tried on every line a command could be; one that allows on very few.
"""

from collections.abc import Iterable, Iterator, Sequence
from itertools import product
from math import prod

from nacre.policy.reading.subcommand import past_globals
from nacre.policy.rules.pattern import collapsed
from nacre.syntax.script import Command, Place, Script
from nacre.syntax.word import CWD, FIELDS, HOLE, HOME, UNKNOWN, Word

__all__ = ("known_lines", "possible_lines", "written_line")

# So many lines a command may have; beyond it, words with several values count as unknown.
_MOST = 64

_UNKNOWN = frozenset(UNKNOWN)

# Stands in a line that allows for a blank that does not separate words.
_INNER_BLANK = "\udc20"


def written_line(command: Command) -> str:
    """The command's words as they are written."""
    return collapsed(" ".join(word.source for word in command.words))


def known_lines(command: Command) -> tuple[str, ...]:
    """Every line the command can be; none if there are too many to say.

    A blank inside a word is not a blank: `"git log"` is not `git log`.
    """
    if all(len(word.templates) == 1 for word in command.words):
        return (_line(word.templates[0] for word in command.words),)
    if prod(len(word.templates) for word in command.words) > _MOST:
        return ()
    return tuple(_line(words) for words in product(*(word.templates for word in command.words)))


def _line(words: Iterable[str]) -> str:
    return " ".join(each.replace(" ", _INNER_BLANK).replace("\t", _INNER_BLANK) for each in words)


def possible_lines(command: Command, script: Script) -> tuple[str, ...]:
    """Every line that a rule against the command could mean by it.

    By its resolved words and as it is written; with the folder of its name and
    without; with the options before its subcommand and without.
    """
    lines: dict[str, None] = {}
    for words in _choices(command.words):
        for spelling in _spellings(words):
            lines.update(dict.fromkeys(_homes(collapsed(" ".join(spelling)), script)))
    if not command.via and Place.GUESSED not in command.places:
        lines[written_line(command)] = None
        lines[collapsed(script.text[slice(*command.span)])] = None
    return tuple(lines)


def _choices(words: Sequence[Word]) -> Iterator[tuple[str, ...]]:
    """The words with one value each, a word that can vanish also left out."""
    if all(len(word.templates) == 1 and word.templates[0] != FIELDS for word in words):
        if words:
            yield tuple(word.templates[0] for word in words)
        return
    options: list[tuple[str | None, ...]] = []
    many = 1
    for word in words:
        values = _values(word)
        if many * len(values) > _MOST:
            values = (HOLE,)
        many *= len(values)
        options.append(values)
    for choice in product(*options):
        kept = tuple(each for each in choice if each is not None)
        if kept:
            yield kept


def _values(word: Word) -> tuple[str | None, ...]:
    if FIELDS in word.templates:
        return (*(each for each in word.templates if each != FIELDS), None, HOLE)
    return word.templates


def _spellings(words: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    folder, slash, program = words[0].rpartition("/")
    bare = (program, *words[1:]) if slash and program else words
    # Of a folder that is not known, only a rule by another folder could know more.
    if bare is words or _UNKNOWN.isdisjoint(folder):
        yield words
    if bare is not words:
        yield bare
    shorter = past_globals(bare)
    if shorter is not None:
        yield shorter


def _homes(line: str, script: Script) -> Iterator[str]:
    if CWD in line:
        line = line.replace(CWD, script.surroundings.cwd or ".")
    if HOME not in line:
        yield line
        return
    yield line.replace(HOME, "~")
    if script.surroundings.home:
        yield line.replace(HOME, script.surroundings.home)
