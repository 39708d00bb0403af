"""One tool, milliseconds, two streams apart, and an error wherever the exit code is not 0."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import timedelta
from typing import cast

from nacre.dialects.base import Posture, Scene, ToolSpec
from nacre.dialects.definitions import definitions
from nacre.dialects.wayland.posture import posture_in
from nacre.dialects.wayland.replies import LIMIT, reply_to, reply_to_jobs
from nacre.dialects.wayland.schema import SCHEMA
from nacre.errors import CallError, NacreError
from nacre.model.call import Call, OnTimeout, Run, Streams
from nacre.model.confinement import Network
from nacre.model.reply import Reply
from nacre.model.result import JobList, Result

__all__ = ("WaylandDialect",)

_TOOL = "Bash"
_TIMEOUT_MS = 120_000
_MOST_MS = 600_000
# More than its reader of JSON takes for an integer.
_TOO_LARGE = 1 << 64
_MOST_NAME = 100


class WaylandDialect:
    """The dialect of seeds/002."""

    def posture(self, environ: Mapping[str, str]) -> Posture:
        """Bubblewrap, no network, an environment without secrets; or what the host's variables say."""
        return posture_in(environ)

    def specs(self, scene: Scene) -> tuple[ToolSpec, ...]:
        """The one tool."""
        (spec,) = definitions("wayland", {_TOOL: SCHEMA}, scene)
        if scene.confinement and scene.confinement.network is Network.INHERIT:
            open_network = f"{spec.description}\n\nHere the network can be reached."
            return (replace(spec, description=open_network),)
        return (spec,)

    def plain(self, script: str) -> tuple[str, Mapping[str, object]]:
        """A command and nothing else."""
        return _TOOL, {"command": script}

    def parse(self, tool: str, arguments: object, on_timeout: OnTimeout) -> Call:
        """Read a tool call: whatever is no number of milliseconds is no timeout."""
        if tool != _TOOL:
            raise CallError(f"Unknown tool: {_printable(tool[:_MOST_NAME])}")
        given = _fields(arguments)
        command = given.get("command")
        if not isinstance(command, str):
            raise CallError("Missing required parameter: command")
        asked = _milliseconds(given.get("timeout"))
        return Run(
            script=command,
            limit=LIMIT,
            timeout=timedelta(milliseconds=_TIMEOUT_MS if asked is None else min(asked, _MOST_MS)),
            timed=asked is not None,
            on_timeout=on_timeout,
            streams=Streams.SEPARATE,
        )

    def render(self, call: Call, result: Result | JobList) -> Reply:
        """Put a result into words."""
        match result:
            case Result():
                return reply_to(call, result)
            case JobList():
                return reply_to_jobs(result)

    def refuse(self, tool: str, error: NacreError) -> Reply:
        """Put an error into words; what the agent did wrong is told as it is."""
        del tool
        said = str(error) if isinstance(error, CallError) else f"Failed to execute command: {error}"
        return Reply(text=_printable(said), is_error=True, details={"exit_code": None})


def _fields(arguments: object) -> Mapping[str, object]:
    """The fields of an object; what is none has none."""
    return cast("Mapping[str, object]", arguments) if isinstance(arguments, Mapping) else {}


def _milliseconds(value: object) -> int | None:
    """A whole number of milliseconds; None for everything else."""
    if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < _TOO_LARGE:
        return value
    return None


def _printable(text: str) -> str:
    return text.encode("utf-8", "backslashreplace").decode()
