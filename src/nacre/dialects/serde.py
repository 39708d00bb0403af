"""What the JSON reader of two origins says of arguments that do not fit.

They read arguments into a structure of typed fields, ignore the fields they do not know,
and report the first misfit in these words.
"""

import json
import math
from collections.abc import Mapping
from decimal import Decimal
from typing import cast

from nacre.errors import CallError

__all__ = ("fields", "invalid_type", "text_field")

_MOST_SHOWN = 200
_WORDS = ("true", "false", "null")


def fields(arguments: object, structure: str) -> Mapping[str, object]:
    """The fields of an object.

    Raises:
        CallError: If it is none. A text is one that could not be read as JSON.
    """
    if isinstance(arguments, Mapping):
        return cast("Mapping[str, object]", arguments)
    if isinstance(arguments, str):
        raise CallError(_not_json(arguments))
    raise CallError(invalid_type(arguments, f"struct {structure}"))


def text_field(given: Mapping[str, object], name: str) -> str:
    """A field that must be there and be a string.

    Raises:
        CallError: If it is not.
    """
    if name not in given:
        raise CallError(f"missing field `{name}`")
    value = given[name]
    if not isinstance(value, str):
        raise CallError(invalid_type(value, "a string"))
    return value


def invalid_type(value: object, expected: str) -> str:
    """The sentence about a value of the wrong type."""
    return f"invalid type: {_kind(value)}, expected {expected}"


def _kind(value: object) -> str:
    match value:
        case None:
            return "null"
        case bool():
            return f"boolean `{str(value).lower()}`"
        case int():
            return f"integer `{_number(value)}`"
        case float():
            return f"floating point `{_fraction(value)}`"
        case str():
            return f"string {json.dumps(value[:_MOST_SHOWN], ensure_ascii=False)}"
        case Mapping():
            return "map"
        case _:
            return "sequence"


def _number(value: int) -> str:
    """An integer's digits, however many it has: Python refuses to write very long ones."""
    return str(value) if value.bit_length() < _MOST_SHOWN else "out of range"


def _fraction(value: float) -> str:
    """A number with its decimal point, and never an exponent."""
    if not math.isfinite(value):
        return repr(value)
    digits = format(Decimal(repr(value)), "f")
    return digits if "." in digits else f"{digits}.0"


def _not_json(text: str) -> str:
    """Where a text stops being JSON."""
    try:
        json.loads(text)
    except json.JSONDecodeError as error:
        line, column = error.lineno, error.colno
        if error.pos >= len(text.rstrip()):
            return f"EOF while parsing a value at line {line} column {column - 1}"
        if error.msg.startswith("Extra data"):
            return f"trailing characters at line {line} column {column}"
        if alike := _begun_word(text[error.pos :]):
            return f"expected ident at line {line} column {column + alike}"
        return f"expected value at line {line} column {column}"
    except RecursionError:
        return "recursion limit exceeded"
    except ValueError:
        return "number out of range"
    return "expected value at line 1 column 1"


def _begun_word(text: str) -> int:
    """How many characters are as in a word of JSON, before one that is not."""
    return max(_alike(text, word) for word in _WORDS)


def _alike(text: str, word: str) -> int:
    return next((n for n, letter in enumerate(word) if text[n : n + 1] != letter), len(word))
