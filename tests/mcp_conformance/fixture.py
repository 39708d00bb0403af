"""One tool that the suite calls."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass

from mcp.server.context import ServerRequestContext
from mcp.types import (
    CallToolRequestParams,
    CallToolResult,
    InputRequiredResult,
    TextContent,
    Tool,
)

__all__ = ("Answer", "Context", "Fixture", "named", "said")

Context = ServerRequestContext[object, object]
Answer = Callable[[Context, CallToolRequestParams], Awaitable[CallToolResult | InputRequiredResult]]


@dataclass(frozen=True, slots=True)
class Fixture:
    """A tool, and what answers for it."""

    tool: Tool
    answer: Answer


def named(
    name: str, answer: Answer, schema: Mapping[str, object] | None = None
) -> tuple[str, Fixture]:
    """A fixture under its name; without a schema it takes nothing."""
    tool = Tool(
        name=name,
        description="A tool of the conformance suite.",
        input_schema=dict(schema or {"type": "object", "properties": {}}),
    )
    return name, Fixture(tool, answer)


def said(text: str, *, is_error: bool = False) -> CallToolResult:
    """A result of one text."""
    return CallToolResult(content=[TextContent(text=text)], is_error=is_error)
