"""nacre behind the bash tool of Anthropic's API, `bash_20250124`."""

import os
import threading
from collections.abc import Mapping
from dataclasses import replace
from datetime import timedelta
from typing import cast
from uuid import uuid4

import anyio

from nacre.adapters.carrying import Carried, carrying, left_by
from nacre.dialects.arguments import Arguments
from nacre.dialects.nacre.kept import BUDGET
from nacre.dialects.nacre.replies import refusal, reply_to_run
from nacre.errors import CallError, ConfigError, NacreError
from nacre.model.call import Run
from nacre.model.outcome import Denied, Outcome
from nacre.model.reply import Reply
from nacre.model.result import Result
from nacre.model.transcript import Limit
from nacre.tool import Bash, ToolContext

try:
    from anthropic.lib.tools import (
        BetaAsyncBuiltinFunctionTool,
        BetaBuiltinFunctionTool,
        ToolError,
    )
    from anthropic.types.beta import BetaToolBash20250124Param
except ImportError as error:
    raise ConfigError(
        f"Anthropic's SDK cannot be imported ({error}); pip install 'nacre[anthropic]'"
    ) from error

__all__ = ("NacreAsyncBashTool", "NacreBashTool")

_ARGUMENTS = ("command", "restart")
_USUAL_SECONDS = 120.0
_LONGEST_SECONDS = 10.0 * 365 * 24 * 3600
_GRACE = timedelta(seconds=1)
_LIMIT = Limit(head=128 * 1024, tail=256 * 1024, spill=64 * 1024 * 1024, inline=BUDGET)
_RESTARTED = "[restarted: the next command starts in the first folder, without what was exported]"
_JUDGED_TOO = "it is about what the commands before left; 'restart' forgets that"
_ALONE = "[the command was not run; send it without 'restart']"


class _Shell:
    """Answers the calls of one conversation, and remembers what one command leaves for the next."""

    def __init__(
        self,
        tool: Bash,
        *,
        working_dir: str | os.PathLike[str] = ".",
        conversation: str | None = None,
        confinement: str | None = None,
        timeout: float = _USUAL_SECONDS,
    ) -> None:
        self._tool = tool
        self._context = ToolContext(
            working_dir=working_dir,
            conversation=conversation or f"anthropic {uuid4()}",
            confinement=confinement,
        )
        self._timeout = _time(timeout)
        self._carried = Carried()
        self._turn = anyio.Lock()
        self._turn_of_threads = threading.Lock()

    def to_dict(self) -> BetaToolBash20250124Param:
        """The definition that is sent to the model."""
        return {"type": "bash_20250124", "name": "bash"}

    async def _answer(self, given: object) -> Reply:
        """Carry out a call; whatever the model sent is answered."""
        try:
            if not isinstance(given, Mapping):
                raise CallError(f"the arguments of bash must be an object, not {given!r:.60}")
            arguments = Arguments("bash", cast("Mapping[str, object]", given), _ARGUMENTS)
            if arguments.flag("restart"):
                self._carried = Carried()
                return _restarted(arguments)
            return await self._run(arguments.text("command"))
        except NacreError as error:
            return refusal("Bash", error)

    async def _run(self, command: str) -> Reply:
        plain = Run(script=command, limit=_LIMIT, timeout=self._timeout, grace=_GRACE)
        run = carrying(plain, self._carried)
        result = cast("Result", await self._tool.carry_out(run, self._context))
        result, self._carried = left_by(result, self._carried)
        if _is_about(result.outcome, run.script.removesuffix(command)):
            result = replace(result, notices=(*result.notices, _JUDGED_TOO))
        return reply_to_run(run, result)


class NacreAsyncBashTool(_Shell, BetaAsyncBuiltinFunctionTool):
    """The bash tool for an `AsyncAnthropic` client's tool runner. The host owns `tool`, and closes it.

    To the model it is one shell that goes on: the next command starts in the folder where the last
    one ended, with the variables that were exported. So there is one object for each conversation,
    and its calls take turns. Nothing else is carried over, and no process outlives its command.

    A failing exit code, a denial, a timeout and a malformed call raise ToolError, which the
    runner tells the model. `timeout` is the time in seconds that a command gets, `math.inf` for no
    limit. What rules leave to a person is for the approver of `tool`, or is denied. A call that is
    cancelled leaves no process.
    """

    async def call(self, input: object) -> str:  # noqa: A002 (the SDK's word)
        """Carry out a call of the model.

        Raises:
            ToolError: If it did not end well; its content is for the model.
        """
        async with self._turn:
            reply = await self._answer(input)
        return _told(reply)


class NacreBashTool(_Shell, BetaBuiltinFunctionTool):
    """The same for an `Anthropic` client, whose tool runner waits on its thread."""

    def call(self, input: object) -> str:  # noqa: A002 (the SDK's word)
        """Carry out a call of the model.

        Raises:
            ToolError: If it did not end well; its content is for the model.
        """
        with self._turn_of_threads:
            reply = anyio.run(self._answer, input)
        return _told(reply)


def _time(seconds: float) -> timedelta:
    if not seconds > 0:
        raise ConfigError(f"timeout={seconds!r} is not a positive number of seconds")
    return timedelta(seconds=min(seconds, _LONGEST_SECONDS))


def _is_about(outcome: Outcome, front: str) -> bool:
    """Whether a script was refused because of what stands in front of the command."""
    span = outcome.verdict.span if isinstance(outcome, Denied) else None
    return span is not None and span[0] < len(os.fsencode(front))


def _restarted(arguments: Arguments) -> Reply:
    text = f"{_RESTARTED}\n{_ALONE}" if arguments.has("command") else _RESTARTED
    return Reply(text=text, is_error=arguments.has("command"))


def _told(reply: Reply) -> str:
    if reply.is_error:
        raise ToolError(reply.text)
    return reply.text
