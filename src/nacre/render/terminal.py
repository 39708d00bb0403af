"""Undo what was written for a terminal: escape codes, redrawn lines, backspaces.

Sequences are those of ECMA-48 and of xterm's control sequences
(https://invisible-island.net/xterm/ctlseqs/ctlseqs.html).
"""

import re
from collections.abc import Callable, Mapping
from types import MappingProxyType

from nacre.model.expression import expression
from nacre.render.screen import Screen

__all__ = ("clean",)

_CONTROL = expression(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")

# The long patterns begin with a set of characters, not with alternatives: so the
# regex engine skips plain text quickly.

# What leaves no trace on a screen. A control string (OSC, DCS, SOS, PM, APC)
# that nobody ends is taken to end with its line: it must not swallow the rest.
_UNSEEN = expression(
    r"""
    [\x00-\x07\x0e-\x1f\x7f-\x84\x86-\x9f]
    (?: (?: (?<=\x1b)[PX\]^_] | (?<=[\x90\x98\x9d-\x9f]) )
        (?: [^\x07\x18\x1a\x1b\x80-\x9f]* (?:[\x07\x18\x1a\x9c] | \x1b\\)
          | [^\n\x07\x18\x1a\x1b\x80-\x9f]* )
      | (?: (?<=\x1b)\[ | (?<=\x9b) ) [0-?]* (?![0-?]) [ -/]* (?![ -/A-HJKfsu]) [@-~]?
      | (?<=\x1b) (?![\[78DEM]) [ -/]* [0-~]?
      | (?<![\x1b\x9b])
    )
    """,
    re.VERBOSE,
)

_NEWLINE = expression(r"[\r\v\f\x85\x1b](?:(?<=\r)(?<!\r\r)\r*\n|(?<=[\v\f\x85])|(?<=\x1b)[DE])")

# What moves the cursor or erases. A status line is drawn the way apt does: the
# cursor goes to a fixed row outside of the text, writes, and comes back.
_MOVE = expression(
    r"""
    [\x08\r\x1b\x9b]
    (?: (?<=\x08) (?P<back> \x08* )
      | (?<=\r) (?P<start> \r* )
      | (?<=\x1b) (?P<status> 7 (?:\x1b\[ | \x9b) [0-9;]* [Hf]
                              [^\x1b\n]* (?: \x1b(?![78]) [^\x1b\n]* )* \x1b8 )
      | (?<=\x1b) (?P<escape> [78M] )
      | (?: (?<=\x1b)\[ | (?<=\x9b) ) (?P<parameters> [0-?]* ) [ -/]* (?P<final> [A-HJKfsu] )
    )
    """,
    re.VERBOSE,
)


def clean(text: str) -> str:
    """Return what a person would have seen: the last state of each line, no codes.

    Knows backspace, carriage return, and cursor moves relative to what was
    written, so that a progress bar of several lines shows once. A jump to a
    fixed position starts a new line instead: where it would land depends on a
    screen that was never there. What is cleared by scrolling or by `clear` stays.

    Never raises, and takes time and memory linear in the text. The result has
    no control characters but newline and tab; cleaning it again changes nothing.
    """
    if _CONTROL.search(text) is None:
        return text
    text = _NEWLINE.sub("\n", _UNSEEN.sub("", text))
    return text if _MOVE.search(text) is None else _drawn(text)


def _drawn(text: str) -> str:
    screen = Screen()
    end = 0
    for move in _MOVE.finditer(text):
        start = move.start()
        if start > end:
            screen.write(text[end:start])
        _apply(move, screen)
        end = move.end()
    screen.write(text[end:])
    return screen.text()


def _apply(move: re.Match[str], screen: Screen) -> None:
    match move.lastgroup:
        case "final":
            _control(move["final"], move["parameters"], screen)
        case "start":
            screen.to_column(0)
        case "back":
            screen.left(len(move[0]))
        case "escape":
            _ESCAPES[move["escape"]](screen, 1)
        case _:
            pass


def _control(final: str, parameters: str, screen: Screen) -> None:
    # A prefix of < = > ? makes the sequence a private one; none of them moves.
    if parameters.startswith(_PRIVATE):
        return
    # Six digits are far beyond any screen, and int() refuses 5,000 of them.
    number = parameters.partition(";")[0][:6]
    _FINALS[final](screen, int(number) if number.isdecimal() else 0)


def _next_line(screen: Screen, count: int) -> None:
    screen.down(count or 1)
    screen.to_column(0)


def _previous_line(screen: Screen, count: int) -> None:
    screen.up(count or 1)
    screen.to_column(0)


def _erase_in_row(screen: Screen, mode: int) -> None:
    match mode:
        case 0:
            screen.erase_right()
        case 1:
            screen.erase_left()
        case _:
            screen.erase_row()


def _erase_in_page(screen: Screen, mode: int) -> None:
    # The other modes clear what a person may have read before.
    if mode == 0:
        screen.erase_below()


_PRIVATE = ("<", "=", ">", "?")

_ESCAPES: Mapping[str, Callable[[Screen, int], None]] = MappingProxyType(
    {
        "7": lambda screen, _: screen.save(),
        "8": lambda screen, _: screen.restore(),
        "M": Screen.up,
    }
)

_FINALS: Mapping[str, Callable[[Screen, int], None]] = MappingProxyType(
    {
        "A": lambda screen, count: screen.up(count or 1),
        "B": lambda screen, count: screen.down(count or 1),
        "C": lambda screen, count: screen.right(count or 1),
        "D": lambda screen, count: screen.left(count or 1),
        "E": _next_line,
        "F": _previous_line,
        "G": lambda screen, column: screen.to_column(max(0, column - 1)),
        "H": lambda screen, _: screen.to_new_row(),
        "J": _erase_in_page,
        "K": _erase_in_row,
        "f": lambda screen, _: screen.to_new_row(),
        "s": lambda screen, _: screen.save(),
        "u": lambda screen, _: screen.restore(),
    }
)
