"""Simple commands: assignments, words, redirections, and what stands between them."""

import re
from abc import abstractmethod

from nacre.syntax.budget import Budget
from nacre.syntax.cursor import NotBashError
from nacre.syntax.heredocs import Heredocs
from nacre.syntax.lexer import Lexer
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

_new = tuple.__new__

_BLANKS = re.compile(r"(?:[ \t]|\\\n)+")
_BLANK_OR_COMMENT = frozenset(" \t\\#")
_EMPTY_LINES = re.compile(r"[ \t\n]+(?=\n)")
_COMMENT = re.compile(r"#[^\n]*")
_KEYWORD = re.compile(
    r"(?:if|then|elif|else|fi|for|while|until|do|done|case|esac|select|function|time|coproc"
    r"|in|\[\[|[{}!])(?=[ \t\n|&;()<>]|\Z)"
)
_SPLIT_KEYWORD = re.compile(r"[a-z!{}\[]{1,8}\\\n")
_KEYWORDS = frozenset(
    {"if", "then", "elif", "else", "fi", "for", "while", "until", "do", "done", "case", "esac"}
    | {"select", "function", "time", "coproc", "in", "[[", "{", "}", "!"}
)
_REDIRECT = re.compile(
    r"(?:([0-9]+|\{[A-Za-z_][A-Za-z0-9_]*\})?(<<<|<<-|<<|<&|<>|<(?!\()|>>|>&|>\||>(?!\())"
    r"|(&>>|&>))"
)
_DESCRIPTOR = re.compile(r"[0-9]+[<>]")
# A row of words without quotes and expansions that end where no redirection begins.
_PLAIN_WORDS = re.compile(
    r"(?! )(?: *+[^ \t\n|&;()<>'\"\\$`#][^ \t\n|&;()<>'\"\\$`]*+(?=[ \t\n|&;)]|\Z))++"
)
_ENDS_SIMPLE = frozenset(("\n", ";", "|", ")", ""))
_BEGINS_REDIRECT = frozenset("<>&0123456789{")
_ASSIGNED = re.compile(r"([A-Za-z_][A-Za-z0-9_]*+)(\+?=|\[)")
_DECLARED_ARRAY = re.compile(r"[A-Za-z_][A-Za-z0-9_]*(?:\[[^]\s]*\])?\+?=\(")
_EQUALS = re.compile(r"\+?=")
_PARENTHESES = re.compile(r"\([ \t]*\)")
_DECLARES = frozenset({"declare", "typeset", "local", "export", "readonly"})


class Clauses(Lexer):
    """Reads simple commands; every method starts and ends outside of words."""

    def __init__(self, text: str, budget: Budget, at: int | Span = 0, depth: int = 0) -> None:
        super().__init__(text, budget, at, depth)
        self.heredocs = Heredocs()
        self.continued = "\\\n" in text
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
        self._blanks()
        text = self.text
        while text[self.pos : self.pos + 1] == "\n":
            self.pos += 1
            if self.heredocs.waiting:
                self.heredocs.read(self)
            elif found := _EMPTY_LINES.match(text, self.pos):
                self.pos = found.end()
            if text[self.pos : self.pos + 1] == "#":
                self.budget.spend()
            self._blanks()

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
            if char in _ENDS_SIMPLE:
                break
            if char in _BEGINS_REDIRECT and (redirect := self._redirect()):
                redirects.append(redirect)
            elif char == "&":
                break
            elif char == "(":
                if len(words) != 1 or assignments or redirects:
                    raise NotBashError("unexpected '('")
                self._empty_parentheses()
                return self._function_body(start, words[0])
            elif assignment := self._assignment(words):
                assignments.append(assignment)
            elif not self._plain_words(words):
                words.append(self.word())
            end = self.pos
        if end == start:
            raise NotBashError("a command is missing")
        span = self.span(start, end)
        return Simple(span, tuple(assignments), tuple(words), tuple(redirects))

    def _plain_words(self, words: list[RawWord]) -> bool:
        """Read the plain words from here on, as most words are, with one look at the text."""
        found, at, before = _PLAIN_WORDS.match(self.text, self.pos), self.at, len(words)
        if found is None or not isinstance(at, int):
            return False
        start = at + self.pos
        for value in found[0].split(" "):
            end = start + len(value)
            if value:
                # Half the time of calling the class, which a word of a long script shows.
                text = _new(Text, (value, False))
                words.append(_new(RawWord, (_new(Span, (start, end)), (text,))))
            start = end + 1
        self.pos = found.end()
        self.budget.spend(len(words) - before)
        return True

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
        span = self.span(start, self.pos)
        return Assignment(span, found[1], value, operator == "+=", subscript)

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
        target = self.word()
        span = self.span(start, self.pos)
        if operator not in {"<<", "<<-"}:
            return Redirect(span, operator, descriptor, target)
        heredoc = self.heredocs.expect(self, target, strip=operator == "<<-")
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
