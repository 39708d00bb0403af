# pyright: basic, reportMissingImports=false
"""langchain: the tool of its shell middleware, with the policy that it has by default; a shell kept open."""

import os
from time import perf_counter
from typing import Any

from wire import Wire


def main() -> None:
    """Answer until the input ends."""
    wire = Wire()
    from langchain.agents.middleware import ShellToolMiddleware
    from langchain.tools import ToolRuntime

    middleware = ShellToolMiddleware(workspace_root=os.getcwd())
    state: Any = {"messages": []}
    agent: Any = None  # there is none, and none is looked at
    state.update(middleware.before_agent(state, agent) or {})
    runtime = ToolRuntime(
        state=state,
        context=None,
        config={},
        stream_writer=lambda _: None,
        tool_call_id="bench",
        store=None,
    )
    (shell,) = middleware.tools
    wire.ready("langchain")
    for script in wire:
        began = perf_counter()
        said = shell.invoke({"command": script, "runtime": runtime})
        wire.answer(perf_counter() - began, said.content)
    middleware.after_agent(state, agent)


main()
