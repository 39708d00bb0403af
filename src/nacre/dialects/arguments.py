"""Typed reading of JSON arguments, forgiving where a model's meaning is plain."""

import json
import math
from collections.abc import Collection, Mapping
from datetime import timedelta

from nacre.errors import CallError

__all__ = ("Arguments", "from_json")

_SHOWN_CHARACTERS = 60
_MOST_DIGITS = 1000
_BOOLEANS = {"true": True, "false": False}


def from_json(text: str) -> object:
    """What a text says in JSON; the text itself, if it says nothing."""
    try:
        return json.loads(text, parse_int=_integer, parse_constant=_no_number)
    except (ValueError, RecursionError):
        return text


def _no_number(name: str) -> object:
    """Refuse what Python reads and JSON does not have."""
    raise ValueError(f"{name} is not JSON")


def _integer(digits: str) -> int:
    """An integer; of one that is too long for Python to read, the beginning: it is large."""
    return int(digits[:_MOST_DIGITS])


class Arguments:
    """The arguments of one tool call.

    Every method raises `CallError`, with the name, the value and what would do.
    An argument that is null is one that was not given.
    """

    def __init__(self, tool: str, given: Mapping[str, object], known: Collection[str]) -> None:
        self._tool = tool
        self._given = {name: value for name, value in given.items() if value is not None}
        if not all(map(known.__contains__, self._given)):
            unknown = sorted(str(name) for name in self._given if name not in known)
            takes = ", ".join(known) if known else "none"
            raise CallError(f"{tool} has no argument {unknown[0]!r:.60}; its arguments: {takes}")

    def has(self, name: str) -> bool:
        """Whether the argument was given."""
        return name in self._given

    def only(self, name: str) -> bool:
        """Whether this argument was given, and no other."""
        return len(self._given) == 1 and name in self._given

    def value(self, name: str) -> object:
        """The argument as it came; None if it was not given."""
        return self._given.get(name)

    def text(self, name: str, default: str | None = None) -> str:
        """A string; required if there is no default."""
        value = self._given.get(name, default)
        if value is None:
            raise CallError(f"{self._tool} needs {name!r}, a string")
        if not isinstance(value, str):
            raise CallError(f"{name!r} must be a string, not {_shown(value)}")
        return value

    def flag(self, name: str) -> bool:
        """A boolean, false unless given; its name in quotes will do."""
        value = self._given.get(name, False)
        if isinstance(value, str):
            value = _BOOLEANS.get(value.strip().lower(), value)
        if not isinstance(value, bool):
            raise CallError(f"{name!r} must be true or false, not {_shown(value)}")
        return value

    def seconds(self, name: str, default: float, most: float) -> timedelta:
        """A duration in seconds, cut to the most there can be; digits in quotes will do."""
        return timedelta(seconds=min(self.number(name, default), most))

    def number(self, name: str, default: float) -> float:
        """A number greater than nothing."""
        value = self._given.get(name, default)
        if isinstance(value, str):
            try:
                value = float(value)
            except ValueError:
                raise CallError(f"{name!r} must be a number, not {_shown(value)}") from None
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise CallError(f"{name!r} must be a number, not {_shown(value)}")
        if isinstance(value, float) and not math.isfinite(value):
            raise CallError(f"{name!r} must be a number, not {_shown(value)}")
        if value <= 0:
            raise CallError(f"{name!r} must be more than 0, not {_shown(value)}")
        # An integer may be larger than any float.
        return float(min(value, 1 << 62))


def _shown(value: object) -> str:
    """A value as a model would recognise it, however large it is."""
    try:
        text = repr(value)
    except (ValueError, RecursionError):
        return f"a {type(value).__name__}"
    return text if len(text) <= _SHOWN_CHARACTERS else f"{text[:_SHOWN_CHARACTERS]}..."
