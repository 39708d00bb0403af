"""The commands that were found in a script, for a person who wonders."""

import shlex
import sys
from collections.abc import Iterator

from nacre.cli.terminal import coloured
from nacre.render.underline import one_line
from nacre.syntax.script import Command, Redirection, Script
from nacre.syntax.word import CWD, Word, shown

__all__ = ("commands_of", "explained")

_WORDS_CHARACTERS = 160


def explained(script: Script) -> Iterator[str]:
    """A line for each command: its words as far as they are known, how it is run, and where."""
    if script.unreadable:
        yield f"not read whole: {one_line(script.unreadable, _WORDS_CHARACTERS)}"
    if not script.commands:
        yield "no commands"
    for command in script.commands:
        notes = "; ".join(_notes(command))
        line = one_line(_line(command), _WORDS_CHARACTERS)
        yield f"{line}  {coloured(f'# {notes}', 'grey', sys.stdout)}" if notes else line


def commands_of(script: Script) -> list[dict[str, object]]:
    """The same by name."""
    return [
        {
            "words": [_word(word) for word in command.words],
            "assignments": {
                each.name: [_word(word) for word in each.words] for each in command.assignments
            },
            "redirections": [_redirection(each) for each in command.redirections],
            "via": [f"{via.kind.value} {via.name}" for via in command.via],
            "places": sorted(place.name.lower() for place in command.places),
            "cwd": shown(command.cwd),
            "span": list(command.span),
        }
        for command in script.commands
    ]


def _line(command: Command) -> str:
    assigned = (
        f"{each.name}={' '.join(_word(word) for word in each.words)}"
        for each in command.assignments
    )
    words = (_word(word) for word in command.words)
    return " ".join((*assigned, *words, *map(_redirection, command.redirections)))


def _word(word: Word) -> str:
    """A word as it would be, or as it could be: `{a|b}`."""
    templates = [shown(each) for each in word.templates]
    if len(templates) > 1:
        return f"{{{'|'.join(templates)}}}"
    return shlex.quote(templates[0]) if word.value is not None else templates[0]


def _redirection(redirection: Redirection) -> str:
    target = _word(redirection.target) if redirection.target else ""
    return f"{redirection.descriptor}{redirection.operator}{target}"


def _notes(command: Command) -> Iterator[str]:
    if command.via:
        yield "via " + ", ".join(via.name for via in command.via)
    yield from sorted(place.value for place in command.places)
    if command.cwd != CWD:
        yield f"in {shown(command.cwd)}"
