"""The tools and resources that the suite calls by name, beside a server's own.

What each has to answer is said in the suite's own scenarios. They are handlers like ours, so
that what is tried is all that stands before a handler, and all that takes its answer away.
"""

from collections.abc import Mapping

from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.types import (
    CallToolRequestParams,
    CallToolResult,
    InputRequiredResult,
    ListResourcesResult,
    ListResourceTemplatesResult,
    ListToolsResult,
    PaginatedRequestParams,
    ReadResourceRequestParams,
    ReadResourceResult,
)

from mcp_conformance import asking, contents, telling

__all__ = ("mount",)

_Context = ServerRequestContext[object, object]
_TOOLS = {**telling.TOOLS, **asking.TOOLS}


def mount(server: Server[object]) -> None:
    """Have a server answer for the fixtures, too."""
    own = {
        method: entry.handler
        for method in (
            *("tools/list", "tools/call"),
            *("resources/list", "resources/templates/list", "resources/read"),
        )
        if (entry := server.get_request_handler(method))
    }
    known = server.get_tool_input_schema
    assert known is not None

    async def list_tools(ctx: _Context, params: PaginatedRequestParams) -> ListToolsResult:
        result = await own["tools/list"](ctx, params)
        assert isinstance(result, ListToolsResult)
        return ListToolsResult(tools=[*result.tools, *(each.tool for each in _TOOLS.values())])

    async def call_tool(
        ctx: _Context, params: CallToolRequestParams
    ) -> CallToolResult | InputRequiredResult:
        if fixture := _TOOLS.get(params.name):
            return await fixture.answer(ctx, params)
        result = await own["tools/call"](ctx, params)
        assert isinstance(result, CallToolResult | InputRequiredResult)
        return result

    async def list_resources(ctx: _Context, params: PaginatedRequestParams) -> ListResourcesResult:
        result = await own["resources/list"](ctx, params)
        assert isinstance(result, ListResourcesResult)
        return ListResourcesResult(resources=[*contents.RESOURCES, *result.resources])

    async def list_templates(
        ctx: _Context, params: PaginatedRequestParams
    ) -> ListResourceTemplatesResult:
        result = await own["resources/templates/list"](ctx, params)
        assert isinstance(result, ListResourceTemplatesResult)
        return ListResourceTemplatesResult(
            resource_templates=[*result.resource_templates, contents.TEMPLATE]
        )

    async def read_resource(ctx: _Context, params: ReadResourceRequestParams) -> ReadResourceResult:
        if found := contents.read(str(params.uri)):
            return found
        result = await own["resources/read"](ctx, params)
        assert isinstance(result, ReadResourceResult)
        return result

    def schema(name: str) -> Mapping[str, object] | None:
        fixture = _TOOLS.get(name)
        return fixture.tool.input_schema if fixture else known(name)

    server.get_tool_input_schema = schema
    server.add_request_handler("tools/list", PaginatedRequestParams, list_tools)
    server.add_request_handler("tools/call", CallToolRequestParams, call_tool)
    server.add_request_handler("resources/list", PaginatedRequestParams, list_resources)
    server.add_request_handler("resources/templates/list", PaginatedRequestParams, list_templates)
    server.add_request_handler("resources/read", ReadResourceRequestParams, read_resource)
