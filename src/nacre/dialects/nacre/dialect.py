"""Four tools, seconds, one merged stream, and a job instead of a kill at the timeout."""

from collections.abc import Mapping
from datetime import timedelta
from pathlib import PurePath
from typing import cast

from nacre.dialects.arguments import Arguments
from nacre.dialects.base import Posture, Scene, ToolSpec
from nacre.dialects.nacre.kept import LIMIT
from nacre.dialects.nacre.schema import PROPERTIES, schemas
from nacre.errors import CallError, NacreError
from nacre.model.call import (
    Call,
    Condition,
    FileAppears,
    JobEnds,
    ListJobs,
    OnTimeout,
    OutputMatches,
    Poll,
    PortOpens,
    Run,
    Silence,
    Stop,
)
from nacre.model.confinement import Environment, Network
from nacre.model.reply import Reply
from nacre.model.result import JobList, Result

__all__ = ("NacreDialect",)

_TIMEOUT_SECONDS = 120.0
_TIMEOUT = timedelta(seconds=_TIMEOUT_SECONDS)
_WAIT_SECONDS = 30.0
_MOST_SECONDS = 600.0
# Between asking a script to end and insisting.
_GRACE = timedelta(seconds=1)
_HIGHEST_PORT = 65535
# No colours and no pagers: nobody is there to see the one or to leave the other.
_FIXED = {"TERM": "dumb", "PAGER": "cat", "GIT_PAGER": "cat", "GIT_TERMINAL_PROMPT": "0"}


class NacreDialect:
    """The default dialect."""

    def posture(self, environ: Mapping[str, str]) -> Posture:
        """Confined to the workspace, without network, and no variables but those needed."""
        del environ
        return Posture(
            sandbox="auto",
            confinement="workspace",
            network=Network.DENY,
            on_timeout=OnTimeout.BACKGROUND,
            environment=Environment(fixed=_FIXED),
            redacts=True,
        )

    def specs(self, scene: Scene) -> tuple[ToolSpec, ...]:
        """The four tools."""
        from nacre.dialects.definitions import definitions

        return definitions("nacre", schemas(), scene)

    def plain(self, script: str) -> tuple[str, Mapping[str, object]]:
        """A script and nothing else."""
        return "Bash", {"command": script}

    def parse(self, tool: str, arguments: object, on_timeout: OnTimeout) -> Call:
        """Read a tool call."""
        if tool not in PROPERTIES:
            raise CallError(f"there is no tool {tool!r:.60}; the tools are {', '.join(PROPERTIES)}")
        if not isinstance(arguments, Mapping):
            raise CallError(f"the arguments of {tool} must be an object, not {arguments!r:.60}")
        given = Arguments(tool, cast("Mapping[str, object]", arguments), tuple(PROPERTIES[tool]))
        match tool:
            case "Bash":
                return _run(given, on_timeout)
            case "BashOutput":
                return _poll(given)
            case "KillBash":
                return Stop(job_id=given.text("id"), limit=LIMIT, grace=_GRACE)
            case _:
                return ListJobs()

    def render(self, call: Call, result: Result | JobList) -> Reply:
        """Put a result into words."""
        from nacre.dialects.nacre.replies import reply_to_list, reply_to_poll, reply_to_run

        match call, result:
            case Run(), Result():
                return reply_to_run(call, result)
            case _, Result():
                return reply_to_poll(result)
            case _, JobList():
                return reply_to_list(result)

    def refuse(self, tool: str, error: NacreError) -> Reply:
        """Put an error into words."""
        from nacre.dialects.nacre.replies import refusal

        return refusal(tool, error)


def _run(given: Arguments, on_timeout: OnTimeout) -> Run:
    if given.only("command"):
        return Run(
            script=given.text("command"),
            limit=LIMIT,
            timeout=_TIMEOUT,
            on_timeout=on_timeout,
            grace=_GRACE,
        )
    folder = given.text("working_directory", "")
    return Run(
        script=given.text("command"),
        limit=LIMIT,
        cwd=PurePath(folder) if folder else None,
        timeout=given.seconds("timeout", _TIMEOUT_SECONDS, _MOST_SECONDS),
        timed=given.has("timeout"),
        on_timeout=on_timeout,
        background=given.flag("background"),
        description=given.text("description", ""),
        grace=_GRACE,
    )


def _poll(given: Arguments) -> Poll:
    return Poll(
        job_id=given.text("id"),
        limit=LIMIT,
        pattern=given.text("filter") if given.has("filter") else None,
        wait_for=_conditions(given.value("wait_for"), timed=given.has("timeout")),
        timeout=given.seconds("timeout", _WAIT_SECONDS, _MOST_SECONDS),
    )


def _conditions(wanted: object, *, timed: bool) -> tuple[Condition, ...]:
    match wanted:
        case None:
            # A timeout alone says: wait for the end, but no longer than that.
            return (JobEnds(),) if timed else ()
        case "exit":
            return (JobEnds(),)
        case str():
            return (OutputMatches(wanted),)
        case Mapping():
            known = ("regex", "exit", "port", "file", "silence")
            items = Arguments("wait_for", cast("Mapping[str, object]", wanted), known)
            found = tuple(
                condition for name in known if (condition := _condition(items, name)) is not None
            )
            if found:
                return found
        case _:
            pass
    raise CallError(
        "'wait_for' must be an object with one or more of regex, exit, port, file, silence,"
        f" or a regex as a string, not {wanted!r:.60}"
    )


def _condition(items: Arguments, name: str) -> Condition | None:
    if not items.has(name):
        return None
    match name:
        case "regex":
            return OutputMatches(items.text(name))
        case "exit":
            return JobEnds() if items.flag(name) else None
        case "port":
            port = int(items.number(name, 0))
            if port > _HIGHEST_PORT:
                raise CallError(f"'port' must be at most {_HIGHEST_PORT}, not {port}")
            return PortOpens(port)
        case "file":
            return FileAppears(PurePath(items.text(name)))
        case _:
            return Silence(items.seconds(name, 0, _MOST_SECONDS))
