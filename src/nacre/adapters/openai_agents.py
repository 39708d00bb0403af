"""nacre behind the shell tool of the OpenAI Agents SDK."""

import os
from dataclasses import replace
from datetime import timedelta
from typing import cast
from uuid import uuid4

from nacre.dialects.nacre.replies import BUDGET
from nacre.errors import ConfigError
from nacre.model.approval import Answer, Consent, Question
from nacre.model.call import Run, Streams
from nacre.model.outcome import Stopped, TimedOut
from nacre.model.result import Result
from nacre.model.transcript import Limit, Transcript
from nacre.tool import Approver, Bash, ToolContext

try:
    from agents import (
        RunContextWrapper,
        ShellActionRequest,
        ShellCallOutcome,
        ShellCommandOutput,
        ShellCommandRequest,
        ShellResult,
        ShellTool,
    )
    from agents.tool import ShellOnApprovalFunction
except ImportError as error:
    raise ConfigError(
        f"the OpenAI Agents SDK cannot be imported ({error}); pip install 'nacre[openai-agents]'"
    ) from error

__all__ = ("ShellExecutor", "shell_tool")

_OWN_ERROR, _DENIED, _SIGNALED = 125, 126, 128
_USUAL_TIMEOUT = timedelta(minutes=2)
_LONGEST_TIMEOUT = timedelta(minutes=10)
_GRACE = timedelta(seconds=1)
_MOST_CHARACTERS = 1 << 20
_MOST_REMEMBERED = 1000
_NO_CALL = "a call that was never made"


def shell_tool(
    tool: Bash,
    *,
    name: str = "shell",
    working_dir: str | os.PathLike[str] = ".",
    conversation: str | None = None,
    on_approval: ShellOnApprovalFunction | None = None,
) -> ShellTool:
    """The SDK's shell tool, with its commands checked, confined and run by `tool`.

    The run is interrupted when nacre's rules leave one of a call's commands to a person. The
    host owns `tool`, and closes it. `on_approval` is the SDK's own: it may answer at once.
    """
    executor = ShellExecutor(tool, name=name, working_dir=working_dir, conversation=conversation)
    return ShellTool(
        executor=executor,
        name=name,
        needs_approval=executor.needs_approval,
        on_approval=on_approval,
    )


class ShellExecutor:
    """Carries out the shell calls of an agent, command by command, and says how each ended.

    What a person approves is one call: its commands, and no others. An approval of the whole
    tool, the SDK's "always", counts for the call that was asked about and for what nacre grants
    because of it. Whatever else needs approval is for the approver of `tool`, or is denied.
    Without a `conversation` it has one of its own. A run that is cancelled leaves no process.
    """

    def __init__(
        self,
        tool: Bash,
        *,
        name: str = "shell",
        working_dir: str | os.PathLike[str] = ".",
        conversation: str | None = None,
    ) -> None:
        self._tool = tool
        self._name = name
        self._context = ToolContext(
            working_dir=working_dir, conversation=conversation or f"openai-agents {uuid4()}"
        )
        self._asked: dict[str, tuple[str, ...]] = {}

    async def needs_approval(
        self, context: RunContextWrapper[object], action: ShellActionRequest, call_id: str
    ) -> bool:
        """Whether a person must be asked about one of an action's commands; nothing runs."""
        del context
        for command in action.commands:
            if await self._tool.question_about(_run(command, action), self._context):
                self._remember(call_id, action)
                return True
        return False

    async def __call__(self, request: ShellCommandRequest) -> ShellResult:
        """Run an action's commands, one after another, until one runs out of time."""
        action = request.data.action
        context = replace(self._context, approver=self._approver(request))
        budget = _budget(action)
        output: list[ShellCommandOutput] = []
        for command in action.commands:
            run = _run(command, action)
            result = cast("Result", await self._tool.carry_out(run, context))
            output.append(_output(run, result, budget))
            budget -= len(output[-1].stdout) + len(output[-1].stderr)
            if isinstance(result.outcome, TimedOut | Stopped):
                break
        return ShellResult(output=output)

    def _remember(self, call_id: str, action: ShellActionRequest) -> None:
        """Note what a person is asked about, until it runs or was asked long ago."""
        while len(self._asked) >= _MOST_REMEMBERED:
            del self._asked[next(iter(self._asked))]
        self._asked[call_id] = tuple(action.commands)

    def _approver(self, request: ShellCommandRequest) -> Approver | None:
        """Who answers for a call: the person who approved it, or nobody of the SDK's."""
        call_id, commands = request.data.call_id, tuple(request.data.action.commands)
        asked = self._asked.pop(call_id, None)
        approved = request.ctx_wrapper.is_tool_approved(self._name, call_id) is True
        # Only an approval of the whole tool holds for a call that nobody ever made.
        always = request.ctx_wrapper.is_tool_approved(self._name, _NO_CALL) is True
        if not approved or (always and asked != commands):
            return None
        consent = Consent.ALWAYS if always else Consent.ONCE

        def answer(question: Question) -> Answer:
            yes = question.script in commands
            return Answer(consent=consent if yes else Consent.NO, by="the OpenAI Agents SDK")

        return answer


def _run(command: str, action: ShellActionRequest) -> Run:
    kept = min(max(BUDGET, action.max_output_length or 0), _MOST_CHARACTERS)
    return Run(
        script=command,
        limit=Limit(head=kept, tail=kept),
        timeout=_timeout(action.timeout_ms),
        timed=bool(action.timeout_ms),
        grace=_GRACE,
        streams=Streams.SEPARATE,
    )


def _timeout(milliseconds: int | None) -> timedelta:
    longest = _LONGEST_TIMEOUT // timedelta(milliseconds=1)
    return timedelta(milliseconds=min(milliseconds, longest)) if milliseconds else _USUAL_TIMEOUT


def _budget(action: ShellActionRequest) -> int:
    """Characters that all commands of an action may show together."""
    asked = BUDGET if action.max_output_length is None else action.max_output_length
    return min(asked, _MOST_CHARACTERS)


def _output(run: Run, result: Result, budget: int) -> ShellCommandOutput:
    """What a command said within a budget, and how it ended; nacre's words are on stderr."""
    errors = result.errors or Transcript()
    # Each stream may take what the other leaves, and half of all in any case.
    spare = max(budget // 2, budget - result.transcript.total)
    stderr = _text(errors, spare - len(words)) + words if (words := _words(run, result)) else ""
    return ShellCommandOutput(
        stdout=_text(result.transcript, budget - len(stderr)),
        stderr=stderr,
        outcome=_outcome(result.outcome),
        command=run.script,
    )
