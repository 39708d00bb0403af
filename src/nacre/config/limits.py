"""Limits as people write them: `memory=32G`, `processes=4096`, `cpu_seconds=none`."""

from dataclasses import fields, replace

from nacre.model.confinement import Limits
from nacre.model.expression import expression

__all__ = ("changed_limits", "read_limits")

_NAMES = tuple(field.name for field in fields(Limits))
_WRITTEN = expression(r"([a-z_]+)=(none|[0-9]{1,15})([KMGT]?)")
_UNITS = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}


def read_limits(words: tuple[str, ...]) -> tuple[str, ...]:
    """Limits that can be used, as they were written.

    Raises:
        ValueError: If one cannot.
    """
    for word in words:
        found = _WRITTEN.fullmatch(word)
        if found is None or found[1] not in _NAMES:
            known = ", ".join(_NAMES)
            raise ValueError(f"has {word!r:.60}; give NAME=NUMBER or NAME=none, of {known}")
    return words


def changed_limits(limits: Limits, words: tuple[str, ...]) -> Limits:
    """Limits with those in their place that someone named."""
    for word in words:
        if found := _WRITTEN.fullmatch(word):
            most = None if found[2] == "none" else int(found[2]) * _UNITS[found[3]]
            limits = replace(limits, **{found[1]: most})
    return limits
