"""What is in force, and where each of it came from."""

from collections.abc import Mapping
from dataclasses import field
from typing import TYPE_CHECKING

from nacre.config.rules import Sourced
from nacre.config.settings import Value
from nacre.model.value import dataclass

if TYPE_CHECKING:
    from nacre.policy.rules.layer import Layer

__all__ = ("PROJECT", "Config", "Found")

PROJECT = "project "
"""What the source of a value begins with that a project's file has."""

_DEFAULT_DIALECT = "nacre"


@dataclass(frozen=True, slots=True)
class Found:
    """A value, and where it came from."""

    value: Value
    source: str

    @property
    def from_project(self) -> bool:
        """Whether a project's file says so, which an agent can write."""
        return self.source.startswith(PROJECT)


@dataclass(frozen=True, slots=True, kw_only=True)
class Config:
    """What is in force: the settings that anyone named, and the layers of rules.

    `aside` has what a project's file asked for without being stricter.
    """

    found: Mapping[str, Found] = field(default_factory=dict[str, Found])
    rules: tuple[Sourced, ...] = ()
    aside: tuple[tuple[str, Found], ...] = ()

    @property
    def dialect(self) -> str:
        """The dialect that is spoken."""
        return self.text("dialect") or _DEFAULT_DIALECT

    @property
    def layers(self) -> "tuple[Layer, ...]":
        """The layers of rules."""
        return tuple(each.layer for each in self.rules)

    def text(self, name: str) -> str | None:
        """A setting that is one word; None if nobody named it."""
        value = self._value(name)
        return value if isinstance(value, str) else None

    def number(self, name: str) -> float | None:
        """A setting that is a number; None if nobody named it."""
        value = self._value(name)
        return value if isinstance(value, int | float) else None

    def names(self, name: str) -> tuple[str, ...]:
        """A setting that is several names; none if nobody named it."""
        value = self._value(name)
        return value if isinstance(value, tuple) else ()

    def _value(self, name: str) -> Value | None:
        found = self.found.get(name)
        return found.value if found else None
