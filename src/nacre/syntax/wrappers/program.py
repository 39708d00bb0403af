"""A program's calls and their arguments, as far as they are literals."""

from collections.abc import Sequence

from nacre.syntax.encodings import decoded, from_base64, from_hex
from nacre.syntax.word import HOLE, HOME, known
from nacre.syntax.wrappers.literals import Kind, Token, tokens

__all__ = ("Program",)

_DEEPEST = 12
# How far into an argument its form is looked for, and how long a statement is.
_NEAR = 400
_STATEMENT = 100
_OPENING = {"(": ")", "[": "]", "{": "}"}
_CLOSING = frozenset(_OPENING.values())
_LIST_NAMES = frozenset({"c", "list", "array", "Array"})
# Functions that give back what they are given, as far as a command is concerned.
_THROUGH = frozenset(
    {"str", "String", "Path", "PurePath", "quote", "split", "expanduser", "abspath", "realpath"}
    | {"resolve", "bytes", "fspath", "shlex", "expand_path", "normpath"}
)
_METHODS = frozenset(
    {"format", "strip", "rstrip", "lstrip", "encode", "decode", "split", "trim", "toString"}
    | {"to_s", "chomp", "freeze", "as_posix"}
)
_DECODERS = {
    "b64decode": from_base64,
    "decode64": from_base64,
    "decode_base64": from_base64,
    "base64_decode": from_base64,
    "atob": from_base64,
    "fromhex": from_hex,
    "unhexlify": from_hex,
}
_HOMES = frozenset({"HOME", "home", "homedir", "$HOME"})
_ENDS = frozenset({"if", "unless", "or", "and", "do", "while", "then", "for", "rescue"})


class Program:
    """The tokens of a program, and which bracket closes which."""

    def __init__(self, language: str, code: str) -> None:
        self.code = code
        self.tokens = tokens(language, code)
        self.closing = _brackets(self.tokens)
        self.constants = _constants(self.tokens)

    def arguments(self, at: int) -> list[range]:
        """Where the arguments of the call of a name stand; brackets may be missing."""
        start = at + 1
        if self.tokens[start].text == "(" and self.tokens[start].kind is Kind.MARK:
            # What is never closed is an error in any language, and does not run.
            return self._split(range(start + 1, self.closing.get(start, start)))
        return self._split(range(start, self.statement_end(start)))

    def statement_start(self, at: int) -> int:
        """Where the statement begins that a token stands in, or far enough from there."""
        first = max(0, at - _STATEMENT)
        while at > first and not (
            self.tokens[at - 1].kind is Kind.MARK and self.tokens[at - 1].text in ";\n{}("
        ):
            at -= 1
        return at

    def statement_end(self, at: int) -> int:
        """Where the statement ends that a token stands in, or far enough from there."""
        last = min(len(self.tokens), at + _STATEMENT)
        while at < last:
            token = self.tokens[at]
            if token.kind is Kind.MARK and (token.text in ";\n|&" or token.text in _CLOSING):
                break
            if token.kind is Kind.NAME and token.text in _ENDS:
                break
            at = self.closing.get(at, at) + 1
        return min(at, last)

    def _split(self, part: range) -> list[range]:
        """Cut at commas that are in no bracket."""
        found: list[range] = []
        start = at = part.start
        while at < part.stop:
            if self._is_mark(at, ","):
                found.append(range(start, at))
                start = at + 1
            at = self.closing.get(at, at) + 1
        if start < part.stop:
            found.append(range(start, part.stop))
        return [each for each in found if self._first(each) is not None]

    def _first(self, part: range) -> int | None:
        return next((at for at in part if not self._is_mark(at, "\n")), None)

    def _is_mark(self, at: int, text: str) -> bool:
        return self.tokens[at].kind is Kind.MARK and self.tokens[at].text == text

    def items(self, part: range, depth: int = 0) -> list[str] | None:
        """The members of a list; nothing if it is none."""
        at = self._first(part)
        if at is None or depth > _DEEPEST:
            return None
        if self.tokens[at].text in _LIST_NAMES and at + 1 in part and self._is_mark(at + 1, "("):
            at += 1
        elif not (self._is_mark(at, "[") or self._is_mark(at, "(")):
            return None
        inside = range(at + 1, min(self.closing.get(at, part.stop), part.stop))
        members = self._split(inside)
        if self._is_mark(at, "(") and len(members) == 1 and self.tokens[at - 1].text == "(":
            return self.items(members[0], depth + 1)
        return [self.value(each, depth + 1) for each in members]

    def listed(self, parts: Sequence[range]) -> list[str]:
        """The members of the first list in some arguments, however deep."""
        for part in parts:
            for at in part[:_NEAR]:
                if self._is_mark(at, "[") or self.tokens[at].text == "c":
                    return self.items(range(at, part.stop)) or []
        return []

    def mentions(self, parts: Sequence[range], name: str) -> bool:
        """Whether a name occurs in some arguments."""
        return any(self.tokens[at].text == name for part in parts for at in part[:_NEAR])

    def has_text(self, part: range) -> bool:
        """Whether any of an argument is a literal."""
        return any(
            token.kind is Kind.TEXT or token.text in self.constants
            for token in self.tokens[part.start : min(part.stop, part.start + _NEAR)]
        )

    def value(self, part: range, depth: int = 0) -> str:
        """The text an expression makes, with holes for what is not known."""
        pieces: list[str] = []
        at = part.start
        while at < part.stop:
            token = self.tokens[at]
            if token.kind is Kind.TEXT:
                pieces.append(token.text)
                at += 1
            elif token.kind is Kind.NAME:
                at = self._reference(at, part.stop, depth, pieces)
            elif token.text in _OPENING and depth < _DEEPEST:
                end = min(self.closing.get(at, part.stop), part.stop)
                pieces.append(self.value(range(at + 1, end), depth + 1))
                at = end + 1
            else:
                at += 1
        return "".join(pieces)

    def _reference(self, at: int, stop: int, depth: int, pieces: list[str]) -> int:
        """Add what a name stands for, with the fields and calls after it; where it ends."""
        name, end = self.tokens[at].text, at + 1
        method = bool(pieces) and self.tokens[at - 1].text in {".", ">"}
        if name in self.constants and not method:
            pieces.append(self.constants[name])
            return end
        seen = {name}
        while end + 1 < stop and self.tokens[end].text in {".", ":"} and self._names(end + 1):
            name = self.tokens[end + 1].text
            seen.add(name)
            end += 2
        inside = range(end, end)
        if end < stop and self.tokens[end].kind is Kind.MARK and self.tokens[end].text in _OPENING:
            closing = min(self.closing.get(end, stop), stop)
            inside, end = range(end + 1, closing), closing + 1
        if method and name == "join":
            pieces.append(pieces.pop().join(self.items(inside) or [HOLE]))
        elif not (method and name in _METHODS):
            pieces.append(self._result(name, seen, inside, depth))
        return end

    def _names(self, at: int) -> bool:
        return self.tokens[at].kind is Kind.NAME or self.tokens[at].text == ":"

    def _result(self, name: str, seen: set[str], inside: range, depth: int) -> str:
        """What a function or a field gives."""
        if name in _THROUGH and depth < _DEEPEST:
            parts = self._split(inside)
            text = self.value(parts[0], depth + 1) if parts else HOLE
            expands = name in {"expanduser", "expand_path"} and text[:1] == "~"
            return HOME + text[1:] if expands else text
        if name in _DECODERS and self._first(inside) is not None:
            text = self.value(self._split(inside)[0], depth + 1)
            return HOLE if not known(text) else decoded(_DECODERS[name](text))
        seen |= {self.tokens[at].text for at in inside[:4]}
        return HOME if seen & _HOMES else HOLE


def _brackets(found: Sequence[Token]) -> dict[int, int]:
    closing: dict[int, int] = {}
    opened: list[int] = []
    for at, token in enumerate(found):
        if token.kind is not Kind.MARK:
            continue
        if token.text in _OPENING:
            opened.append(at)
        elif token.text in _CLOSING and opened:
            closing[opened.pop()] = at
    return closing


def _constants(found: Sequence[Token]) -> dict[str, str]:
    """Names that are given one literal, and never anything else."""
    constants: dict[str, str] = {}
    doubtful: set[str] = set()
    for at, token in enumerate(found[:-2]):
        if token.kind is not Kind.NAME or found[at + 1].text != "=" or found[at + 2].text == "=":
            continue
        value = found[at + 2]
        after = found[at + 3].text if at + 3 < len(found) else "\n"
        if (
            value.kind is Kind.TEXT
            and after in {";", "\n", "}", ")"}
            and token.text not in constants
        ):
            constants[token.text] = value.text
        else:
            doubtful.add(token.text)
    return {name: text for name, text in constants.items() if name not in doubtful}
