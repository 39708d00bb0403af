"""A model that follows a script: it calls our tool, looks at what comes back, and goes on."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

__all__ = ("Call", "Model", "Tool")

_OURS = re.compile(r"(?:mcp__)?nacre_{1,2}(?P<name>\w+)")
_RUNS = "Bash"


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool as a client offers it: some put tools of one server under a name of its own."""

    name: str
    namespace: str | None = None

    @property
    def ours(self) -> str | None:
        """What the server calls it; None if it is not one of ours."""
        whole = f"{self.namespace}__{self.name}" if self.namespace else self.name
        found = _OURS.fullmatch(whole)
        return found["name"] if found else None


@dataclass(frozen=True, slots=True)
class Call:
    """What the model does next."""

    id: str
    tool: Tool
    arguments: Mapping[str, object]


@dataclass(slots=True)
class Model:
    """A model that runs scripts one after the other, and what it saw of their results."""

    scripts: Sequence[str]
    tools: set[str] = field(default_factory=set[str])
    results: list[Sequence[str]] = field(default_factory=list[Sequence[str]])

    def turn(self, offered: Sequence[Tool], results: Mapping[str, Sequence[str]]) -> Call | None:
        """The next call; None if there is nothing to do, or nothing to do it with."""
        ours = {name: tool for tool in offered if (name := tool.ours)}
        if _RUNS not in ours:
            return None  # clients ask for titles and such, beside
        self.tools |= {*ours}
        self.results = [results[each] for each in map(_id, range(len(results))) if each in results]
        done = len(self.results)
        if done == len(self.scripts):
            return None
        return Call(_id(done), ours[_RUNS], {"command": self.scripts[done]})


def _id(turn: int) -> str:
    return f"call_{turn}"
