"""A server from its start to its end."""

from collections.abc import Callable, Sequence

import anyio

from nacre.server.clients import Clients
from nacre.server.ending import told_to_end
from nacre.server.handlers import make_server
from nacre.server.http import application, parse_address, run_application
from nacre.server.stdio import claimed
from nacre.tool import Bash, ToolContext

__all__ = ("serve_http", "serve_stdio")


async def serve_stdio(tool: Bash, context: ToolContext) -> None:
    """Serve the client at standard input and output until it leaves, or this process is to end.

    Nothing that it started is left then, but for detached jobs.
    """
    server = make_server(Clients(lambda: tool, context), tool, context)
    async with tool, claimed() as (inlet, outlet), anyio.create_task_group() as tasks:
        tasks.start_soon(_until_told_to_end, tasks.cancel_scope)
        await server.run(inlet, outlet, server.create_initialization_options())
        tasks.cancel_scope.cancel()


async def serve_http(
    make: Callable[[], Bash],
    context: ToolContext,
    where: str,
    *,
    hosts: Sequence[str],
    token: str | None,
    tell: Callable[[str], None],
) -> None:
    """Serve clients over HTTP until this process is to end.

    Raises:
        ConfigError: If it cannot listen there, or may not without a token.
    """
    address = parse_address(where)
    clients = Clients(make, context)
    async with make() as pattern:
        server = make_server(clients, pattern, context)
        app = application(server, clients, address, hosts=hosts, token=token)
        await run_application(app, address, tell)


async def _until_told_to_end(scope: anyio.CancelScope) -> None:
    async for _ in told_to_end():
        scope.cancel()
