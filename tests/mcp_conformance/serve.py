"""Serves the fixtures behind the application of `nacre mcp --http`, until it is told to end."""

import sys
from pathlib import Path

import anyio

from mcp_conformance.fixtures import mount
from nacre import Bash, ToolContext
from nacre.server.clients import Clients
from nacre.server.handlers import make_server
from nacre.server.http import Address, application, run_application

_ANYWHERE = Address("127.0.0.1", 0)


async def main() -> None:
    """Serve as `nacre.server.serve` does, with the fixtures beside our own tools."""
    context = ToolContext(working_dir=Path.cwd())
    clients = Clients(Bash, context)
    async with Bash() as pattern:
        server = make_server(clients, pattern, context)
        mount(server)
        await run_application(application(server, clients, _ANYWHERE), _ANYWHERE, _tell)


def _tell(address: str) -> None:
    sys.stderr.write(f"listening at {address}\n")
    sys.stderr.flush()


if __name__ == "__main__":
    anyio.run(main)
