"""nacre's tools in a LangChain agent."""

import json
import os
from typing import Any, Literal, cast

from anyio.from_thread import start_blocking_portal

from nacre.adapters.langchain_calls import Call, Calls
from nacre.adapters.langchain_policy import NacreExecutionPolicy
from nacre.errors import ConfigError
from nacre.tool import Bash

try:
    from langchain_core.messages import ToolMessage
    from langchain_core.runnables import RunnableConfig
    from langchain_core.tools import BaseTool
    from pydantic import PrivateAttr
except ImportError as error:
    raise ConfigError(
        f"LangChain cannot be imported ({error}); pip install 'nacre[langchain]'"
    ) from error

__all__ = ("NacreExecutionPolicy", "NacreTool", "nacre_tools")


def nacre_tools(
    tool: Bash,
    *,
    working_dir: str | os.PathLike[str] = ".",
    confinement: str | None = None,
    interrupts: bool = True,
) -> list[BaseTool]:
    """The tools of a dialect, for an agent or a graph. The host owns `tool`, and closes it.

    A call that rules leave to a person interrupts the graph, if that can be resumed:
    `Command(resume=...)` with "once", "always" or "no" goes on. Without a checkpointer, or with
    `interrupts=False`, questions are for the tool's own approver. Jobs, cursors and grants
    belong to the thread of the run; runs that name none share those of this list.
    """
    calls = Calls(tool, working_dir, confinement, interrupts=interrupts)
    found: list[BaseTool] = []
    for spec in tool.specs(calls.context(None)):
        each = NacreTool(
            name=str(spec["name"]),
            description=str(spec["description"]),
            args_schema=cast("dict[str, Any]", spec["input_schema"]),
        )
        each.join(calls)
        found.append(each)
    return found


class NacreTool(BaseTool):
    """One tool of a dialect; `nacre_tools` makes them.

    The message's content is the reply's text, its artifact has `is_error` and `details`, and its
    status is "error" where the reply is one. A run that is cancelled leaves no process.
    """

    response_format: Literal["content", "content_and_artifact"] = "content_and_artifact"
    _calls: Calls = PrivateAttr()

    def join(self, calls: Calls) -> None:
        """Give it what its calls have in common with those of its siblings."""
        self._calls = calls

    def _to_args_and_kwargs(
        self, tool_input: str | dict[str, Any], tool_call_id: str | None
    ) -> tuple[tuple[()], dict[str, Any]]:
        """Hand on what the model sent as one value: its keys could be words of Python's."""
        arguments = self._parse_input(tool_input, tool_call_id)
        return (), {"arguments": arguments, "call_id": tool_call_id}

    def _run(
        self, arguments: dict[str, Any], call_id: str | None, config: RunnableConfig
    ) -> tuple[str | ToolMessage, dict[str, Any]]:
        # On a thread of its own: this one may be that of an event loop.
        with start_blocking_portal() as portal:
            made: tuple[str | ToolMessage, dict[str, Any]] = portal.call(
                self._arun, arguments, call_id, config
            )
        return made

    async def _arun(
        self, arguments: dict[str, Any], call_id: str | None, config: RunnableConfig
    ) -> tuple[str | ToolMessage, dict[str, Any]]:
        reply = await self._calls.make(Call(self.name, arguments, call_id, config))
        # As plain as what a checkpointer gives back.
        details: object = json.loads(json.dumps(reply.details))
        artifact = {"is_error": reply.is_error, "details": details}
        if call_id is None:
            return reply.text, artifact
        return (
            ToolMessage(
                reply.text,
                name=self.name,
                tool_call_id=call_id,
                status="error" if reply.is_error else "success",
                artifact=artifact,
            ),
            artifact,
        )
