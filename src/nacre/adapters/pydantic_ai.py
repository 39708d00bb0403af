"""nacre's tools in a Pydantic AI agent."""

import os
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Literal, cast

from nacre.adapters.pydantic_ai_workspace import NacreWorkspaceBackend
from nacre.errors import ConfigError
from nacre.model.approval import Answer, Consent, Question
from nacre.tool import Answered, Bash, Memory, ToolContext

try:
    from pydantic_ai import (
        AbstractToolset,
        ApprovalRequired,
        RunContext,
        ToolDefinition,
        ToolReturn,
    )
    from pydantic_ai.messages import ModelResponse
    from pydantic_ai.tools import AgentDepsT
    from pydantic_ai.toolsets import ToolsetTool
    from pydantic_core import from_json
except ImportError as error:
    raise ConfigError(
        f"Pydantic AI cannot be imported ({error}); pip install 'nacre[pydantic-ai]'"
    ) from error

__all__ = ("NacreToolset", "NacreWorkspaceBackend")

# Questions that are open; the oldest are forgotten.
_MOST_REMEMBERED = 1000
# What a yes is about: none of it may be another when the script runs.
_ASKED_ABOUT = ("script", "cwd", "held")
_Key = tuple[str | None, str | None]


class NacreToolset(AbstractToolset[AgentDepsT]):
    """The tools of a dialect for an agent. The host owns `tool`, and closes it.

    A reply is the tool's return value, as text, whether a script failed or not: a failing test is
    an answer, and no call that the model should make again. So is whatever is wrong with a call's
    arguments. Its metadata has `is_error` and `details`. Jobs, cursors and grants belong to the
    run's conversation.

    A call that rules leave to a person is deferred: it raises ApprovalRequired with the question as
    metadata. Approved, it runs the script that was asked about, or the one that the approver put in
    its place; a call id that comes back with another one is asked about again. `defers=False`
    leaves questions to the tool's own approver. A run that is cancelled leaves no process.
    """

    def __init__(
        self,
        tool: Bash,
        *,
        working_dir: str | os.PathLike[str] = ".",
        confinement: str | None = None,
        id: str | None = None,  # noqa: A002 (the framework's word)
        defers: bool = True,
    ) -> None:
        self._tool = tool
        self._working_dir = working_dir
        self._confinement = confinement
        self._id = id
        self._defers = defers
        # Of each question that is open, what tells it from others.
        self._asked = Memory[_Key, bytes](_MOST_REMEMBERED)

    @property
    def id(self) -> str | None:
        """What tells this toolset from others of an agent."""
        return self._id

    async def get_tools(self, ctx: RunContext[AgentDepsT]) -> dict[str, ToolsetTool[AgentDepsT]]:
        """The tools, with the dialect's descriptions and schemas."""
        return {
            (name := str(spec["name"])): ToolsetTool(
                toolset=self,
                tool_def=ToolDefinition(
                    name=name,
                    description=str(spec["description"]),
                    parameters_json_schema=cast("dict[str, Any]", spec["input_schema"]),
                ),
                max_retries=ctx.max_retries,
                args_validator=_AnyArguments(),
            )
            for spec in self._tool.specs(self._context(ctx))
        }

    async def call_tool(
        self,
        name: str,
        tool_args: dict[str, Any],
        ctx: RunContext[AgentDepsT],
        tool: ToolsetTool[AgentDepsT],
    ) -> ToolReturn[str]:
        """Carry out a call.

        Raises:
            ApprovalRequired: If a person has to be asked first.
        """
        del tool
        arguments = tool_args.text if isinstance(tool_args, _Unread) else tool_args
        context = self._context(ctx)
        if self._defers:
            question = await self._tool.question(name, arguments, context)
            if question and not self._is_approved(question, tool_args, ctx):
                self._asked.put(_key(ctx), question.fingerprint)
                raise ApprovalRequired(_told(question))
            answer = Answer(consent=_consent(ctx), by="Pydantic AI")
            asked = question.fingerprint if question else None
            context = replace(context, approver=Answered(asked, answer))
        reply = await self._tool.call(name, arguments, context)
        return ToolReturn(
            reply.text, metadata={"is_error": reply.is_error, "details": reply.details}
        )

    def _context(self, ctx: RunContext[AgentDepsT]) -> ToolContext:
        return ToolContext(
            working_dir=self._working_dir,
            conversation=ctx.conversation_id,
            confinement=self._confinement,
        )

    def _is_approved(
        self, question: Question, arguments: Mapping[str, Any], ctx: RunContext[AgentDepsT]
    ) -> bool:
        """Whether somebody said yes to this script, and not to another under the same id.

        A question that was asked by another process is known if its metadata come back.
        """
        if not ctx.tool_call_approved:
            return False
        asked = self._asked.get(_key(ctx))
        if asked is not None:
            alike = asked == question.fingerprint
        else:
            said, now = _metadata(ctx), _told(question)
            alike = all(said.get(each, now[each]) == now[each] for each in _ASKED_ABOUT)
        return alike or _is_edited(arguments, ctx)


class _AnyArguments:
    """Takes whatever a model wrote: what is wrong with it is the dialect's to say."""

    def validate_json(
        self,
        input: str | bytes | bytearray,  # noqa: A002 (the framework's word)
        *,
        allow_partial: bool | Literal["off", "on", "trailing-strings"] = False,
        **kwargs: object,
    ) -> dict[str, Any]:
        """The arguments, if they are an object of JSON."""
        del kwargs
        try:
            found: object = from_json(input, allow_partial=allow_partial)
        except ValueError:
            found = None
        if isinstance(found, dict):
            return cast("dict[str, Any]", found)
        text = input if isinstance(input, str) else input.decode("utf-8", "replace")
        return _Unread(text)

    def validate_python(
        self,
        input: dict[str, Any],  # noqa: A002 (the framework's word)
        *,
        allow_partial: bool | Literal["off", "on", "trailing-strings"] = False,
        **kwargs: object,
    ) -> dict[str, Any]:
        """The arguments as they came."""
        del allow_partial, kwargs
        return input


class _Unread(dict[str, Any]):
    """Arguments that are no object, and so none at all; `text` is what the model wrote."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.text = text


def _key(ctx: RunContext[AgentDepsT]) -> _Key:
    return ctx.conversation_id, ctx.tool_call_id


def _consent(ctx: RunContext[AgentDepsT]) -> Consent:
    return Consent.ALWAYS if _metadata(ctx).get("consent") == "always" else Consent.ONCE


def _metadata(ctx: RunContext[AgentDepsT]) -> Mapping[str, object]:
    """What came back with an approval; it is the host's, and may be anything."""
    found: object = ctx.tool_call_metadata
    return cast("Mapping[str, object]", found) if isinstance(found, Mapping) else {}


def _is_edited(arguments: Mapping[str, Any], ctx: RunContext[AgentDepsT]) -> bool:
    """Whether an approver put these arguments in the place of the model's."""
    made = [
        call.args_as_dict()
        for message in ctx.messages
        if isinstance(message, ModelResponse)
        for call in message.tool_calls
        if call.tool_call_id == ctx.tool_call_id
    ]
    return bool(made) and arguments not in made


def _told(question: Question) -> dict[str, Any]:
    verdict = question.verdict
    return {
        "script": question.script,
        "description": question.description,
        "cwd": str(question.cwd),
        "reason": verdict.reason,
        "part": verdict.part,
        "rule": verdict.rule,
        "held": question.held,
        "grants": list(question.grants),
    }
