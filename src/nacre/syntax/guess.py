"""What a text that cannot be parsed looks like: its words, cut crudely.

Bash runs every complete line before it meets a syntax error, and says so about
the rest. So the rest is not trusted, only searched: words after separators are
taken for commands.
"""

import re
from itertools import islice

from nacre.model.expression import expression
from nacre.syntax.ansi import unescape
from nacre.syntax.script import Command, Place
from nacre.syntax.tree import Span
from nacre.syntax.word import Word

__all__ = ("guess",)

_MOST_SEGMENTS = 100_000
_MOST_COMMANDS = 2_000
_LONGEST = 4096
_SEGMENT = expression(r"[^\n;&|(){}`]+")
_WORD = expression(r"(?:[^\s'\"\\<>]|\\.|'[^'\n]*'|\"[^\"\n]*\"|\\\n)+", re.DOTALL)
_QUOTE = expression(r"\\(.)|\$?'([^'\n]*)'|\$?\"([^\"\n]*)\"", re.DOTALL)
_SKIPPED = frozenset(
    ["if", "then", "elif", "else", "do", "while", "until", "time", "!", "coproc", "$"]
)
_ASSIGNED = expression(r"[A-Za-z_][A-Za-z0-9_]*\+?=")


def guess(text: str, start: int = 0) -> tuple[Command, ...]:
    """The commands that a text seems to hold from a position on, each once."""
    found: dict[str, Command] = {}
    for segment in islice(_SEGMENT.finditer(text, start), _MOST_SEGMENTS):
        told = segment[0][:_LONGEST]
        if told not in found and (command := _command(told, segment.start())):
            found[told] = command
            if len(found) >= _MOST_COMMANDS:
                break
    return tuple(found.values())


def _command(segment: str, at: int) -> Command | None:
    words: list[Word] = []
    for written in _WORD.finditer(segment):
        if not words and (written[0] in _SKIPPED or _ASSIGNED.match(written[0])):
            continue
        if not words and written[0].startswith("#"):
            return None
        span = Span(at + written.start(), at + written.end())
        words.append(Word(written[0], span, (_QUOTE.sub(_unquoted, written[0]),)))
    if not words:
        return None
    span = Span(words[0].span.start, words[-1].span.end)
    return Command(tuple(words), span, places=frozenset({Place.GUESSED}))


def _unquoted(found: re.Match[str]) -> str:
    if found[1] is not None:
        return "" if found[1] == "\n" else found[1]
    inside = found[2] if found[2] is not None else found[3]
    return unescape(inside) if found[0].startswith("$'") else inside
