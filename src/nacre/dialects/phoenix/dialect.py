"""One tool and a mode: 30 seconds, 15 minutes, or detached."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import timedelta
from typing import cast

from nacre.dialects.base import OPEN, Posture, Scene, ToolSpec
from nacre.dialects.phoenix.description import SCHEMA, describe
from nacre.dialects.phoenix.replies import LIMIT, refusal, reply_to_list, reply_to_run
from nacre.dialects.serde import fields, invalid_type, text_field
from nacre.errors import CallError, NacreError
from nacre.model.call import Call, OnTimeout, Run
from nacre.model.confinement import Network
from nacre.model.job import Completion, JobTerms, Naming
from nacre.model.reply import Reply
from nacre.model.result import JobList, Result

__all__ = ("PhoenixDialect",)

_TOOL = "bash"
_DEFAULT, _SLOW, _BACKGROUND = "default", "slow", "background"
_MODES = (_DEFAULT, _SLOW, _BACKGROUND)
_TIMEOUTS = {_DEFAULT: timedelta(seconds=30), _SLOW: timedelta(minutes=15)}
_TERMS = JobTerms(
    naming=Naming.UUID,
    prefix="phoenix-bg-",
    detached=True,
    completion=Completion(
        exited="\n[background process completed with exit code {}]",
        signaled="\n[background process completed with exit code -1]",
    ),
)


class _RefusedError(CallError):
    """Arguments that do not fit; `command` is the one that was given, if it was a string."""

    def __init__(self, message: str, command: str) -> None:
        super().__init__(message)
        self.command = command


class PhoenixDialect:
    """`bash(command, mode)`, and a Restricted mode that Landlock holds."""

    def posture(self, environ: Mapping[str, str]) -> Posture:
        """Unrestricted; a conversation that is Restricted is held by Landlock, without network."""
        del environ
        return replace(
            OPEN,
            confining="landlock",
            confined_network=Network.DENY,
            signals_jobs=True,
            names_folder=True,
        )

    def specs(self, scene: Scene) -> tuple[ToolSpec, ...]:
        """The one tool."""
        return (ToolSpec(name=_TOOL, description=describe(scene), input_schema=SCHEMA),)

    def plain(self, script: str) -> tuple[str, Mapping[str, object]]:
        """A command and nothing else."""
        return _TOOL, {"command": script}

    def parse(self, tool: str, arguments: object, on_timeout: OnTimeout) -> Call:
        """Read a tool call."""
        command = _given_command(arguments)
        if tool != _TOOL:
            raise _RefusedError(f"Unknown tool: {tool!s:.200}", command)
        try:
            run = _run(fields(arguments, "BashInput"), on_timeout)
        except CallError as error:
            raise _RefusedError(f"Invalid input: {error}", command) from None
        if not command:
            raise _RefusedError("Command cannot be empty", command)
        return run

    def render(self, call: Call, result: Result | JobList) -> Reply:
        """Put a result into words."""
        match result:
            case JobList():
                return reply_to_list(result)
            case Result():
                run = call if isinstance(call, Run) else Run(script="", limit=LIMIT)
                return reply_to_run(run, result)

    def refuse(self, tool: str, error: NacreError) -> Reply:
        """Put an error into words."""
        del tool
        return refusal(error, error.command if isinstance(error, _RefusedError) else "")


def _given_command(arguments: object) -> str:
    if not isinstance(arguments, Mapping):
        return ""
    command = cast("Mapping[object, object]", arguments).get("command")
    return command if isinstance(command, str) else ""


def _run(given: Mapping[str, object], on_timeout: OnTimeout) -> Run:
    """A run; of several misfits, the one that the origin's reader comes to first is told."""
    if "command" in given:
        text_field(given, "command")
    mode = _mode(given["mode"]) if "mode" in given else _DEFAULT
    return Run(
        script=text_field(given, "command"),
        limit=LIMIT,
        timeout=_TIMEOUTS.get(mode),
        timed=mode == _SLOW,
        on_timeout=on_timeout,
        background=mode == _BACKGROUND,
        terms=_TERMS,
    )


def _mode(given: object) -> str:
    """The name of a mode. That reader takes an object with one key for it, too."""
    if isinstance(given, Mapping):
        pairs = list(cast("Mapping[object, object]", given).items())
        if len(pairs) != 1:
            raise CallError("invalid value: map, expected map with a single key")
        name, rest = pairs[0]
        mode = _known(name if isinstance(name, str) else "")
        if rest is not None:
            raise CallError(invalid_type(rest, "unit"))
        return mode
    if not isinstance(given, str):
        raise CallError(invalid_type(given, "string or map"))
    return _known(given)


def _known(name: str) -> str:
    if name not in _MODES:
        expected = ", ".join(f"`{mode}`" for mode in _MODES)
        raise CallError(f"unknown variant `{name:.200}`, expected one of {expected}")
    return name
