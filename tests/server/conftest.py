"""A server with a real client before it: in this process, over stdio, over HTTP."""

import os
import subprocess
import sys
from collections.abc import AsyncGenerator, Callable, Generator, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path

import anyio
import httpx2
import pytest
from mcp import Client, StdioServerParameters
from mcp.client.session import ElicitationFnT
from mcp.client.streamable_http import streamable_http_client
from mcp.server.lowlevel import Server
from mcp.shared.memory import MessageStream, create_client_server_memory_streams

from nacre import Bash, ToolContext
from nacre.server.clients import Clients
from nacre.server.handlers import make_server

__all__ = ("MODERN", "Connect", "HttpServer", "Serve")

MODERN = "2026-07-28"
Connect = Callable[..., AbstractAsyncContextManager[Client]]
Serve = Callable[..., "HttpServer"]


@pytest.fixture
def anyio_backend() -> str:
    """The SDK's transports are tried as their users have them."""
    return "asyncio"


@pytest.fixture(params=["legacy", MODERN])
def mode(request: pytest.FixtureRequest) -> str:
    """Both eras of the protocol."""
    return str(request.param)


@pytest.fixture
def connect(workspace: Path, state: Path, mode: str) -> Connect:
    """A client in the same process as its server; settings are those of the tool."""

    @asynccontextmanager
    async def connected(
        asks: ElicitationFnT | None = None, **settings: object
    ) -> AsyncGenerator[Client]:
        tool = Bash(workspace=workspace, state=state, **settings)  # type: ignore[arg-type]
        context = ToolContext(working_dir=workspace)
        server = make_server(Clients(lambda: tool, context), tool, context)
        async with Client(_in_memory(server), mode=mode, elicitation_callback=asks) as client:
            yield client

    return connected


@asynccontextmanager
async def _in_memory(server: Server[object]) -> AsyncGenerator[MessageStream]:
    """Messages as on the wire, in both eras, without the wire."""
    async with (
        create_client_server_memory_streams() as (client, (read, write)),
        anyio.create_task_group() as tasks,
    ):
        tasks.start_soon(server.run, read, write, server.create_initialization_options())
        yield client
        tasks.cancel_scope.cancel()


@pytest.fixture
def over_stdio(workspace: Path, state: Path, mode: str) -> Connect:
    """A client with a server process of its own."""

    @asynccontextmanager
    async def connected(*words: str, asks: ElicitationFnT | None = None) -> AsyncGenerator[Client]:
        command = StdioServerParameters(
            command=sys.executable,
            args=["-m", "nacre", "mcp", "--workspace", str(workspace), *words],
            env={**os.environ, "NACRE_STATE": str(state)},
            cwd=str(workspace),
        )
        async with Client(command, mode=mode, elicitation_callback=asks) as client:
            yield client

    return connected


class HttpServer:
    """A server process that listens on loopback."""

    def __init__(self, words: tuple[str, ...], folder: Path, variables: Mapping[str, str]) -> None:
        self.workspace = folder / "workspace"
        self.workspace.mkdir(parents=True)
        self.state = folder / "state"
        self.process = subprocess.Popen(
            [sys.executable, "-m", "nacre", "mcp", "--http", "127.0.0.1:0",
             "--workspace", str(self.workspace), *words],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env={**os.environ, "NACRE_STATE": str(self.state), **variables},
        )  # fmt: skip
        assert self.process.stderr is not None
        said = self.process.stderr.readline().decode()
        assert said.startswith("nacre: listening at http://127.0.0.1:"), said
        self.url = said.split()[-1]

    @asynccontextmanager
    async def client(
        self,
        mode: str,
        *,
        asks: ElicitationFnT | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> AsyncGenerator[Client]:
        """One more client."""
        async with (
            httpx2.AsyncClient(headers=dict(headers or {}), timeout=60) as http,
            Client(
                streamable_http_client(self.url, http_client=http),
                mode=mode,
                elicitation_callback=asks,
            ) as client,
        ):
            yield client

    def end(self) -> None:
        """Tell it to end, and wait until it has."""
        self.process.terminate()
        try:
            self.process.communicate(timeout=20)
        finally:
            self.process.kill()


@pytest.fixture
def serve(tmp_path: Path) -> Generator[Serve]:
    """Start servers that end with the test."""
    started: list[HttpServer] = []

    def start(*words: str, **variables: str) -> HttpServer:
        folder = tmp_path / f"server{len(started)}"
        started.append(HttpServer(words, folder, variables))
        return started[-1]

    yield start
    for server in started:
        server.end()


@pytest.fixture(scope="module")
def http_server(tmp_path_factory: pytest.TempPathFactory) -> Generator[HttpServer]:
    """One server for all tests of a module."""
    server = HttpServer((), tmp_path_factory.mktemp("http"), {})
    yield server
    server.end()
