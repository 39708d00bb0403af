"""One tool, milliseconds, separate streams, and permission rules asked before anything runs."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import timedelta
from pathlib import PurePath
from typing import cast

from nacre.dialects.agentrail.replies import (
    Contained,
    refusal,
    reply_to_list,
    reply_to_run,
    shown,
)
from nacre.dialects.agentrail.schema import TIMEOUT, TOOL, schema
from nacre.dialects.base import OPEN, Posture, Scene, ToolSpec
from nacre.dialects.definitions import definitions
from nacre.errors import CallError, NacreError
from nacre.model.call import Call, OnTimeout, Run, Streams
from nacre.model.reply import Reply
from nacre.model.result import JobList, Result
from nacre.model.transcript import Limit

__all__ = ("AgentrailDialect",)

# Of each stream; what is cut off is in the spill, for the host.
_LIMIT = Limit(head=1024 * 1024, tail=0, spill=64 * 1024 * 1024)
# The document names no longest timeout; a clock has one.
_LONGEST = 10 * 365 * 24 * 3600 * 1000


class AgentrailDialect:
    """The agentrail dialect.

    `contained` is its variant in a container: a process in there has no pid that means
    anything outside, so that replies have none, and some errors have other words. Its scripts
    are checked without the pack `dangerous`, which is a matter of `nacre.policy.presets`.
    """

    def __init__(self, *, contained: bool = False) -> None:
        self._contained = contained

    def posture(self, environ: Mapping[str, str]) -> Posture:
        """Nothing confined but the memo folder of the workspace, which scripts may not write."""
        del environ
        return replace(
            OPEN, on_timeout=OnTimeout.BACKGROUND, confining="bubblewrap", protected=("memo",)
        )

    def specs(self, scene: Scene) -> tuple[ToolSpec, ...]:
        """The one tool."""
        return definitions("agentrail", {TOOL: schema()}, scene)

    def plain(self, script: str) -> tuple[str, Mapping[str, object]]:
        """A script and nothing else."""
        return TOOL, {"command": script}

    def parse(self, tool: str, arguments: object, on_timeout: OnTimeout) -> Call:
        """Read a tool call; a field that the schema does not name is ignored."""
        if tool != TOOL:
            raise CallError(f"Tool not found: {shown(tool)}")
        if not isinstance(arguments, Mapping):
            raise _invalid("the arguments must be an object")
        given = cast("Mapping[str, object]", arguments)
        folder = _text(given, "working_directory") if "working_directory" in given else ""
        timeout = _milliseconds(given)
        return Run(
            script=_text(given, "command"),
            limit=_LIMIT,
            cwd=PurePath(folder) if folder else None,
            timeout=timedelta(milliseconds=min(timeout, _LONGEST)),
            timed="timeout" in given,
            on_timeout=on_timeout,
            background=timeout == 0,
            streams=Streams.SEPARATE,
        )

    def render(self, call: Call, result: Result | JobList) -> Reply:
        """Put a result into words."""
        match result:
            case Result():
                in_background = isinstance(call, Run) and call.background
                contained = Contained(in_background=in_background) if self._contained else None
                return reply_to_run(result, contained)
            case JobList():
                return reply_to_list(result)

    def refuse(self, tool: str, error: NacreError) -> Reply:
        """Put an error into words."""
        del tool
        return refusal(error)


def _text(given: Mapping[str, object], name: str) -> str:
    if name not in given:
        raise _invalid(f"{name} is required")
    value = given[name]
    if not isinstance(value, str):
        raise _invalid(f"{name} must be a string")
    return value


def _milliseconds(given: Mapping[str, object]) -> int:
    value = given.get("timeout", TIMEOUT)
    # In JSON 5.0 is an integer too.
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, int):
        raise _invalid("timeout must be an integer")
    if value < 0:
        raise _invalid("timeout must be 0 or more")
    return value


def _invalid(why: str) -> CallError:
    return CallError(f'Invalid arguments for tool "{TOOL}": {why}')
