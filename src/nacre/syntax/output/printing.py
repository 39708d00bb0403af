"""What `echo` and `printf` print."""

import re
import shlex
from collections.abc import Callable, Iterator, Sequence

from nacre.model.expression import expression
from nacre.syntax.ansi import unescape
from nacre.syntax.word import FIELDS, HOLE, known

__all__ = ("echoed", "printed")

_ECHO_OPTION = expression(r"-[neE]+$")
_OCTAL = expression(r"(\\\\)|\\0([0-7]{1,3})")
_STOP = expression(r"(?<!\\)(?:\\\\)*\\c")
_DIRECTIVE = expression(
    r"%(?:(%)|([-+ #0]*)(?![-+ #0])(\*|\d*)(?:\.(\*|\d*))?[hlLjzt]*(?![hlLjzt])"
    r"(?:\([^)]*\))?([a-zA-Z]))"
)
_LONGEST = 100_000
_WIDEST = 1000
_MOST_ROUNDS = 5000


def echoed(arguments: Sequence[str]) -> str:
    """What bash's `echo` prints."""
    at = 0
    escapes = newline = False
    while at < len(arguments) and _ECHO_OPTION.match(arguments[at]):
        for letter in arguments[at][1:]:
            newline |= letter == "n"
            escapes = letter != "E" if letter in "eE" else escapes
        at += 1
    text = " ".join(arguments[at:])
    end = "" if newline else "\n"
    if not escapes or "\\" not in text:
        return text + end
    if stop := _STOP.search(text):
        return _unescaped(text[: stop.end() - 2])
    return _unescaped(text) + end


def _unescaped(text: str) -> str:
    """The escapes of `echo -e` and `%b`, in which an octal number begins with zero."""
    return unescape(_OCTAL.sub(lambda found: found[1] or f"\\{found[2]}", text))


def printed(arguments: Sequence[str]) -> str | None:
    """What bash's `printf` prints; nothing if it prints nothing, or its format is not known."""
    if arguments and arguments[0] == "--":
        arguments = arguments[1:]
    if not arguments or arguments[0].startswith("-v") or not known(arguments[0]):
        return None
    pieces = tuple(_pieces(arguments[0]))
    given = list(arguments[1:])
    takes = any(not isinstance(each, str) for each in pieces)
    said: list[str] = []
    at = size = 0
    for _ in range(_MOST_ROUNDS):
        for piece in pieces:
            text, used = (piece, 0) if isinstance(piece, str) else piece(given[at : at + 3])
            at += used
            size += len(text)
            said.append(text)
        if not takes or at >= len(given) or size > _LONGEST:
            break
    if takes and at < len(given):
        said.append(FIELDS)
    return "".join(said)


# A piece of a format that takes arguments: its text, and how many it took.
_Taking = Callable[[Sequence[str]], tuple[str, int]]


def _pieces(format_: str) -> Iterator[str | _Taking]:
    at = 0
    for found in _DIRECTIVE.finditer(format_):
        if found.start() > at:
            yield unescape(format_[at : found.start()])
        yield "%" if found[1] else _taking(found)
        at = found.end()
    if at < len(format_):
        yield unescape(format_[at:])


def _taking(found: re.Match[str]) -> _Taking:
    flags, width, precision, letter = found[2], found[3], found[4], found[5]

    def take(arguments: Sequence[str]) -> tuple[str, int]:
        rest = list(arguments)
        wide = _size(rest.pop(0) if width == "*" and rest else width)
        exact = precision
        if exact == "*":
            exact = rest.pop(0) if rest else ""
        text = _converted(letter, rest.pop(0) if rest else "", flags)
        if exact is not None and letter in "sb" and known(text):
            text = text[: _size(exact)]
        padded = text.ljust(wide) if "-" in flags else text.rjust(wide)
        return padded, len(arguments) - len(rest)

    return take


def _size(digits: str) -> int:
    return min(int(digits), _WIDEST) if digits.isdecimal() and len(digits) < 9 else 0  # noqa: PLR2004


def _converted(letter: str, argument: str, flags: str) -> str:
    if letter == "s":
        return argument
    if letter == "b":
        return _unescaped(argument)
    if letter == "q":
        return shlex.quote(argument)
    if letter == "c":
        return argument[:1]
    if not known(argument) or (number := _number(argument)) is None:
        return HOLE
    if letter in "diu":
        return str(number)
    if letter in "xXo" and number >= 0:
        return format(number, f"{'#' if '#' in flags else ''}{letter}")
    return HOLE


def _number(text: str) -> int | None:
    """A number as `printf` takes it: decimal, octal, hexadecimal, or a quoted character."""
    text = text.strip() or "0"
    if text[0] in "'\"":
        return ord(text[1]) if len(text) > 1 else 0
    if len(text) > 20:  # noqa: PLR2004 (more digits than a machine's number has)
        return None
    sign, digits = (-1, text[1:]) if text[0] == "-" else (1, text.removeprefix("+"))
    try:
        octal = digits[:1] == "0" and digits.isdecimal()
        return sign * int(digits, 8 if octal else 0)
    except ValueError:
        return None
