"""Here-documents: announced in a line, read where the line ends."""

import re

from nacre.model.expression import expression
from nacre.model.value import dataclass
from nacre.syntax.parser.lexer import Lexer
from nacre.syntax.tree import Heredoc, RawWord, Text

__all__ = ("Heredocs",)

_TABS = expression(r"^\t+", re.MULTILINE)
_QUOTES = expression(r"\\(.)|\$?'([^']*)'|\$?\"([^\"]*)\"", re.DOTALL)


@dataclass(slots=True)
class _Expected:
    delimiter: str
    strip: bool
    heredoc: Heredoc


class Heredocs:
    """The here-documents that a line announced and that are still to come.

    `waiting` says whether some were announced and not read.
    """

    __slots__ = ("_closer", "_expected", "waiting")

    def __init__(self, closer: str = "") -> None:
        self._closer = closer
        self._expected: list[_Expected] = []
        self.waiting = False

    def expect(self, lexer: Lexer, start: int, word: RawWord, *, strip: bool) -> Heredoc:
        """Announce one by the word just read; its body is filled in at the end of the line."""
        written = lexer.text[start : lexer.pos]
        written = written.replace("\\\n", "")
        delimiter = _QUOTES.sub(lambda found: found[1] or found[2] or found[3] or "", written)
        heredoc = Heredoc(word.span, RawWord(word.span, ()), delimiter != written)
        self._expected.append(_Expected(delimiter, strip, heredoc))
        self.waiting = True
        return heredoc

    def read(self, lexer: Lexer) -> None:
        """Read the bodies of all that were announced, from the start of a line."""
        for expected in self._expected:
            self._read_one(lexer, expected)
        self._expected.clear()
        self.waiting = False

    def _read_one(self, lexer: Lexer, expected: _Expected) -> None:
        start, text, heredoc = lexer.pos, lexer.text, expected.heredoc
        end, after = self._end(text, start, expected)
        span = lexer.span(start, end)
        heredoc.span = span
        if heredoc.quoted:
            body = text[start:end]
            if expected.strip:
                body = _TABS.sub("", body)
            heredoc.body = RawWord(span, (Text(body, quoted=True),))
        else:
            heredoc.body = RawWord(span, lexer.body(end))
        lexer.pos = after

    def _end(self, text: str, start: int, expected: _Expected) -> tuple[int, int]:
        """Where the lines end, and where the text goes on."""
        if expected.heredoc.quoted or text.find("\\\n", start) < 0:
            start = self._first_candidate(text, start, expected)
        pos = start
        while pos < len(text):
            end, line = self._line(text, pos, joined=not expected.heredoc.quoted)
            told = line.lstrip("\t") if expected.strip else line
            if told == expected.delimiter:
                return pos, min(end + 1, len(text))
            if self._closer and told.startswith(expected.delimiter + self._closer):
                return pos, pos + line.index(told) + len(expected.delimiter)
            pos = end + 1
        return len(text), len(text)

    def _first_candidate(self, text: str, start: int, expected: _Expected) -> int:
        """The start of the first line that could be the delimiter, or the end of the text."""
        tabs = r"\t*" if expected.strip else ""
        pattern = rf"^{tabs}{re.escape(expected.delimiter)}{'' if self._closer else '$'}"
        found = re.compile(pattern, re.MULTILINE).search(text, start)
        return found.start() if found else len(text)

    def _line(self, text: str, pos: int, *, joined: bool) -> tuple[int, str]:
        """One line and where it ends; a backslash at its end joins the next if asked for."""
        pieces: list[str] = []
        while True:
            end = text.find("\n", pos)
            end = len(text) if end < 0 else end
            piece = text[pos:end]
            backslashes = len(piece) - len(piece.rstrip("\\"))
            if not joined or backslashes % 2 == 0 or end >= len(text):
                return end, "".join((*pieces, piece))
            pieces.append(piece[:-1])
            pos = end + 1
