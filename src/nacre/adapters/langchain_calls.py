"""Calls of tools in a graph of LangGraph's, which may be interrupted and run again."""

import json
import os
from collections.abc import Mapping
from dataclasses import replace
from hashlib import sha256
from typing import Any, cast
from uuid import uuid4

from nacre.errors import ConfigError
from nacre.model.approval import Answer, Consent, Question
from nacre.model.reply import Reply
from nacre.model.value import dataclass
from nacre.tool import Answered, Bash, Memory, ToolContext

try:
    from langchain_core.runnables import RunnableConfig
    from langgraph.types import interrupt
except ImportError as error:
    raise ConfigError(
        f"LangChain cannot be imported ({error}); pip install 'nacre[langchain]'"
    ) from error

__all__ = ("Call", "Calls")

# Tasks whose question or replies are remembered; the oldest are forgotten.
_MOST_REMEMBERED = 200
# Of calls, it is remembered for longer that they were made.
_MOST_RUN = 20_000
# Where LangGraph keeps what saves a run, None if nothing does: without it no run goes on
# after an interrupt. There is no public name for it.
_CHECKPOINTER = "__pregel_checkpointer"
_SENT = "__pregel_push"
_ONE_AT_A_TIME = "One question is asked at a time; make this call again, by itself."
_WHOSE_ANSWER = "It is not certain that the answer was about this script; make the call again."
_CUT_SHORT = Reply(
    text="[stopped: this call was made before, and the graph was interrupted by another one"
    " before it had ended; see what it has done before you make it again]",
    is_error=True,
    details={"outcome": "stopped"},
)
_FORGOTTEN = Reply(
    text="[stopped: this call was made before, and what it said is not known any more;"
    " see what it has done before you make it again]",
    is_error=True,
    details={"outcome": "stopped"},
)
_WORDS = {"once": Consent.ONCE, "always": Consent.ALWAYS, "no": Consent.NO}
_ANSWERS = {
    "anyOf": [
        {"enum": list(_WORDS)},
        {
            "type": "object",
            "properties": {
                "type": {"enum": ["approve", "reject"]},
                "message": {"type": "string"},
                "tool_call_id": {"type": "string"},
            },
            "required": ["type"],
        },
    ]
}


@dataclass(frozen=True, slots=True)
class Call:
    """What a model asked for, and the run of the graph in which it did."""

    tool: str
    arguments: dict[str, Any]
    id: str | None
    config: RunnableConfig

    @property
    def thread(self) -> str | None:
        """What LangGraph calls a conversation; None if the run names none."""
        found: object = self._configurable.get("thread_id")
        return None if found is None else str(found)

    @property
    def resumable(self) -> bool:
        """Whether the graph can go on where it was interrupted."""
        return self._configurable.get(_CHECKPOINTER) is not None

    @property
    def alone(self) -> bool:
        """Whether it has a task of the graph to itself, as every call of an agent has.

        The calls of a ToolNode that one wires up oneself share a task.
        """
        path = self.config.get("metadata", {}).get("langgraph_path") or ("",)
        return path[0] == _SENT

    @property
    def task(self) -> tuple[str | None, str]:
        """Which task of the graph it is made in: the same when that is run again."""
        return self.thread, str(self._configurable.get("checkpoint_ns"))

    @property
    def key(self) -> tuple[object, ...]:
        """Which call it is, among all of the host's."""
        return self.task, self.id, self.tool, json.dumps(self.arguments, default=repr)

    @property
    def _configurable(self) -> Mapping[str, Any]:
        return self.config.get("configurable", {})


class Calls:
    """Makes the calls of some tools, and remembers what a task that is run again must know.

    LangGraph runs a task from its start when an interrupt is answered. What ran in it before
    then is not run again. It hands out answers in the order in which they are asked for, so a
    task asks one question, and an answer counts only if it is certain which one that was.
    """

    def __init__(
        self,
        tool: Bash,
        working_dir: str | os.PathLike[str],
        confinement: str | None,
        *,
        interrupts: bool,
    ) -> None:
        self._tool = tool
        self._working_dir = working_dir
        self._confinement = confinement
        self._interrupts = interrupts
        self._own_conversation = f"langchain {uuid4()}"
        self._asked = Memory[object, tuple[object, ...]](_MOST_REMEMBERED)
        self._done = Memory[object, Reply](_MOST_REMEMBERED)
        self._ran = Memory[bytes, Reply](_MOST_RUN)

    def context(self, thread: str | None) -> ToolContext:
        """What a tool is given with a call of this thread."""
        return ToolContext(
            working_dir=self._working_dir,
            conversation=thread or self._own_conversation,
            confinement=self._confinement,
        )

    async def make(self, call: Call) -> Reply:
        """Carry out a call, after asking about it if that has to be."""
        if not call.resumable:
            return await self._tool.call(call.tool, call.arguments, self.context(call.thread))
        if done := self._done.get(call.key) or self._ran.get(_digest(call)):
            return done
        context = self.context(call.thread)
        if self._interrupts:
            question = await self._tool.question(call.tool, call.arguments, context)
            if question:
                answer = self._answer(question, call)
                context = replace(context, approver=Answered(question.fingerprint, answer))
        return await self._carry_out(call, context)

    async def _carry_out(self, call: Call, context: ToolContext) -> Reply:
        if call.alone:
            return await self._tool.call(call.tool, call.arguments, context)
        self._done.put(call.key, _CUT_SHORT)
        self._ran.put(_digest(call), _FORGOTTEN)
        try:
            reply = await self._tool.call(call.tool, call.arguments, context)
        except Exception:
            self._done.pop(call.key)
            self._ran.pop(_digest(call))
            raise
        self._done.put(call.key, reply)
        return reply

    def _answer(self, question: Question, call: Call) -> Answer:
        """What a person says; the first time, the graph is interrupted here."""
        asks = (call.key, question.script, question.cwd)
        was_asked = self._asked.get(call.task) == asks
        if self._asked.claim(call.task, asks) != asks:
            return Answer(consent=Consent.UNANSWERED, said=_ONE_AT_A_TIME)
        said: object = interrupt(_told(question, call), response_schema=_ANSWERS)
        # Nobody else who is asked in this task would be answered in just these words.
        is_ours = call.alone or (was_asked and isinstance(said, str) and said in _WORDS)
        if not _is_about(call, said, otherwise=is_ours):
            return Answer(consent=Consent.UNANSWERED, said=_WHOSE_ANSWER)
        return _answer_of(said)


def _digest(call: Call) -> bytes:
    return sha256(repr(call.key).encode("utf-8", "backslashreplace")).digest()


def _is_about(call: Call, said: object, *, otherwise: bool) -> bool:
    """Whether an answer is to the question about a call, if it says which one it is to."""
    named = (
        cast("Mapping[str, object]", said).get("tool_call_id")
        if isinstance(said, Mapping)
        else None
    )
    return otherwise if named is None else named == call.id


def _answer_of(said: object) -> Answer:
    """An answer, in words or as LangChain's reviews of tool calls have it; anything else is a no."""
    match said:
        case True:
            consent, words = Consent.ONCE, ""
        case str(word) if word in _WORDS:
            consent, words = _WORDS[word], ""
        case {"type": "approve"}:
            consent, words = Consent.ONCE, ""
        case {"type": "reject", "message": str(words)}:
            consent = Consent.NO
        case _:
            consent, words = Consent.NO, ""
    return Answer(consent=consent, said=words, by="LangGraph")


def _told(question: Question, call: Call) -> dict[str, Any]:
    """What the one who is asked gets to see, as LangChain's own middleware would tell it."""
    verdict = question.verdict
    return {
        "type": "tool_approval",
        "tool_call_id": call.id,
        "name": call.tool,
        "args": call.arguments,
        "description": verdict.reason,
        "script": question.script,
        "cwd": str(question.cwd),
        "part": verdict.part,
        "rule": verdict.rule,
        "held": question.held,
        "grants": list(question.grants),
    }
