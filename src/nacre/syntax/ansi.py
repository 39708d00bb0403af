"""The backslashes of `$'...'`, `echo -e` and `printf`, and the numbers bash reads."""

import re

from nacre.model.expression import expression

__all__ = ("number", "unescape")

_ESCAPE = expression(
    r"\\(?:([abeEfnrtv\\'\"?])|([0-7]{1,3})|x([0-9A-Fa-f]{1,2})|x\{([0-9A-Fa-f]+)\}"
    r"|u([0-9A-Fa-f]{1,4})|U([0-9A-Fa-f]{1,8})|c(.))",
    re.DOTALL,
)
_LETTERS = dict(zip("abeEfnrtv", "\a\b\x1b\x1b\f\n\r\t\v", strict=True))
_LAST_CHARACTER = 0x10FFFF
_MOST_DIGITS = 10


def unescape(text: str) -> str:
    """What bash makes of the text between `$'` and `'`; a NUL ends it."""
    if "\\" not in text:
        return text
    return _ESCAPE.sub(_character, text).partition("\0")[0]


def _character(found: re.Match[str]) -> str:
    letter, octal, hexadecimal, braced, short, long, control = found.groups()
    if letter:
        return _LETTERS.get(letter, letter)
    if control:
        return chr(ord(control.upper()) & 0x1F)
    digits = hexadecimal or braced or short or long
    code = int(octal, 8) & 0xFF if octal else int(digits or "0", 16)
    if code > _LAST_CHARACTER or 0xD800 <= code < 0xE000:  # noqa: PLR2004 (no characters)
        return "\ufffd"
    return chr(code)


def number(text: str) -> int | None:
    """A number as it is written; None if it is none, or larger than any that matters."""
    digits = text.removeprefix("-")
    if digits.isascii() and digits.isdecimal() and len(digits) < _MOST_DIGITS:
        return int(text)
    return None
