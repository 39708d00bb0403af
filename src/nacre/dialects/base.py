"""The contract every dialect keeps."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import PurePath
from typing import Protocol

from nacre.errors import NacreError
from nacre.model.call import Call, OnTimeout
from nacre.model.confinement import Confinement, Environment, Network
from nacre.model.reply import Reply
from nacre.model.result import JobList, Result

__all__ = ("Dialect", "Posture", "ToolSpec")


@dataclass(frozen=True, slots=True, kw_only=True)
class Posture:
    """What a dialect's document says of everything its arguments do not."""

    sandbox: str
    confinement: str
    network: Network
    on_timeout: OnTimeout
    environment: Environment
    redacts: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolSpec:
    """One tool as a host would describe it to a model."""

    name: str
    description: str
    input_schema: Mapping[str, object]


class Dialect(Protocol):
    """A table in two directions: arguments to calls, results to replies.

    It decides nothing else and does nothing: no process, no file, no clock.
    Whatever the arguments are, `parse` raises nothing but `CallError`.
    """

    @property
    def posture(self) -> Posture:
        """The settings that hold unless others are given."""
        ...

    def specs(self, cwd: PurePath | None, confinement: Confinement | None) -> tuple[ToolSpec, ...]:
        """The tools, with the working directory and what confines scripts in words."""
        ...

    def parse(self, tool: str, arguments: Mapping[str, object], on_timeout: OnTimeout) -> Call:
        """Read a tool call.

        Raises:
            CallError: If the tool or its arguments are not of this dialect.
        """
        ...

    def render(self, call: Call, result: Result | JobList) -> Reply:
        """Put a result into this dialect's words."""
        ...

    def refuse(self, tool: str, error: NacreError) -> Reply:
        """Put an error of the agent's, or of the state, into this dialect's words."""
        ...
