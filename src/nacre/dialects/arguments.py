"""Typed reading of JSON arguments, forgiving where a model's meaning is plain."""

import math
from collections.abc import Collection, Mapping
from datetime import timedelta

from nacre.errors import CallError

__all__ = ("Arguments",)

_SHOWN_CHARACTERS = 60
_BOOLEANS = {"true": True, "false": False}


class Arguments:
    """The arguments of one tool call.

    Every method raises `CallError`, with the name, the value and what would do.
    An argument that is null is one that was not given.
    """

    def __init__(self, tool: str, given: Mapping[str, object], known: Collection[str]) -> None:
        self._tool = tool
        self._given = {name: value for name, value in given.items() if value is not None}
        unknown = sorted(str(name) for name in self._given if name not in known)
        if unknown:
            takes = ", ".join(known) if known else "none"
            raise CallError(f"{tool} has no argument {unknown[0]!r:.60}; its arguments: {takes}")

    def has(self, name: str) -> bool:
        """Whether the argument was given."""
        return name in self._given

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
