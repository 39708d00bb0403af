"""The shapes of bash that the generator puts together, read from `shapes.txt`.

One shape a line, under the name of its kind. `⏎` is a newline, `⇥` a tab, `␍` a
carriage return, `<U+00A0>` that character. What is to be filled in:

    @C@     any code                        @Q@  code, as one word
    @S@     a statement; `;` may follow     @B@  code, between backticks
    @D@     the words of one command        @H@  code, in an unquoted here-document
    @NAME@  the bare name of a command      @L@  code, in a quoted one
    @N@     a harmless statement            @E@  the delimiter of a here-document
    @T@     text that names commands

After a *line* more can follow on the same line, after a *block* nothing can.
In a *dynamic* shape, what runs is known only by following its variables.
"""

import re
from pathlib import Path

__all__ = ("ARGUMENTS", "BLOCKS", "DYNAMIC", "HARMLESS", "LINES", "SLIPS", "TEXTS")

_CHARACTER = re.compile(r"<U\+([0-9A-F]{4,5})>")


def _shape(line: str) -> str:
    line = line.replace("⏎", "\n").replace("⇥", "\t").replace("␍", "\r")
    return _CHARACTER.sub(lambda found: chr(int(found[1], 16)), line)


def _read(path: Path) -> dict[str, tuple[str, ...]]:
    kinds: dict[str, tuple[str, ...]] = {}
    for section in path.read_text("utf-8").removeprefix("== ").split("\n\n== "):
        kind, *lines = section.rstrip("\n").split("\n")
        kinds[kind] = tuple(map(_shape, lines))
    return kinds


_KINDS = _read(Path(__file__).with_suffix(".txt"))

LINES = {kind[5:]: shapes for kind, shapes in _KINDS.items() if kind.startswith("line ")}
BLOCKS = {kind[6:]: shapes for kind, shapes in _KINDS.items() if kind.startswith("block ")}
DYNAMIC = _KINDS["dynamic"]
HARMLESS = _KINDS["harmless"]
TEXTS = _KINDS["text"]
SLIPS = _KINDS["slip"]
ARGUMENTS = _KINDS["argument"]
