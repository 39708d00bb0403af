"""The words and literals of a program in another language, without its comments.

Only as much of each language as tells code from text: what is in a string, what
in a comment, what in a regular expression. Nothing is known of its grammar.
"""

import re
from collections.abc import Iterator, Mapping
from enum import Enum
from typing import NamedTuple

from nacre.model.expression import expression
from nacre.model.value import dataclass
from nacre.syntax.ansi import unescape
from nacre.syntax.word import HOLE

__all__ = ("Kind", "Token", "tokens")


class Kind(Enum):
    """What a token is."""

    NAME = "name"
    TEXT = "text"  # a string; what is inserted into it is a hole
    SHELL = "shell"  # a text that the language itself has a shell read: backticks
    MARK = "mark"  # an operator, a bracket, the end of a line


class Token(NamedTuple):
    """One word, literal or mark of a program."""

    kind: Kind
    text: str


@dataclass(frozen=True, slots=True)
class _Lexicon:
    """How a language writes comments and strings.

    `raw` quotes keep backslashes, all but those before a quote or a backslash.
    `insertion` is what is inserted into a string; `slashes`: `/.../` is a regular expression.
    """

    comment: str
    raw: str = ""
    cooked: str = "\"'"
    backtick: Kind | None = None
    insertion: re.Pattern[str] | None = None
    slashes: bool = False
    percent: bool = False
    operators: bool = False


_BRACES = expression(r"\$\{[^{}]*\}")
_HASH_BRACES = expression(r"#\{[^{}]*\}")
_VARIABLE = expression(r"\{?[$@]\{?[A-Za-z_]\w*(?:\[[^\]]*\]|->\w+)*\}?\}?")
_FORMATTED = expression(r"\{\{|\}\}|\{[^{}]*\}")
_C = r"//[^\n]*|/\*[^*]*(?:\*(?!/)[^*]*)*(?:\*/)?"
_HASH = r"#[^\n]*"

_LEXICONS: Mapping[str, _Lexicon] = {
    "python": _Lexicon(_HASH),
    "javascript": _Lexicon(_C, backtick=Kind.TEXT, slashes=True),
    "perl": _Lexicon(_HASH, "'", '"', Kind.SHELL, _VARIABLE, slashes=True, operators=True),
    "ruby": _Lexicon(_HASH, "'", '"', Kind.SHELL, _HASH_BRACES, slashes=True, percent=True),
    "php": _Lexicon(f"{_HASH}|{_C}", "'", '"', Kind.SHELL, _VARIABLE),
    "lua": _Lexicon(r"--\[\[[^\]]*(?:\](?!\])[^\]]*)*(?:\]\])?|--[^\n]*"),
    "awk": _Lexicon(_HASH, cooked='"', slashes=True),
    "r": _Lexicon(_HASH),
    "julia": _Lexicon(_HASH, cooked='"', backtick=Kind.SHELL, insertion=_VARIABLE),
    "applescript": _Lexicon(r"--[^\n]*", cooked='"'),
    "tcl": _Lexicon(r"(?<=\n)[ \t]*#[^\n]*", cooked='"', insertion=_VARIABLE),
}
_NAME = expression(r"[A-Za-z_$@][\w$]*")
_NUMBER = expression(r"\d[\w.]*")
_BLANK = expression(r"[ \t\r\f]+|\\\n")
_PREFIXED = expression(r"([A-Za-z]{0,2})('''|\"\"\"|'|\")")
_LONG_BRACKET = expression(r"\[\[([^\]]*(?:\](?!\])[^\]]*)*)\]\]")
_NOT_BEFORE_OPERATOR = frozenset("$@%&_>-.")
_BEFORE_VALUE = frozenset(
    {"if", "unless", "and", "or", "not", "return", "print", "puts", "grep", "split", "while"}
    | {"until", "when", "in", "of", "case", "typeof", "await", "x", "map", "join"}
)
_CLOSING = {"(": ")", "[": "]", "{": "}", "<": ">"}
_QUOTE_OPERATOR = expression(r"(qx|qq|qw|qr|q|m|s|tr|y)\s*([^\w\s,;=)}])")
_PERCENT = expression(r"%([xqQwWiIr]?)([^\w\s=])")
_REGEX = expression(r"/(?![*\s=])(?:[^/\\\n\[]|\\.|\[(?:[^\]\\\n]|\\.)*\])+/[a-z]*")


def tokens(language: str, code: str) -> list[Token]:
    """Cut a program into its words, literals and marks."""
    lexicon = _LEXICONS.get(language)
    if lexicon is None:
        return []
    return list(_Scanner(language, lexicon, code).scan())


class _Scanner:
    """A place in a program, moving on."""

    def __init__(self, language: str, lexicon: _Lexicon, code: str) -> None:
        self.language = language
        self.lexicon = lexicon
        self.code = code
        self.at = 0
        self.operand = False
        self.comment = re.compile(lexicon.comment)

    def scan(self) -> Iterator[Token]:
        """Every token, up to the end."""
        while self.at < len(self.code):
            if not (self._matched(_BLANK) or self._matched(self.comment)):
                token = self._token()
                # After a value, a slash divides; anywhere else it begins a regular expression.
                self.operand = (
                    token.text in {")", "]"}
                    if token.kind is Kind.MARK
                    else token.text not in _BEFORE_VALUE
                )
                yield token

    def _matched(self, pattern: re.Pattern[str]) -> re.Match[str] | None:
        if found := pattern.match(self.code, self.at):
            self.at = found.end()
        return found

    def _token(self) -> Token:
        lexicon, letter = self.lexicon, self.code[self.at]
        special = self._special()
        if special is not None:
            return special
        if letter in lexicon.raw or letter in lexicon.cooked:
            return Token(Kind.TEXT, self._string(letter, raw=letter in lexicon.raw))
        if letter == "`" and lexicon.backtick:
            insertion = _BRACES if lexicon.backtick is Kind.TEXT else lexicon.insertion
            return Token(lexicon.backtick, self._inserted(self._until("`"), insertion))
        if found := self._matched(_NAME):
            return Token(Kind.NAME, found[0])
        if self._matched(_NUMBER):
            return Token(Kind.NAME, "0")
        self.at += 1
        return Token(Kind.MARK, letter)

    def _special(self) -> Token | None:
        """What only some languages have."""
        lexicon, letter = self.lexicon, self.code[self.at]
        if self.language == "python" and (found := _PREFIXED.match(self.code, self.at)):
            return self._python(found)
        if self.language == "lua" and (found := self._matched(_LONG_BRACKET)):
            return Token(Kind.TEXT, found[1])
        if lexicon.slashes and letter == "/" and not self.operand and self._matched(_REGEX):
            return Token(Kind.NAME, "/")
        if lexicon.percent and letter == "%" and not self.operand:
            return self._operator(_PERCENT)
        if lexicon.operators and letter in "qmsty":
            return self._operator(_QUOTE_OPERATOR)
        return None

    def _python(self, found: re.Match[str]) -> Token:
        prefix, quote = found[1].lower(), found[2]
        self.at = found.end() - len(quote)
        if len(quote) == 1:
            text = self._until(quote)
        else:
            start = self.at + len(quote)
            end = self.code.find(quote, start)
            end = len(self.code) if end < 0 else end
            text = self.code[start:end]
            self.at = end + len(quote)
        if "r" not in prefix:
            text = unescape(text)
        return Token(Kind.TEXT, _FORMATTED.sub(_field, text) if "f" in prefix else text)

    def _operator(self, pattern: re.Pattern[str]) -> Token | None:
        """Perl's and Ruby's own quotes: `qx{...}`, `%x(...)`, `m/.../`, `s/.../.../`."""
        before = self.code[self.at - 1 : self.at]
        found = pattern.match(self.code, self.at)
        if found is None or before.isalnum() or before in _NOT_BEFORE_OPERATOR:
            return None
        name, opening = found.groups()
        self.at = found.end() - 1
        text = self._delimited(opening)
        if name in {"s", "tr", "y"}:
            self.at -= opening not in _CLOSING
            self._matched(_BLANK)
            self._delimited(self.code[self.at : self.at + 1])
        if name in {"m", "s", "tr", "y", "qr", "r"}:
            return Token(Kind.NAME, "/")
        if name not in {"q", "qw", "w", "i"}:
            text = self._inserted(unescape(text), self.lexicon.insertion)
        return Token(Kind.SHELL if name in {"qx", "x"} else Kind.TEXT, text)

    def _delimited(self, opening: str) -> str:
        """The text up to a delimiter, with pairs of brackets inside it."""
        closing = _CLOSING.get(opening)
        if closing is None:
            return self._until(opening)
        start, depth = self.at + 1, 0
        for found in re.compile(rf"\\.|[{re.escape(opening + closing)}]").finditer(
            self.code, self.at
        ):
            depth += (found[0] == opening) - (found[0] == closing)
            if not depth and found[0] == closing:
                self.at = found.end()
                return self.code[start : found.start()]
        self.at = len(self.code)
        return self.code[start:]

    def _string(self, quote: str, *, raw: bool) -> str:
        text = self._until(quote)
        if raw:
            return text.replace("\\\\", "\\").replace(f"\\{quote}", quote)
        return self._inserted(unescape(text), self.lexicon.insertion)

    def _inserted(self, text: str, insertion: re.Pattern[str] | None) -> str:
        return insertion.sub(HOLE, text) if insertion else text

    def _until(self, closing: str) -> str:
        """The text up to a quote that no backslash hides; both quotes are passed."""
        pattern = _BODIES.get(closing) or _body(closing)
        found = pattern.match(self.code, self.at + 1)
        end = found.end() if found else len(self.code)
        text = self.code[self.at + 1 : end]
        self.at = end + 1
        return text


def _field(found: re.Match[str]) -> str:
    return found[0][0] if found[0] in {"{{", "}}"} else HOLE


def _body(closing: str) -> re.Pattern[str]:
    plain = rf"[^{re.escape(closing)}\\]*"
    return re.compile(rf"{plain}(?:\\.{plain})*", re.DOTALL)


_BODIES = {quote: _body(quote) for quote in "'\"`/"}
