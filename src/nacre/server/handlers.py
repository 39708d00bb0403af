"""What the server answers: a dialect's tools, and what their jobs say."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import replace
from importlib.metadata import version
from secrets import token_bytes
from typing import cast

import anyio
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.server.request_state import RequestStateBoundary, RequestStateSecurity
from mcp.shared.exceptions import MCPError
from mcp.types import (
    CONNECTION_CLOSED,
    INTERNAL_ERROR,
    INVALID_PARAMS,
    CallToolRequestParams,
    CallToolResult,
    InputRequiredResult,
    ListResourcesResult,
    ListResourceTemplatesResult,
    ListToolsResult,
    PaginatedRequestParams,
    ReadResourceRequestParams,
    ReadResourceResult,
    Tool,
)
from mcp.types.version import MODERN_PROTOCOL_VERSIONS
from starlette.requests import Request

from nacre.errors import CallError, JobNotFoundError
from nacre.server.beside import beside
from nacre.server.clients import (
    NAME_HEADER,
    SOLE,
    Client,
    Clients,
    TooManyClientsError,
    key_of_name,
)
from nacre.server.elicitation import Asker, OpenQuestions, can_ask, can_show
from nacre.server.heartbeat import heartbeat
from nacre.server.resources import TEMPLATES, contents_of, range_of, resource_of
from nacre.server.tools import result_of, tool_of
from nacre.tool import Approver, Bash, ToolContext

__all__ = ("GONE", "SESSION_HEADER", "make_server")

SESSION_HEADER = "mcp-session-id"
GONE = "nacre.gone"
"""In the scope of an HTTP request: an event that is set when its client has hung up."""

_NAME = "nacre"
_INSTRUCTIONS = (
    "Bash scripts are read before they run, and held in a sandbox while they do. A refusal says"
    " why, and what to do instead; it is not a failing command. A job's whole output is a resource."
)
# How long a question may wait for its answer, in the era in which the call is made again.
_ANSWER_SECONDS = 24 * 3600.0
_RESOURCE_NOT_FOUND = -32002

_Context = ServerRequestContext[object, object]


def make_server(clients: Clients, bash: Bash, context: ToolContext) -> Server[object]:
    """A server of one dialect's tools; `bash` says which they are, and runs nothing."""
    handlers = _Handlers(clients, [tool_of(spec) for spec in bash.specs(context)])

    @asynccontextmanager
    async def lifespan(_: Server[object]) -> AsyncGenerator[object]:
        async with clients.open():
            yield clients

    server: Server[object] = Server(
        _NAME,
        version=version("nacre"),
        title="nacre",
        instructions=_INSTRUCTIONS,
        lifespan=lifespan,
        get_tool_input_schema=handlers.schema,
        on_list_tools=handlers.list_tools,
        on_call_tool=handlers.call_tool,
        on_list_resources=handlers.list_resources,
        on_list_resource_templates=handlers.list_templates,
        on_read_resource=handlers.read_resource,
    )
    # The key lives as long as the questions that are open: in this process.
    sealed = RequestStateSecurity(
        keys=[token_bytes(32)], ttl=_ANSWER_SECONDS, bind_principal=_principal
    )
    server.middleware.append(RequestStateBoundary(sealed, default_audience=_NAME))
    return server


class _Handlers:
    def __init__(self, clients: Clients, tools: list[Tool]) -> None:
        self._clients = clients
        self._tools = {tool.name: tool for tool in tools}
        self._questions = OpenQuestions()

    def schema(self, name: str) -> dict[str, object] | None:
        """What a tool takes; None if there is none of that name."""
        tool = self._tools.get(name)
        return tool.input_schema if tool else None

    async def list_tools(
        self, ctx: _Context, params: PaginatedRequestParams | None
    ) -> ListToolsResult:
        del ctx, params
        return ListToolsResult(tools=[*self._tools.values()])

    async def call_tool(
        self, ctx: _Context, params: CallToolRequestParams
    ) -> CallToolResult | InputRequiredResult:
        """Carry out a call; one whose client has hung up is given up."""
        if params.name not in self._tools:
            names = ", ".join(self._tools)
            raise MCPError(
                code=INVALID_PARAMS,
                message=f"Unknown tool: {params.name!r:.60}; there are: {names}",
            )
        arguments = params.arguments or {}
        async with _while_there(ctx), self._visit(ctx, *arguments.values()) as client:
            approver = await self._approver(ctx, params, client)
            if isinstance(approver, InputRequiredResult):
                return approver
            said = _Count()
            async with heartbeat(ctx, said.bytes):
                reply = await client.bash.call(
                    params.name,
                    arguments,
                    replace(client.context, approver=approver),
                    on_output=said.add,
                )
        return result_of(reply)

    async def list_resources(
        self, ctx: _Context, params: PaginatedRequestParams | None
    ) -> ListResourcesResult:
        del params
        if _key(ctx) is None:
            return ListResourcesResult(resources=[])
        async with self._visit(ctx) as client:
            found = await client.bash.jobs(client.context)
        return ListResourcesResult(resources=[resource_of(job) for job in found.jobs])

    async def list_templates(
        self, ctx: _Context, params: PaginatedRequestParams | None
    ) -> ListResourceTemplatesResult:
        del ctx, params
        return ListResourceTemplatesResult(resource_templates=TEMPLATES)

    async def read_resource(
        self, ctx: _Context, params: ReadResourceRequestParams
    ) -> ReadResourceResult:
        uri = str(params.uri)
        wanted = range_of(uri)
        try:
            async with self._visit(ctx, wanted.job_id) as client:
                found = await client.bash.job_output(
                    wanted.job_id,
                    client.context,
                    stream=wanted.stream,
                    start=wanted.start,
                    most=wanted.length,
                )
        except JobNotFoundError as error:
            code = INVALID_PARAMS if _is_modern(ctx) else _RESOURCE_NOT_FOUND
            raise MCPError(code=code, message=str(error), data={"uri": uri[:200]}) from None
        return contents_of(uri, found)

    async def _approver(
        self, ctx: _Context, params: CallToolRequestParams, client: Client
    ) -> Approver | InputRequiredResult:
        """Who answers for a call, or the question to be answered before it is made again."""
        if not _is_modern(ctx) or not can_ask(ctx.session):
            return Asker(ctx, lasts=client.lasts)
        key = _key(ctx)
        answered = self._questions.answered(params.request_state, params.input_responses, key)
        question = await client.bash.question(params.name, params.arguments or {}, client.context)
        is_open = question is not None and (answered is None or not answered.covers(question))
        if question is not None and is_open and can_show(question):
            return self._questions.ask(question, key, lasts=client.lasts)
        return answered or Asker(ctx, lasts=client.lasts)

    @asynccontextmanager
    async def _visit(self, ctx: _Context, *words: object) -> AsyncGenerator[Client]:
        try:
            async with self._clients.visit(_key(ctx), words) as client:
                yield client
        except CallError as error:
            raise MCPError(code=INVALID_PARAMS, message=str(error)) from None
        except TooManyClientsError as error:
            raise MCPError(code=INTERNAL_ERROR, message=str(error)) from None


class _Count:
    """How much a script has said so far."""

    def __init__(self) -> None:
        self._bytes = 0

    def add(self, data: bytes) -> None:
        self._bytes += len(data)

    def bytes(self) -> int:
        return self._bytes


def _key(ctx: _Context) -> str | None:
    """Which client it is; None if it cannot be told from others."""
    request = _request(ctx)
    if request is None:
        return SOLE
    headers = request.headers
    if not _is_modern(ctx) and (session := headers.get(SESSION_HEADER)):
        return f"session {session}"
    name = headers.get(NAME_HEADER)
    return None if name is None else key_of_name(name)


def _request(ctx: _Context) -> Request | None:
    """The HTTP request that brought a message; None over stdio."""
    found = cast("Request | None", ctx.request)
    return found if isinstance(found, Request) else None


def _principal(ctx: _Context) -> str | None:
    try:
        return _key(ctx)
    except CallError:
        return None  # refused anyway, when it is answered


def _is_modern(ctx: _Context) -> bool:
    return ctx.protocol_version in MODERN_PROTOCOL_VERSIONS


@asynccontextmanager
async def _while_there(ctx: _Context) -> AsyncGenerator[None]:
    """Give a call up when the client of its HTTP request hangs up.

    The result could not be told to anybody: nothing is kept for those who come back.
    """
    request = _request(ctx)
    gone: object = request.scope.get(GONE) if request else None
    if not isinstance(gone, anyio.Event):
        yield
        return

    async def give_up() -> None:
        await gone.wait()
        scope.cancel()

    with anyio.CancelScope() as scope:
        async with beside(give_up):
            yield
    if gone.is_set():
        raise MCPError(code=CONNECTION_CLOSED, message="the client has hung up")
