"""TOML to a document. The standard library reads it; where its values stand is found here."""

import re
import tomllib
from bisect import bisect_right
from contextlib import suppress

from nacre.errors import RuleError
from nacre.model.expression import expression
from nacre.policy.rules.document import Document, Mark, Path

__all__ = ("read_toml",)

_GAP = expression(r"(?:[\s,]|#[^\n]*)*")
_KEY = expression(r"""\s*(?:"((?:[^"\\\n]|\\.)*)"|'([^'\n]*)'|([\w-]+))\s*""")
_TEXT = expression(
    r'"""(?:[^\\]|\\.)*?"{3,5}|'
    r"'''.*?'{3,5}|"
    r'"(?:[^"\\\n]|\\.)*"|'
    r"'[^'\n]*'",
    re.DOTALL,
)
_BARE = expression(r"[^,\]}#\n]+")
_AT = expression(r"\s*\(at (?:line (\d+), column (\d+)|end of document)\)")


def read_toml(text: str, origin: str) -> Document:
    """Read a text as TOML.

    Raises:
        RuleError: If it is none.
    """
    try:
        data = tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        found = _AT.search(str(error))
        line, column = text.count("\n") + 1, len(text) - text.rfind("\n")
        if found and found[1]:
            line, column = int(found[1]), int(found[2])
        said = _AT.sub("", str(error))
        raise RuleError(f"{origin}:{line}:{column}: this is not TOML: {said}") from error
    finder = _Finder(text.replace("\r\n", "\n"))
    with suppress(RecursionError):
        finder.find()
    return Document(origin=origin, data=data, values=finder.values, keys=finder.keys)


class _Finder:
    """Goes over a text that is known to be TOML, and notes where keys and values stand."""

    def __init__(self, text: str) -> None:
        self.values: dict[Path, Mark] = {}
        self.keys: dict[Path, Mark] = {}
        self._text = text
        self._at = 0
        self._lines = [0, *(found.end() for found in re.finditer("\n", text))]
        self._counts: dict[Path, int] = {}

    def find(self) -> None:
        table: Path = ()
        self._skip()
        while self._at < len(self._text):
            before = self._at
            if self._text.startswith("[", self._at):
                table = self._header()
            else:
                self._pair(table)
            self._skip()
            if self._at == before:
                return

    def _header(self) -> Path:
        start = self._at
        several = self._text.startswith("[[", start)
        self._at += 2 if several else 1
        path = self._below((), self._names())
        self._at += 2 if several else 1
        if several:
            self._counts[path] = self._counts.get(path, -1) + 1
            path = (*path, self._counts[path])
        self.values.setdefault(path, self._mark(start))
        return path

    def _pair(self, table: Path) -> None:
        start = self._at
        path = self._below(table, self._names())
        self.keys[path] = self._mark(start)
        self._at += 1  # the equals sign
        self._value(path)

    def _value(self, path: Path) -> None:
        self._skip()
        self.values[path] = self._mark(self._at)
        sign = self._text[self._at : self._at + 1]
        if sign in {"[", "{"}:
            self._at += 1
            self._inside(path, "]" if sign == "[" else "}")
        elif found := (_TEXT if sign in {'"', "'"} else _BARE).match(self._text, self._at):
            self._at = found.end()

    def _inside(self, path: Path, end: str) -> None:
        item = 0
        self._skip()
        while self._at < len(self._text) and self._text[self._at] != end:
            before = self._at
            if end == "]":
                self._value((*path, item))
                item += 1
            else:
                self._pair(path)
            self._skip()
            if self._at == before:
                return
        self._at += 1

    def _names(self) -> list[str]:
        names: list[str] = []
        while found := _KEY.match(self._text, self._at):
            names.append(next(each for each in found.groups() if each is not None))
            self._at = found.end()
            if not self._text.startswith(".", self._at):
                break
            self._at += 1
        return names

    def _below(self, path: Path, names: list[str]) -> Path:
        """A path by names; inside a list of tables they are about the last one."""
        for at, name in enumerate(names):
            path = (*path, name)
            if path in self._counts and at < len(names) - 1:
                path = (*path, self._counts[path])
        return path

    def _skip(self) -> None:
        found = _GAP.match(self._text, self._at)
        self._at = found.end() if found else self._at

    def _mark(self, at: int) -> Mark:
        line = bisect_right(self._lines, at)
        return Mark(line, at - self._lines[line - 1] + 1)
