"""Words as bash's own lexer cuts them: quotes, expansions, substitutions.

The half of the strict parser that reads inside of words. What stands between
`$(` and `)` is commands again, so the grammar is called back for it.

A backslash before a newline is removed wherever bash removes it, which is
everywhere but in single quotes, comments and quoted here-documents.
"""

from nacre.model.expression import expression
from nacre.syntax.parser.cursor import NotBashError, new
from nacre.syntax.parser.expansions import Expansions, joined
from nacre.syntax.tree import Parameter, Part, RawWord, Text

__all__ = ("SPECIAL", "Lexer")

SPECIAL = frozenset("'\"\\$`")
# Unquoted characters without a meaning to the lexer; globs, braces and `~` are for later.
_RUN = expression(r"[^ \t\n|&;()<>'\"\\$`]+")
_PLAIN_WORD = expression(r"[^ \t\n|&;()<>'\"\\$`]+(?=[ \t\n|&;)]|\Z)")
_ENDS_WORD = frozenset((*" \t\n|&;()", ""))
_NAME = r"[A-Za-z_][A-Za-z0-9_]*|[0-9]|[@*#?$!-]"
_BRACED = r"\{([A-Za-z_][A-Za-z0-9_]*)\}"
# Text in double quotes, and with it what most often follows: their end, or a name.
_DOUBLE_RUN = expression(rf'([^"\\$`]*)(?:(")|\$(?:({_NAME})|{_BRACED}))?')
_QUOTED_WORD = expression(
    rf"""(?:'([^']*)'|"(?:([^"\\$`]*)|\$(?:({_NAME})|{_BRACED}))")(?=[ \t\n|&;)]|\Z)"""
)
_CLOSED, _NAMED = 2, 3
_BODY_RUN = expression(r"[^\\$`]+")
_EXTGLOB = frozenset("?*+@!")


class Lexer(Expansions):
    """Reads one word, or the lines of a here-document."""

    def word(self) -> RawWord:
        """Read one word; there must be one."""
        text, start = self.text, self.pos
        if text[start : start + 1] in SPECIAL:
            if part := self._quoted_word():
                return new(RawWord, (self.span(start, self.pos), (part,)))
        elif plain := _PLAIN_WORD.match(text, start):
            self.budget.spend()
            self.pos = end = plain.end()
            return new(RawWord, (self.span(start, end), (new(Text, (plain[0], False)),)))
        self.budget.spend()
        parts: list[Part] = []
        while (char := text[self.pos : self.pos + 1]) not in _ENDS_WORD:
            if char == '"':
                self.budget.spend()
                self.pos += 1
                self.double(parts)
            elif not self._word_part(parts):
                break
        if self.pos == start:
            raise NotBashError(f"unexpected {text[start : start + 1]!r}")
        return new(RawWord, (self.span(start, self.pos), joined(parts)))

    def _quoted_word(self) -> Part | None:
        """Read a word that is one text or one name in quotes, as most quoted words are."""
        found = _QUOTED_WORD.match(self.text, self.pos)
        if found is None:
            return None
        self.pos = found.end()
        self.budget.spend(2)
        index = found.lastindex or 0
        if index < _NAMED:
            return new(Text, (found[index], True))
        return self._named(found[index], braced=index > _NAMED)

    def _word_part(self, parts: list[Part]) -> bool:
        """Read one part of an unquoted word, or say that it is over."""
        text, pos = self.text, self.pos
        char = text[pos]
        if char in SPECIAL:
            self.special(parts)
        elif run := _RUN.match(text, pos):
            self.pos = run.end()
            parts.append(new(Text, (run[0], False)))
            if text.startswith("(", self.pos) and text[self.pos - 1] in _EXTGLOB:
                self._extglob(parts)
        elif char in "<>":
            if not text.startswith("(", pos + 1):
                return False
            self.pos = pos + 2
            parts.append(self.substitution(char + "(", quoted=False))
        else:
            return False
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
        before, text = len(parts), self.text
        while run := _DOUBLE_RUN.match(text, self.pos):
            self.pos = run.end()
            if run[1]:
                parts.append(new(Text, (run[1], True)))
            index = run.lastindex or 0
            if index == _CLOSED:
                break
            if index >= _NAMED:
                parts.append(self._named(run[index], braced=index > _NAMED))
            elif self.pos >= len(text):
                raise NotBashError("a double quote is not closed")
            else:
                self._quoted_part(parts, escapes='$`"\\')
        if len(parts) == before:
            parts.append(Text("", quoted=True))

    def _named(self, name: str, *, braced: bool) -> Parameter:
        """Pay for a name in double quotes, and make it."""
        self.budget.spend()
        if braced:
            self.deeper()
            self.depth -= 1
        return new(Parameter, (name, "", (), True))

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
