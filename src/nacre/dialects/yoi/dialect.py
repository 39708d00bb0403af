"""One tool, seconds, one merged stream, and a file for what is too long to show."""

from collections.abc import Mapping
from datetime import timedelta

from nacre.dialects.base import OPEN, Posture, Scene, ToolSpec
from nacre.dialects.definitions import definitions
from nacre.dialects.yoi.replies import (
    INLINE_BYTES,
    TAIL_LINES,
    WINDOW_BYTES,
    refusal,
    reply_to_list,
    reply_to_run,
)
from nacre.dialects.yoi.schema import SCHEMA, read
from nacre.dialects.yoi.wrapper import program
from nacre.errors import CallError, NacreError
from nacre.model.call import Call, OnTimeout, Run
from nacre.model.reply import Reply
from nacre.model.result import JobList, Result
from nacre.model.transcript import Limit

__all__ = ("YoiDialect",)

_TOOL = "Bash"
_LIMIT = Limit(
    head=0,
    tail=WINDOW_BYTES,
    spill=1 << 62,
    inline=INLINE_BYTES,
    lines=TAIL_LINES,
    cut_short=True,
)
_TIMEOUT_SECONDS = 120
_LEAST_SECONDS = 1
_MOST_SECONDS = 600


class YoiDialect:
    """The dialect `yoi`."""

    def posture(self, environ: Mapping[str, str]) -> Posture:
        """Nothing is confined: what may run is for the rules to say."""
        del environ
        return OPEN

    def specs(self, scene: Scene) -> tuple[ToolSpec, ...]:
        """The one tool; where scripts start is added when it is known."""
        return definitions("yoi", {_TOOL: SCHEMA}, scene)

    def plain(self, script: str) -> tuple[str, Mapping[str, object]]:
        """A script and nothing else."""
        return _TOOL, {"command": script}

    def parse(self, tool: str, arguments: object, on_timeout: OnTimeout) -> Call:
        """Read a tool call."""
        if tool != _TOOL:
            raise CallError(f"Tool '{tool:.200}' not found")
        try:
            params = read(arguments)
        except CallError as error:
            raise CallError(f"Invalid argument: invalid Bash input: {error}") from error
        chosen = _TIMEOUT_SECONDS if params.timeout is None else params.timeout
        return Run(
            script=params.command,
            program=program(params.command),
            limit=_LIMIT,
            timeout=timedelta(seconds=min(max(chosen, _LEAST_SECONDS), _MOST_SECONDS)),
            timed=params.timeout is not None,
            on_timeout=on_timeout,
        )

    def render(self, call: Call, result: Result | JobList) -> Reply:
        """Put a result into words."""
        match result:
            case JobList():
                return reply_to_list(result)
            case Result():
                known = result.job.script if result.job else ""
                return reply_to_run(call.script if isinstance(call, Run) else known, result)

    def refuse(self, tool: str, error: NacreError) -> Reply:
        """Put an error into words."""
        return refusal(error, known=tool == _TOOL)
