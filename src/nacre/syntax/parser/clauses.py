"""Simple commands: assignments, words, redirections, and what stands between them."""

from abc import abstractmethod

from nacre.model.expression import expression
from nacre.syntax.budget import Budget
from nacre.syntax.parser.cursor import NotBashError, new
from nacre.syntax.parser.heredocs import Heredocs
from nacre.syntax.parser.lexer import SPECIAL, Lexer
from nacre.syntax.tree import (
    Array,
    Assignment,
    Function,
    Node,
    RawWord,
    Redirect,
    Simple,
    Span,
    Text,
)

__all__ = ("Clauses",)

_BLANKS = expression(r"(?:[ \t]|\\\n)+")
_BLANK_OR_COMMENT = frozenset(" \t\\#")
_BETWEEN = frozenset(" \t\n\\#")
_LINES = expression(r"(?:[ \t\n]+|\\\n|#[^\n]*)*")
_COMMENT = expression(r"#[^\n]*")
_KEYWORD = expression(
    r"(?:if|then|elif|else|fi|for|while|until|do|done|case|esac|select|function|time|coproc"
    r"|in|\[\[|[{}!])(?=[ \t\n|&;()<>]|\Z)"
)
_SPLIT_KEYWORD = expression(r"[a-z!{}\[]{1,8}\\\n")
_KEYWORDS = frozenset(
    {"if", "then", "elif", "else", "fi", "for", "while", "until", "do", "done", "case", "esac"}
    | {"select", "function", "time", "coproc", "in", "[[", "{", "}", "!"}
)
_REDIRECT = expression(
    r"(?:([0-9]+|\{[A-Za-z_][A-Za-z0-9_]*\})?(<<<|<<-|<<|<&|<>|<(?!\()|>>|>&|>\||>(?!\())"
    r"|(&>>|&>))"
)
_DESCRIPTOR = expression(r"[0-9]+[<>]")
_PLAIN_WORD = r"[^ \t\n|&;()<>'\"\\$`#][^ \t\n|&;()<>'\"\\$`]*(?=[ \t\n|&;)]|\Z)"
# The first could be an assignment; one that ends before `(`, `<` or `>` could be more than a word.
# A row has an end because it is paid for only when it is read.
_PLAIN_WORDS = expression(
    rf"(?![A-Za-z_][A-Za-z0-9_]*(?:\+?=|\[)){_PLAIN_WORD}(?: +{_PLAIN_WORD}){{0,63}}"
)
_ENDS_SIMPLE = frozenset(("\n", ";", "&", "|", ")", ""))
_BEGINS_REDIRECT = frozenset("<>&0123456789{")
_ASSIGNED = expression(r"([A-Za-z_][A-Za-z0-9_]*)(\+?=|\[)")
_DECLARED_ARRAY = expression(r"[A-Za-z_][A-Za-z0-9_]*(?:\[[^]\s]*\])?\+?=\(")
_EQUALS = expression(r"\+?=")
_PARENTHESES = expression(r"\([ \t]*\)")
_DECLARES = frozenset({"declare", "typeset", "local", "export", "readonly"})


class Clauses(Lexer):
    """Reads simple commands; every method starts and ends outside of words."""

    def __init__(self, text: str, budget: Budget, at: int | Span = 0, depth: int = 0) -> None:
        super().__init__(text, budget, at, depth)
        self.heredocs = Heredocs()
        self.ended = 0

    @abstractmethod
    def command(self) -> Node:
        """Read one command, simple or compound."""

    def _blanks(self) -> None:
        """Skip blanks, continued lines and a comment."""
        text, pos = self.text, self.pos
        char = text[pos : pos + 1]
        if char not in _BLANK_OR_COMMENT:
            return
        if char == " " and text[pos + 1 : pos + 2] not in _BLANK_OR_COMMENT:
            self.pos = pos + 1
            return
        if found := _BLANKS.match(text, pos):
            self.pos = pos = found.end()
        if text.startswith("#", pos) and (found := _COMMENT.match(text, pos)):
            self.pos = found.end()

    def _skip_lines(self) -> None:
        """Skip blanks, empty lines, comments, and the here-documents that wait for a line."""
        while self.heredocs.waiting:
            self._blanks()
            if not self.text.startswith("\n", self.pos):
                return
            self.pos += 1
            self.heredocs.read(self)
        text, start = self.text, self.pos
        if text[start : start + 1] in _BETWEEN and (found := _LINES.match(text, start)):
            self.pos = end = found.end()
            if comments := text.count("\n#", start, end):
                self.budget.spend(comments)

    def _peek_keyword(self) -> str | None:
        if found := _KEYWORD.match(self.text, self.pos):
            return found[0]
        if not (self.continued and _SPLIT_KEYWORD.match(self.text, self.pos)):
            return None
        start = self.pos
        try:
            word = self.word().plain
        except NotBashError:
            word = None
        self.pos = start
        return word if word in _KEYWORDS else None

    def _take(self, keyword: str) -> None:
        """Read a keyword that must stand here."""
        self._skip_lines()
        if self._peek_keyword() != keyword:
            raise NotBashError(f"{keyword!r} is missing")
        self._keyword(keyword)

    def _keyword(self, keyword: str) -> None:
        if self.text.startswith(keyword, self.pos):
            self.pos += len(keyword)
        else:
            self.word()
        self.ended = self.pos
        self._blanks()

    def _simple(self) -> Node:
        text, start = self.text, self.pos
        end = start
        assignments: list[Assignment] = []
        words: list[RawWord] = []
        redirects: list[Redirect] = []
        while True:
            self._blanks()
            char = text[self.pos : self.pos + 1]
            if char in _BEGINS_REDIRECT and (redirect := self._redirect()):
                redirects.append(redirect)
            elif char in _ENDS_SIMPLE:
                break
            elif char in SPECIAL:
                words.append(self.word())
            elif plain := self._plain_words():
                words += plain
            elif char == "(":
                if len(words) != 1 or assignments or redirects:
                    raise NotBashError("unexpected '('")
                self._empty_parentheses()
                return self._function_body(start, words[0])
            elif assignment := self._assignment(words):
                assignments.append(assignment)
            else:
                words.append(self.word())
            end = self.pos
        if end == start:
            raise NotBashError("a command is missing")
        fields = (self.span(start, end), tuple(assignments), tuple(words), tuple(redirects))
        return new(Simple, fields)

    def _plain_words(self) -> list[RawWord]:
        """Read a row of words without quotes and expansions at once, since most are such."""
        words: list[RawWord] = []
        at = self.at
        if not isinstance(at, int) or not (found := _PLAIN_WORDS.match(self.text, self.pos)):
            return words
        start = at + self.pos
        for value in found[0].split(" "):
            end = start + len(value)
            if value:
                part = new(Text, (value, False))
                words.append(new(RawWord, (new(Span, (start, end)), (part,))))
            start = end + 1
        self.pos = found.end()
        self.budget.spend(len(words))
        return words

    def _assignment(self, words: list[RawWord]) -> Assignment | None:
        """Read `name=value` before a command, or `name=(...)` after `declare` and its like."""
        found = _ASSIGNED.match(self.text, self.pos)
        if found is None:
            return None
        declared = bool(words)
        if declared and not (
            words[0].plain in _DECLARES and _DECLARED_ARRAY.match(self.text, self.pos)
        ):
            return None
        start, subscript, operator = self.pos, None, found[2]
        self.pos = found.end()
        if operator == "[":
            parts = self.subscript()
            subscript = RawWord(self.span(found.end(), self.pos), tuple(parts))
            equals = _EQUALS.match(self.text, self.pos)
            if equals is None:
                self.pos = start
                return None
            operator, self.pos = equals[0], equals.end()
        value = self._value()
        fields = (self.span(start, self.pos), found[1], value, operator == "+=", subscript)
        return new(Assignment, fields)

    def _value(self) -> RawWord | Array:
        if self.text.startswith("(", self.pos):
            return self._array()
        if self.pos >= len(self.text) or (
            self.text[self.pos] in " \t\n|&;()<>" and not self._substitutes()
        ):
            return RawWord(self.span(self.pos, self.pos), ())
        return self.word()

    def _array(self) -> Array:
        self.pos += 1
        words: list[RawWord] = []
        while True:
            self._skip_lines()
            if self.pos >= len(self.text):
                raise NotBashError("an array is not closed")
            if self.text[self.pos] == ")":
                self.pos += 1
                return Array(tuple(words))
            words.append(self._element() or self.word())

    def _element(self) -> RawWord | None:
        """Read `[subscript]=value` of an array, if one stands here."""
        start = self.pos
        if not self.text.startswith("[", start):
            return None
        self.pos += 1
        subscript = self.subscript()
        equals = _EQUALS.match(self.text, self.pos)
        if equals is None:
            self.pos = start
            return None
        self.pos = equals.end()
        value = self._value()
        parts = value.parts if isinstance(value, RawWord) else ()
        head, tail = Text("["), Text("]" + equals[0])
        return RawWord(self.span(start, self.pos), (head, *subscript, tail, *parts))

    def _patterns(self) -> list[RawWord]:
        """Read the patterns of a case, and the parenthesis after them."""
        words: list[RawWord] = []
        if self.text.startswith("(", self.pos):
            self.pos += 1
        while True:
            self._blanks()
            words.append(self.word())
            self._blanks()
            char = self.text[self.pos : self.pos + 1]
            self.pos += 1
            if char == ")":
                return words
            if char != "|":
                raise NotBashError("a pattern of a case is not closed")

    def _redirect(self) -> Redirect | None:
        """Read a redirection, if one stands here."""
        found = _REDIRECT.match(self.text, self.pos)
        if found is None:
            return None
        start, operator, descriptor = self.pos, found[2] or found[3], found[1] or ""
        self.pos = found.end()
        self._blanks()
        if operator not in {">&", "<&"} and _DESCRIPTOR.match(self.text, self.pos):
            raise NotBashError(f"a file is missing after {operator!r}")
        begun = self.pos
        target = self.word()
        span = self.span(start, self.pos)
        if operator not in {"<<", "<<-"}:
            return new(Redirect, (span, operator, descriptor, target, None))
        heredoc = self.heredocs.expect(self, begun, target, strip=operator == "<<-")
        return Redirect(span, operator, descriptor, None, heredoc)

    def _substitutes(self) -> bool:
        return self.text.startswith(("<(", ">("), self.pos)

    def _function(self, start: int) -> Function:
        """Read `name [()] body` after `function`."""
        name = self.word()
        self._blanks()
        if _PARENTHESES.match(self.text, self.pos):
            self._empty_parentheses()
        return self._function_body(start, name)

    def _empty_parentheses(self) -> None:
        self.pos += 1
        self._blanks()
        if not self.text.startswith(")", self.pos):
            raise NotBashError("unexpected '('")
        self.pos += 1

    def _function_body(self, start: int, name: RawWord) -> Function:
        self._skip_lines()
        if self._peek_keyword() is None and not self.text.startswith("(", self.pos):
            raise NotBashError("the body of a function is missing")
        body = self.command()
        text = "".join(part.value for part in name.parts if isinstance(part, Text))
        return Function(self.span(start, self.pos), text, body)
