"""The contract every dialect keeps."""

from collections.abc import Mapping
from pathlib import PurePath
from typing import Protocol

from nacre.errors import NacreError
from nacre.model.call import Call, OnTimeout
from nacre.model.confinement import Confinement, Environment, Network
from nacre.model.reply import Reply
from nacre.model.result import JobList, Result
from nacre.model.value import dataclass

__all__ = ("OPEN", "Dialect", "Posture", "Scene", "ToolSpec")


@dataclass(frozen=True, slots=True, kw_only=True)
class Posture:
    """What a dialect's document says of everything its arguments do not.

    `confining` is the sandbox for a call that is to be confined, or of which something is
    protected, although `sandbox` is none. `protected` are folders of the workspace that
    scripts may not write, where they exist. `unheld_allowed` says in words that scripts run
    without a sandbox where theirs cannot be had; `refusal`, if there is one, why none may
    run at all. `shares_jobs` makes a job everybody's who works in the same workspace;
    `names_folder` has the description say where scripts start even if no call is known yet;
    `signals_jobs` lets confined scripts signal the confined jobs of their conversation.
    `confined_network` is the network of a call that is to be confined, if it is another one.
    """

    sandbox: str
    confinement: str
    network: Network
    on_timeout: OnTimeout
    environment: Environment
    redacts: bool = False
    confining: str = "auto"
    protected: tuple[str, ...] = ()
    unheld_allowed: bool = False
    refusal: str = ""
    shares_jobs: bool = False
    confined_network: Network | None = None
    signals_jobs: bool = False
    names_folder: bool = False


OPEN = Posture(
    sandbox="none",
    confinement="open",
    network=Network.INHERIT,
    on_timeout=OnTimeout.KILL,
    environment=Environment(inherit=True),
)
"""What a document lays down that confines nothing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Scene:
    """What a description can say of where scripts will run; `lacking` is why none can be confined."""

    cwd: PurePath | None = None
    confinement: Confinement | None = None
    lacking: str = ""


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

    def posture(self, environ: Mapping[str, str]) -> Posture:
        """The settings that hold unless others are given, in a host with these variables."""
        ...

    def specs(self, scene: Scene) -> tuple[ToolSpec, ...]:
        """The tools, with the working directory and what confines scripts in words."""
        ...

    def plain(self, script: str) -> tuple[str, Mapping[str, object]]:
        """The tool that runs a script, and the fewest arguments with which it does."""
        ...

    def parse(self, tool: str, arguments: object, on_timeout: OnTimeout) -> Call:
        """Read a tool call. Arguments that are a text could not be read as JSON.

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
