"""Commands of a script by how they stand to another one: before it, around it, inside it."""

from bisect import bisect_left
from collections.abc import Iterator
from typing import NamedTuple

from nacre.syntax.script import Command, Place, Script
from nacre.syntax.tree import Span
from nacre.syntax.word import Word

__all__ = ("Around", "around", "inside", "pipeline_of")

# How many words that begin before a command are looked at for one that it is in.
_FARTHEST = 64


class Around(NamedTuple):
    """A word with a substitution in it, and the command it is of."""

    command: Command
    word: Word


class _Substitutions(NamedTuple):
    """Words that have substitutions, and commands that are in them, each in their order."""

    starts: list[int]
    words: list[Around]
    inner_starts: list[int]
    inner: list[Command]


def _pipelines(script: Script) -> dict[int, list[Command]]:
    found: dict[int, list[Command]] = {}
    for command in script.commands:
        if command.pipeline:
            found.setdefault(command.pipeline, []).append(command)
    return found


def _substitutions(script: Script) -> _Substitutions:
    words = [
        Around(command, word)
        for command in script.commands
        for word in _words(command)
        if "$(" in word.source or "`" in word.source
    ]
    words.sort(key=lambda each: each.word.span.start)
    inner = [command for command in script.commands if Place.SUBSTITUTION in command.places]
    inner.sort(key=lambda each: each.span.start)
    return _Substitutions(
        starts=[each.word.span.start for each in words],
        words=words,
        inner_starts=[each.span.start for each in inner],
        inner=inner,
    )


def _words(command: Command) -> Iterator[Word]:
    yield from command.words
    for assigned in command.assignments:
        yield from assigned.words


def pipeline_of(command: Command, script: Script) -> list[Command]:
    """All commands of the pipeline that a command is in, itself included."""
    return script.once(_pipelines).get(command.pipeline, []) if command.pipeline else []


def inside(span: Span, script: Script) -> list[Command]:
    """The commands of the substitutions in a part of a script."""
    found = script.once(_substitutions)
    start = bisect_left(found.inner_starts, span.start + 1)
    end = bisect_left(found.inner_starts, span.end)
    return [command for command in found.inner[start:end] if command.span.end < span.end]


def around(command: Command, script: Script) -> list[Around]:
    """The words that the command is in the substitution of, the nearest first."""
    if Place.SUBSTITUTION not in command.places:
        return []
    found = script.once(_substitutions)
    end = bisect_left(found.starts, command.span.start)
    before = reversed(found.words[max(0, end - _FARTHEST) : end])
    return [each for each in before if command.span.end < each.word.span.end]
