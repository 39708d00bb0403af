"""A part of a script, underlined where it stands."""

import unicodedata
from collections.abc import Iterator
from itertools import accumulate

from nacre.model.expression import expression

__all__ = ("characters", "one_line", "underlined", "visible")

_SURROGATE = expression(r"[\ud800-\udfff]")
_TAB = "    "
_MOST_LINES = 3
_CUT = "…"
# Wide, and fullwidth: two columns on a terminal.
_WIDE = frozenset("WF")
# Marks that stand on the character before them.
_COMBINING = frozenset({"Mn", "Me"})
# Control, format (the bidirectional ones among them), surrogate, private, line and paragraph
# separators: what a terminal would act on, or not show.
_HIDDEN = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})


def visible(text: str) -> str:
    """The text with everything shown that a terminal would hide or obey; lines stay lines."""
    if text.isascii() and text.replace("\n", "").isprintable():
        return text
    return "".join(each if each == "\n" else _shown(each) for each in text)


def one_line(text: str, most: int) -> str:
    """The text on one line, cut in the middle if it is longer than that."""
    line = visible(" ".join(text.split("\n")))
    if len(line) <= most:
        return line
    half = (most - 1) // 2
    return f"{line[:half]}{_CUT}{line[-half:]}"


def characters(script: str, offset: int) -> int:
    """How many characters of a script its first bytes are."""
    if script.isascii():
        return offset
    # A lone surrogate cannot be encoded; what stands for it takes as many bytes.
    return len(_SURROGATE.sub("\ufffd", script).encode()[:offset].decode("utf-8", "ignore"))


def underlined(script: str, start: int, end: int, width: int) -> Iterator[str]:
    """The lines of a part, each with its number, and carets below it.

    `start` and `end` are characters of the script; `width` is in columns.
    """
    first = script.rfind("\n", 0, start) + 1
    number = script.count("\n", 0, first) + 1
    last = script.count("\n", start, max(start, end - 1)) + number
    margin = len(str(min(last, number + _MOST_LINES - 1)))
    position = first
    for line in script[first : _line_end(script, end)].split("\n")[:_MOST_LINES]:
        begin, stop = max(0, start - position), min(len(line), end - position)
        shown, indent, carets = _fit(line, begin, max(stop, begin), width - margin - 3)
        yield f"{number:{margin}} | {shown}"
        yield f"{' ' * margin} | {' ' * indent}{'^' * max(1, carets)}"
        position += len(line) + 1
        number += 1
    if last >= number:
        more = last - number + 1
        yield f"{' ' * margin} | {_CUT} {more} more line{'s' if more > 1 else ''}"


def _line_end(script: str, end: int) -> int:
    """Where the line ends that the part ends in."""
    found = script.find("\n", max(0, end - 1))
    return found if found >= 0 else len(script)


def _fit(line: str, begin: int, stop: int, width: int) -> tuple[str, int, int]:
    """A line cut to a width around a part of it; where the part begins, and how wide it is."""
    # A megabyte of line is not looked at for the sake of a hundred columns.
    left = max(0, begin - width)
    near = line[left : begin + 2 * width]
    pieces = [_shown(each) for each in near]
    columns = [0, *accumulate(map(_columns, pieces))]
    start, end = begin - left, min(stop - left, len(pieces))
    if not left and left + len(near) == len(line) and columns[-1] <= width:
        return "".join(pieces), columns[start], columns[end] - columns[start]
    room = width - 2
    part = min(columns[end] - columns[start], room)
    lead = min(columns[start], (room - part) // 2)
    low = next(i for i in range(start + 1) if columns[start] - columns[i] <= lead)
    high = low
    while high < len(pieces) and columns[high + 1] - columns[low] <= room:
        high += 1
    before = _CUT if left or low else ""
    after = _CUT if high < len(pieces) or left + len(near) < len(line) else ""
    shown = f"{before}{''.join(pieces[low:high])}{after}"
    indent = len(before) + columns[start] - columns[low]
    return shown, indent, columns[min(end, high)] - columns[start]


def _shown(character: str) -> str:
    if character == "\t":
        return _TAB
    if unicodedata.category(character) not in _HIDDEN:
        return character
    return character.encode("unicode_escape", "surrogatepass").decode("ascii")


def _columns(piece: str) -> int:
    if len(piece) != 1 or piece.isascii():
        return len(piece)
    if unicodedata.category(piece) in _COMBINING:
        return 0
    return 2 if unicodedata.east_asian_width(piece) in _WIDE else 1
