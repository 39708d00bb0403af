"""What the operators of `${name...}` make of a value that is known."""

import re
from fnmatch import translate

from nacre.model.expression import expression
from nacre.syntax.state import Templates, either
from nacre.syntax.word import FIELDS, HOLE, SET

__all__ = ("operate",)

_UNKNOWN = (HOLE, FIELDS, SET)
_OFFSET = expression(r"\s*(-?[0-9]+)\s*(?::\s*(-?[0-9]+)\s*)?")
_LONGEST = 256


def operate(operator: str, values: Templates, operands: Templates) -> Templates:
    """Every value the expansion could have."""
    match operator:
        case ":-" | ":=" | "-" | "=":
            return _default(operator, values, operands)
        case ":+" | "+":
            return either(operands, ("",)) if "" in values or _unknown(values) else operands
        case ":?" | "?":
            return (SET,) if _unknown(values) else values
        case _:
            if _unknown(values) or _unknown(operands) or len(values) * len(operands) > 8:  # noqa: PLR2004
                return (HOLE,)
            changed = tuple(
                _changed(operator, value, operand) for value in values for operand in operands
            )
            return tuple(dict.fromkeys(HOLE if each is None else each for each in changed))


def _unknown(values: Templates) -> bool:
    return any(mark in value for value in values for mark in _UNKNOWN)


def _default(operator: str, values: Templates, operands: Templates) -> Templates:
    """The value, or the operand where it is unset (or, with a colon, empty)."""
    if _unknown(values):
        full = tuple(each.replace(HOLE, SET) for each in values) if operator[0] == ":" else values
        return either(full, operands)
    if operator.startswith(":") and "" in values:
        kept = tuple(value for value in values if value)
        return either(kept, operands) if kept else operands
    return either(values, operands) if "" in values else values


def _changed(operator: str, value: str, operand: str) -> str | None:
    """One value after one operator; None if that is beyond this reading."""
    if len(value) > _LONGEST or len(operand) > _LONGEST:
        return None
    match operator:
        case "^^" | ",," | "^" | ",":
            return _in_case(operator, value) if not operand else None
        case ":":
            return _slice(value, operand)
        case "#" | "##" | "%" | "%%":
            return _trimmed(operator, value, operand)
        case "/" | "//":
            return _replaced(operator, value, operand)
        case _:
            return None


def _in_case(operator: str, value: str) -> str:
    head, tail = (value, "") if len(operator) > 1 else (value[:1], value[1:])
    return (head.upper() if "^" in operator else head.lower()) + tail


def _slice(value: str, operand: str) -> str | None:
    found = _OFFSET.fullmatch(operand)
    if found is None:
        return None
    start = int(found[1])
    start = max(len(value) + start, 0) if start < 0 else start
    if found[2] is None:
        return value[start:]
    length = int(found[2])
    return value[start : start + length] if length >= 0 else value[start:length]


def _plain(pattern: str) -> bool:
    return not set(pattern) & set("*?[]()\\&")


def _trimmed(operator: str, value: str, pattern: str) -> str | None:
    """Remove a prefix or suffix; `*` may stand at one side of it."""
    if set(pattern) & set("[]()\\"):
        return None
    matches = re.compile(translate(pattern)).match
    ends = range(len(value) + 1)
    if operator.startswith("#"):
        order = ends if operator == "#" else reversed(ends)
        return next((value[end:] for end in order if matches(value[:end])), value)
    order = reversed(ends) if operator == "%" else ends
    return next((value[:end] for end in order if matches(value[end:])), value)


def _replaced(operator: str, value: str, operand: str) -> str | None:
    pattern, _, replacement = operand.partition("/")
    if not pattern or not _plain(pattern) or "&" in replacement or pattern[0] in "#%":
        return None
    return value.replace(pattern, replacement, 1 if operator == "/" else -1)
