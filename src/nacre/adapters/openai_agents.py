"""nacre behind the shell tool of the OpenAI Agents SDK."""

import os
from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from typing import cast
from uuid import uuid4

from nacre.dialects.nacre.kept import BUDGET
from nacre.dialects.nacre.replies import reply_to_run
from nacre.errors import ConfigError, NacreError
from nacre.model.approval import Answer, Consent, Question
from nacre.model.call import Run, Streams
from nacre.model.outcome import (
    Denied,
    Exited,
    Lost,
    Outcome,
    Running,
    Signaled,
    Stopped,
    TimedOut,
    Unstarted,
)
from nacre.model.result import Result
from nacre.model.transcript import Limit, Transcript
from nacre.render.output import shown
from nacre.tool import Approver, Bash, Memory, ToolContext

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
_USUAL_SECONDS = 120.0
# The most that a model may name, unless the host gives more to a command in any case.
_MOST_SECONDS = 600.0
_LONGEST_SECONDS = 10.0 * 365 * 24 * 3600
_GRACE = timedelta(seconds=1)
_MOST_CHARACTERS = 1 << 20
# The line that says what was left out of an output.
_NOTICE_CHARACTERS = 160
# Calls that a person was asked about; the oldest are forgotten.
_MOST_REMEMBERED = 1000


def shell_tool(
    tool: Bash,
    *,
    name: str = "shell",
    working_dir: str | os.PathLike[str] = ".",
    conversation: str | None = None,
    timeout: float = _USUAL_SECONDS,
    on_approval: ShellOnApprovalFunction | None = None,
) -> ShellTool:
    """The SDK's shell tool, with its commands checked, confined and run by `tool`.

    The run is interrupted when nacre's rules leave one of a call's commands to a person. The
    host owns `tool`, and closes it. `timeout` is the time in seconds that a command gets when the
    model names none, `math.inf` for no limit. `on_approval` is the SDK's own: it may answer at once.
    """
    executor = ShellExecutor(
        tool, name=name, working_dir=working_dir, conversation=conversation, timeout=timeout
    )
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
        timeout: float = _USUAL_SECONDS,
    ) -> None:
        if not timeout > 0:
            raise ConfigError(f"timeout={timeout!r} is not a positive number of seconds")
        self._tool = tool
        self._name = name
        self._timeout = min(timeout, _LONGEST_SECONDS)
        self._context = ToolContext(
            working_dir=working_dir, conversation=conversation or f"openai-agents {uuid4()}"
        )
        self._asked = Memory[str, tuple[str, ...]](_MOST_REMEMBERED)

    async def needs_approval(
        self, context: RunContextWrapper[object], action: ShellActionRequest, call_id: str
    ) -> bool:
        """Whether a person must be asked about one of an action's commands; nothing runs."""
        del context
        if not await self.questions(action.commands):
            return False
        self._asked.put(call_id, tuple(action.commands))
        return True

    async def questions(self, commands: Sequence[str]) -> tuple[Question, ...]:
        """What a person has to be asked about commands, for whoever shows it to them."""
        found = [
            await self._tool.question_about(self._run(each, None), self._context)
            for each in commands
        ]
        return tuple(question for question in found if question)

    async def __call__(self, request: ShellCommandRequest) -> ShellResult:
        """Run an action's commands, one after another, until one runs out of time."""
        action = request.data.action
        context = replace(self._context, approver=self._approver(request))
        budget = _budget(action)
        output: list[ShellCommandOutput] = []
        for command in action.commands:
            run = self._run(command, action)
            result = await self._result(run, context)
            is_last = isinstance(result.outcome, TimedOut | Stopped)
            if is_last and (rest := len(action.commands) - len(output) - 1):
                told = f"commands after it that were not run: {rest}"
                result = replace(result, notices=(*result.notices, told))
            output.append(_output(run, result, budget))
            budget -= len(output[-1].stdout) + len(output[-1].stderr)
            if is_last:
                break
        return ShellResult(output=output)

    async def _result(self, run: Run, context: ToolContext) -> Result:
        try:
            return cast("Result", await self._tool.carry_out(run, context))
        except NacreError as error:  # what came of the commands before it is still to be told
            return Result(outcome=Unstarted(str(error)))

    def _approver(self, request: ShellCommandRequest) -> Approver | None:
        """Who answers for a call: the person who approved it, or nobody of the SDK's."""
        call_id, commands = request.data.call_id, tuple(request.data.action.commands)
        asked = self._asked.pop(call_id)
        approved = request.ctx_wrapper.is_tool_approved(self._name, call_id) is True
        # Only an approval of the whole tool holds for a call that nobody ever made.
        always = request.ctx_wrapper.is_tool_approved(self._name, f"none {uuid4()}") is True
        # Who was asked by another process has approved this call, if it is not the whole tool.
        meant = asked == commands or (asked is None and not always)
        if not approved or not meant:
            return None
        consent = Consent.ALWAYS if always else Consent.ONCE
        answer = Answer(consent=consent, by="the OpenAI Agents SDK")
        return lambda _: answer

    def _run(self, command: str, action: ShellActionRequest | None) -> Run:
        named = (action and action.timeout_ms) or 0
        most = max(_MOST_SECONDS, self._timeout)
        seconds = min(named, int(most * 1000)) / 1000 if named > 0 else self._timeout
        kept = min(max(BUDGET, (action and action.max_output_length) or 0), _MOST_CHARACTERS)
        return Run(
            script=command,
            limit=Limit(head=kept, tail=kept),
            timeout=timedelta(seconds=seconds),
            timed=named > 0,
            grace=_GRACE,
            streams=Streams.SEPARATE,
        )


def _budget(action: ShellActionRequest) -> int:
    """Characters that all commands of an action may show together."""
    asked = BUDGET if action.max_output_length is None else action.max_output_length
    return max(0, min(asked, _MOST_CHARACTERS))


def _output(run: Run, result: Result, budget: int) -> ShellCommandOutput:
    """What a command said within a budget, and how it ended; nacre's own words end its stderr."""
    errors, words = result.errors or Transcript(), _words(run, result)[:budget]
    left = max(0, budget - len(words) - 1) if words else budget
    stdout = _text(result.transcript, left)
    # Each stream may take what the other leaves, and half of all in any case.
    stderr = _text(errors, max(left // 2, left - len(stdout)))
    if len(stdout) + len(stderr) > left:
        stdout = _text(result.transcript, left - len(stderr))
    border = "\n" if words and stderr and not stderr.endswith("\n") else ""
    return ShellCommandOutput(
        stdout=stdout,
        stderr=f"{stderr}{border}{words}",
        outcome=_outcome(result.outcome),
        command=run.script,
    )


def _text(said: Transcript, budget: int) -> str:
    """A stream as a model reads it, with what is said about its cut, within a budget."""
    end = "\n" if (said.tail or said.head).endswith(b"\n") else ""
    text = shown(said, budget).text + end
    if len(text) > budget:
        text = shown(said, budget - _NOTICE_CHARACTERS).text + end
    return text[: max(0, budget)]


def _words(run: Run, result: Result) -> str:
    """What nacre has to say of a run, in its own sentences; the exit code is told apart."""
    if not isinstance(result.outcome, Exited):
        return f"{reply_to_run(run, replace(result, transcript=Transcript())).text}\n"
    if not result.notices and not result.violations:
        return ""
    ended = replace(result, transcript=Transcript(), outcome=Exited(0))
    return f"{reply_to_run(run, ended).text}\n"


def _outcome(outcome: Outcome) -> ShellCallOutcome:
    match outcome:
        case Exited(code):
            return ShellCallOutcome(type="exit", exit_code=code)
        case Signaled(number):
            return ShellCallOutcome(type="exit", exit_code=_SIGNALED + number)
        case TimedOut():
            return ShellCallOutcome(type="timeout")
        case Denied():
            return ShellCallOutcome(type="exit", exit_code=_DENIED)
        case Unstarted() | Stopped() | Running() | Lost():
            return ShellCallOutcome(type="exit", exit_code=_OWN_ERROR)
