"""Makes scripts that run commands in ways that are hard to read."""

import random
import re
from dataclasses import dataclass

from oracle.shapes import ARGUMENTS, BLOCKS, DYNAMIC, HARMLESS, LINES, SLIPS, TEXTS
from oracle.words import (
    NAMES,
    disguised,
    escaped_in_backticks,
    escaped_in_body,
    quoted,
)

__all__ = ("Sample", "generated", "planted")

_HOLE = re.compile(r"@([A-Z]+)@")
_DEPTH = 3


@dataclass(frozen=True, slots=True)
class Sample:
    """A script, the kinds of shapes in it, and whether every command's name is written in it."""

    script: str
    kinds: tuple[str, ...]
    literal: bool


def generated(seed: int) -> Sample:
    """A script made of shapes; the same for the same number."""
    return _Maker(random.Random(seed)).sample()  # noqa: S311


def planted(script: str, seed: int) -> Sample:
    """A script that somebody wrote, with commands put between its lines."""
    maker = _Maker(random.Random(seed))  # noqa: S311
    lines = script.split("\n")
    for _ in range(maker.chance.randrange(1, 3)):
        at = maker.chance.randrange(len(lines) + 1)
        lines.insert(at, maker.statement(1))
    text = "\n".join(lines)
    if maker.chance.random() < 0.2:
        text = maker.slipped(text)
    return Sample(text, ("planted", *maker.kinds), literal=False)


class _Maker:
    """Fills shapes with other shapes, until they are deep enough."""

    def __init__(self, chance: random.Random) -> None:
        self.chance = chance
        self.kinds: list[str] = []
        self._names = chance.sample(NAMES, len(NAMES))
        self._count = 0
        self._delimiter = ""

    def sample(self) -> Sample:
        literal = self.chance.random() < 0.85
        pieces = [
            self._piece(literal=literal) for _ in range(self.chance.choice((1, 1, 2, 2, 3, 4)))
        ]
        if self.chance.random() < 0.4:
            pieces.insert(self.chance.randrange(len(pieces) + 1), self._harmless())
        text = pieces[0]
        for piece in pieces[1:]:
            joint = "" if text.endswith("\n") else self.chance.choice(("\n", "\n", "\n\n", "; "))
            text += joint + piece
        if self.chance.random() < 0.12:
            self.kinds.append("slipped")
            text = self.slipped(text)
        return Sample(text, tuple(self.kinds), literal=literal)

    def slipped(self, text: str) -> str:
        """The text after one or two slips of the hand."""
        for _ in range(self.chance.randrange(1, 3)):
            at = self.chance.randrange(len(text) + 1)
            match self.chance.randrange(4):
                case 0:
                    text = text[:at] + text[at + 1 :]
                case 1:
                    text = text[:at] + self.chance.choice(SLIPS) + text[at:]
                case 2:
                    until = at + self.chance.randrange(12)
                    text = text[:at] + text[until:]
                case _:
                    until = at + self.chance.randrange(12)
                    text = text[:until] + text[at:]
        return text

    def statement(self, depth: int) -> str:
        """A statement that may be followed by `;` or `|`."""
        kind = "plain" if depth >= _DEPTH or self.chance.random() < 0.3 * depth else None
        kind = kind or self.chance.choice(tuple(LINES))
        return self._fill(kind, self.chance.choice(LINES[kind]), depth + 1)

    def _piece(self, *, literal: bool) -> str:
        if not literal and self.chance.random() < 0.7:
            return self._fill("dynamic", self.chance.choice(DYNAMIC), 1)
        if self.chance.random() < 0.4:
            return self._block(0)
        return self.statement(0)

    def _block(self, depth: int) -> str:
        kind = self.chance.choice(tuple(BLOCKS))
        return self._fill(kind, self.chance.choice(BLOCKS[kind]), depth + 1)

    def _fill(self, kind: str, shape: str, depth: int) -> str:
        if kind != "plain":
            self.kinds.append(kind)
        self._count += 1
        delimiter = self.chance.choice(("EOF", "E", "end", "X_1")) + str(self._count)

        def filled(hole: re.Match[str]) -> str:
            return delimiter if hole[1] == "E" else self._hole(hole[1], depth)

        return _HOLE.sub(filled, shape)

    def _hole(self, hole: str, depth: int) -> str:
        match hole:
            case "C":
                return self._code(depth)
            case "S":
                return self.statement(depth)
            case "D":
                return self._command()
            case "NAME":
                return self._name()
            case "N":
                return self._harmless()
            case "T":
                return self.chance.choice(TEXTS)
            case _:
                return self._code_as(hole, depth)

    def _code_as(self, hole: str, depth: int) -> str:
        code = self._code(depth)
        match hole:
            case "Q":
                return quoted(code, self.chance)
            case "B":
                return escaped_in_backticks(code)
            case "H":
                return escaped_in_body(code)
            case "L":
                return code
            case _:
                raise ValueError(hole)

    def _code(self, depth: int) -> str:
        if depth < _DEPTH and self.chance.random() < 0.15:
            return self._block(depth)
        if self.chance.random() < 0.2:
            return f"{self.statement(depth)}{self.chance.choice(('; ', ' && ', chr(10)))}{self.statement(depth)}"
        return self.statement(depth)

    def _command(self) -> str:
        words = [disguised(self._name(), self.chance)]
        words += self.chance.choices(ARGUMENTS, k=self.chance.choice((0, 1, 1, 2, 2, 3)))
        return " ".join(words)

    def _name(self) -> str:
        return self._names.pop() if self._names else self.chance.choice(NAMES)

    def _harmless(self) -> str:
        text = self.chance.choice(TEXTS)
        return self.chance.choice(HARMLESS).replace("@T@", text)
