"""`Bash`, `BashOutput` and `KillShell`: seconds, one merged stream, shells known by a UUID."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import timedelta
from typing import cast

from nacre.dialects.base import OPEN, Posture, Scene, ToolSpec
from nacre.dialects.codegen.replies import (
    SHOWN_BYTES,
    refusal,
    reply_to_kill,
    reply_to_list,
    reply_to_poll,
    reply_to_run,
    sayable,
)
from nacre.dialects.codegen.schema import DEFAULT_SECONDS, MOST_SECONDS, schemas
from nacre.dialects.definitions import definitions
from nacre.errors import CallError, NacreError
from nacre.model.call import Call, OnTimeout, Poll, Run, Stop, Streams
from nacre.model.job import JobTerms, Naming
from nacre.model.reply import Reply
from nacre.model.result import JobList, Result
from nacre.model.transcript import Limit

__all__ = ("CodegenDialect",)

_CAP = 1024 * 1024
_BACKGROUND = Limit(head=_CAP, tail=0)
_FOREGROUND = Limit(head=SHOWN_BYTES, tail=0)
_NOTHING = Limit(head=0, tail=0)
_TERMS = JobTerms(naming=Naming.UUID, cap=_CAP)
# What is still written into the pipe after the shell's end comes along, for this long.
_LINGER = timedelta(seconds=2)


class CodegenDialect:
    """The dialect of a sandbox server that lives in a container, its boundary."""

    def posture(self, environ: Mapping[str, str]) -> Posture:
        """As open as the host itself; shells are the workspace's, whoever started them."""
        del environ
        return replace(OPEN, shares_jobs=True)

    def specs(self, scene: Scene) -> tuple[ToolSpec, ...]:
        """The three tools."""
        return definitions("codegen", schemas(), scene)

    def plain(self, script: str) -> tuple[str, Mapping[str, object]]:
        """A script, with the description that must not be missing."""
        return "Bash", {"command": script, "description": "run a script"}

    def parse(self, tool: str, arguments: object, on_timeout: OnTimeout) -> Call:
        """Read a tool call; whatever is no object has no arguments in it."""
        given: Mapping[object, object] = (
            cast("Mapping[object, object]", arguments) if isinstance(arguments, Mapping) else {}
        )
        match tool:
            case "Bash":
                return _run(given, on_timeout)
            case "BashOutput":
                return Poll(job_id=_shell_id(given), limit=_BACKGROUND, whole=True)
            case "KillShell":
                return Stop(job_id=_shell_id(given), limit=_NOTHING, forget=True)
            case _:
                raise CallError(f"tool '{sayable(tool)}' not found: tool not found")

    def render(self, call: Call, result: Result | JobList) -> Reply:
        """Put a result into words."""
        match call, result:
            case Run(), Result():
                return reply_to_run(call, result)
            case Stop(), Result():
                return reply_to_kill(call.job_id)
            case _, Result():
                return reply_to_poll(result)
            case _, JobList():
                return reply_to_list(result.jobs)

    def refuse(self, tool: str, error: NacreError) -> Reply:
        """Put an error into words."""
        del tool
        return refusal(error)


def _run(given: Mapping[object, object], on_timeout: OnTimeout) -> Run:
    script = _text(given, "command")
    description = sayable(_text(given, "description"))
    background = given.get("run_in_background") is True
    chosen = _chosen_seconds(given.get("timeout"))
    may_stay = background or on_timeout is OnTimeout.BACKGROUND
    return Run(
        script=script,
        limit=_BACKGROUND if may_stay else _FOREGROUND,
        timeout=timedelta(seconds=chosen or DEFAULT_SECONDS),
        timed=chosen is not None,
        on_timeout=on_timeout,
        background=background,
        description=description,
        streams=Streams.SEPARATE if background else Streams.MERGED,
        linger=_LINGER,
        terms=_TERMS,
    )


def _shell_id(given: Mapping[object, object]) -> str:
    return sayable(_text(given, "shell_id"))


def _text(given: Mapping[object, object], name: str) -> str:
    value = given.get(name)
    if not isinstance(value, str) or not value:
        raise CallError(f"{name} is required")
    return value


def _chosen_seconds(value: object) -> int | None:
    """The whole seconds of a number that has any, up to the most; None for all else."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    # A comparison, not int(): that fails for infinity and for what is no number.
    return int(min(value, MOST_SECONDS)) if value >= 1 else None
