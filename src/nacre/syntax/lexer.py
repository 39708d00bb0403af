"""Words as bash's own lexer cuts them: quotes, expansions, substitutions.

The half of the strict parser that reads inside of words. What stands between
`$(` and `)` is commands again, so the grammar is called back for it.

A backslash before a newline is removed wherever bash removes it, which is
everywhere but in single quotes, comments and quoted here-documents.
"""

import re

from nacre.syntax.cursor import NotBashError
from nacre.syntax.expansions import Expansions, joined
from nacre.syntax.tree import Part, RawWord, Span, Text

__all__ = ("Lexer",)

# Unquoted characters without a meaning to the lexer; globs, braces and `~` are for later.
_RUN = re.compile(r"[^ \t\n|&;()<>'\"\\$`]+")
_ENDS_WORD = frozenset((*" \t\n|&;()", ""))
_DOUBLE_RUN = re.compile(r'[^"\\$`]+')
_BODY_RUN = re.compile(r"[^\\$`]+")
_EXTGLOB = frozenset("?*+@!")


class Lexer(Expansions):
    """Reads one word, or the lines of a here-document."""

    def word(self) -> RawWord:
        """Read one word; there must be one."""
        self.budget.spend()
        text, start = self.text, self.pos
        run = _RUN.match(text, start)
        if run:
            end = run.end()
            after = text[end : end + 1]
            if after in _ENDS_WORD and (after != "(" or text[end - 1] not in _EXTGLOB):
                self.pos = end
                at = self.at
                span = Span(at + start, at + end) if type(at) is int else self.span(start, end)
                return RawWord(span, (Text(run[0]),))
        parts: list[Part] = []
        while self.pos < len(text) and self._word_part(parts):
            pass
        if self.pos == start:
            raise NotBashError(f"unexpected {text[start : start + 1]!r}")
        return RawWord(self.span(start, self.pos), joined(parts))

    def _word_part(self, parts: list[Part]) -> bool:
        """Read one part of an unquoted word, or say that it is over."""
        text, pos = self.text, self.pos
        char = text[pos]
        if run := _RUN.match(text, pos):
            self.pos = run.end()
            parts.append(Text(run[0]))
            if text.startswith("(", self.pos) and text[self.pos - 1] in _EXTGLOB:
                self._extglob(parts)
        elif char in "<>":
            if not text.startswith("(", pos + 1):
                return False
            self.pos = pos + 2
            parts.append(self.substitution(char + "(", quoted=False))
        elif char in _ENDS_WORD:
            return False
        else:
            self.special(parts)
        return True

    def special(self, parts: list[Part]) -> None:
        """Read a quote, an escape or an expansion of unquoted text."""
        self.budget.spend()
        char = self.text[self.pos]
        if char == "'":
            parts.append(Text(self._single(), quoted=True))
        elif char == '"':
            self.pos += 1
            self.double(parts)
        elif char == "\\":
            self._escape(parts)
        elif char == "`":
            parts.append(self.backticks(quoted=False))
        else:
            self.dollar(parts, quoted=False)

    def _escape(self, parts: list[Part]) -> None:
        escaped = self.text[self.pos + 1 : self.pos + 2]
        self.pos += 1 + len(escaped)
        if escaped != "\n":
            parts.append(Text(escaped or "\\", quoted=True))

    def _single(self) -> str:
        start = self.pos + 1
        end = self.text.find("'", start)
        if end < 0:
            raise NotBashError("a single quote is not closed")
        self.pos = end + 1
        return self.text[start:end]

    def double(self, parts: list[Part]) -> None:
        """Read to the closing double quote; an empty string is a part, too."""
        before = len(parts)
        while True:
            if run := _DOUBLE_RUN.match(self.text, self.pos):
                self.pos = run.end()
                parts.append(Text(run[0], quoted=True))
            char = self.text[self.pos : self.pos + 1]
            if char == '"':
                self.pos += 1
                if len(parts) == before:
                    parts.append(Text("", quoted=True))
                return
            if not char:
                raise NotBashError("a double quote is not closed")
            self._quoted_part(parts, escapes='$`"\\')

    def _quoted_part(self, parts: list[Part], escapes: str) -> None:
        """Read a backslash or an expansion of text in double quotes or a here-document."""
        self.budget.spend()
        char = self.text[self.pos]
        if char == "\\":
            escaped = self.text[self.pos + 1 : self.pos + 2]
            self.pos += 1 + len(escaped)
            if escaped and escaped in escapes:
                parts.append(Text(escaped, quoted=True))
            elif escaped != "\n":
                parts.append(Text("\\" + escaped, quoted=True))
        elif char == "`":
            parts.append(self.backticks(quoted=True))
        else:
            self.dollar(parts, quoted=True)

    def body(self, end: int) -> tuple[Part, ...]:
        """Read the lines of an unquoted here-document up to a position."""
        parts: list[Part] = []
        whole, self.text = self.text, self.text[:end]
        while self.pos < end:
            if run := _BODY_RUN.match(self.text, self.pos):
                self.pos = run.end()
                parts.append(Text(run[0], quoted=True))
            else:
                self._quoted_part(parts, escapes="$`\\")
        self.text = whole
        return joined(parts)

    def regex(self) -> RawWord:
        """Read the right side of `=~`: parentheses and bars belong to it."""
        start, level, parts = self.pos, 0, list[Part]()
        while self.pos < len(self.text):
            char = self.text[self.pos]
            if char in "()|":
                level += {"(": 1, ")": -1, "|": 0}[char]
                self.pos += 1
                parts.append(Text(char))
            elif char in " \t\n" and level > 0:
                self.pos += 1
                parts.append(Text(char))
            elif not self._word_part(parts):
                break
        return RawWord(self.span(start, self.pos), joined(parts))

    def _extglob(self, parts: list[Part]) -> None:
        """Read `(a|b)` of an extended glob; which files it finds is not known."""
        self.deeper()
        self.pos += 1
        parts.append(Text("*"))
        while True:
            char = self.text[self.pos : self.pos + 1]
            if not char:
                raise NotBashError("a parenthesis is not closed")
            if char == ")":
                self.pos += 1
                break
            if char in " \t\n|&;(" or not self._word_part(parts):
                self.pos += 1
        self.depth -= 1
