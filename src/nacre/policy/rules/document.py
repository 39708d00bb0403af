"""A rule file as data, with the place of every value in it."""

from collections.abc import Iterator, Mapping
from dataclasses import field
from typing import NamedTuple

from nacre.model.value import dataclass

__all__ = ("Document", "Mark", "Path")

Path = tuple[str | int, ...]


class Mark(NamedTuple):
    """A place in a text, counted from one."""

    line: int
    column: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """What a text holds: mappings, lists and plain values.

    `values` and `keys` have the places of its values and of the keys before them,
    by the path that leads there. What was not read from a text has none.
    """

    origin: str
    data: object
    values: Mapping[Path, Mark] = field(default_factory=dict[Path, Mark])
    keys: Mapping[Path, Mark] = field(default_factory=dict[Path, Mark])

    def place(self, path: Path, *, key: bool = False) -> str:
        """Where a value or its key stands, for an error: `agentrail.yaml:4:7`, or its path."""
        mark = (key and self.keys.get(path)) or self._nearest(path)
        if mark:
            return f"{self.origin}:{mark.line}:{mark.column}"
        steps = "".join(_steps(path)).removeprefix(".")
        return ": ".join(filter(None, (self.origin, steps))) or "the rules"

    def line(self, path: Path) -> str:
        """Where a value stands, for a verdict: `agentrail.yaml:4`."""
        mark = self._nearest(path)
        return f"{self.origin}:{mark.line}" if mark else self.origin

    def _nearest(self, path: Path) -> Mark | None:
        while path and path not in self.values:
            path = path[:-1]
        return self.values.get(path)


def _steps(path: Path) -> Iterator[str]:
    for step in path:
        yield f"[{step}]" if isinstance(step, int) else f".{step}"
