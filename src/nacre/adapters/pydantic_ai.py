"""nacre's tools in a Pydantic AI agent."""

import os
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, cast

from nacre.adapters.pydantic_ai_workspace import NacreWorkspaceBackend
from nacre.errors import ConfigError
from nacre.model.approval import Consent, Question
from nacre.tool import Bash, ToolContext

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
    from pydantic_core import SchemaValidator, core_schema
except ImportError as error:
    raise ConfigError(
        f"Pydantic AI cannot be imported ({error}); pip install 'nacre[pydantic-ai]'"
    ) from error

__all__ = ("NacreToolset", "NacreWorkspaceBackend")

# Scripts that a person was asked about; the oldest are forgotten.
_MOST_REMEMBERED = 1000
_AN_OBJECT = SchemaValidator(core_schema.dict_schema(core_schema.str_schema()))


class NacreToolset(AbstractToolset[AgentDepsT]):
    """The tools of a dialect for an agent. The host owns `tool`, and closes it.

    A reply is the tool's return value, as text, whether a script failed or not: a failing test is
    an answer, and no call that the model should make again. Its metadata has `is_error` and
    `details`. Jobs and cursors belong to the run's conversation.

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
        self._asked: dict[tuple[str | None, str | None], Mapping[str, object]] = {}

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
                args_validator=_AN_OBJECT,  # what is in it is the dialect's to answer
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
        context = self._context(ctx)
        if self._defers:
            question = await self._tool.question(name, tool_args, context)
            if question and not self._is_approved(question, tool_args, ctx):
                raise ApprovalRequired(self._remember(question, ctx))
            context = replace(context, approver=_Approved(question, _consent(ctx)))
        reply = await self._tool.call(name, tool_args, context)
        return ToolReturn(
            reply.text, metadata={"is_error": reply.is_error, "details": reply.details}
        )

    def _context(self, ctx: RunContext[AgentDepsT]) -> ToolContext:
        return ToolContext(
            working_dir=self._working_dir,
            conversation=ctx.conversation_id,
            confinement=self._confinement,
        )

    def _remember(self, question: Question, ctx: RunContext[AgentDepsT]) -> dict[str, Any]:
        """Keep what is asked about a call, and return it for whoever is asked."""
        told = _told(question)
        self._asked[ctx.conversation_id, ctx.tool_call_id] = told
        while len(self._asked) > _MOST_REMEMBERED:
            del self._asked[next(iter(self._asked))]
        return told

    def _is_approved(
        self, question: Question, arguments: Mapping[str, Any], ctx: RunContext[AgentDepsT]
    ) -> bool:
        """Whether somebody said yes to this script, and not to another under the same id.

        A question that was asked by another process is known if its metadata come back.
        """
        if not ctx.tool_call_approved:
            return False
        asked = self._asked.get((ctx.conversation_id, ctx.tool_call_id)) or _metadata(ctx)
        now = _told(question)
        alike = all(asked.get(key, now[key]) == now[key] for key in ("script", "cwd"))
        return alike or _is_edited(arguments, ctx)


class _Approved:
    """Answers for the person who was asked about one script; about any other, nobody was."""

    def __init__(self, question: Question | None, consent: Consent) -> None:
        self._question = question
        self._consent = consent

    def __call__(self, question: Question) -> Consent:
        asked = self._question
        if asked and (asked.script, asked.cwd) == (question.script, question.cwd):
            return self._consent
        return Consent.UNANSWERED


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
