"""The protocol over HTTP: an address to listen at, and the application behind it."""

import resource
import socket
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

import anyio
from mcp.server.lowlevel import Server
from mcp.server.transport_security import TransportSecuritySettings

from nacre.errors import ConfigError
from nacre.model.value import dataclass
from nacre.server.clients import IDLE_SECONDS, MOST_CLIENTS, Clients
from nacre.server.ending import told_to_end
from nacre.server.gate import Gate, is_host_name, is_loopback
from nacre.server.stdio import MOST_BYTES

if TYPE_CHECKING:
    import uvicorn
    from starlette.types import ASGIApp

__all__ = ("Address", "application", "parse_address", "run_application")

PATH = "/mcp"
_MOST_PORT = 65_535
_SHORTEST_TOKEN = 16
# One more is answered with 503.
_MOST_REQUESTS = 1_024
_MOST_FILES = 16_384
# Open streams would be waited for without an end.
_GOODBYE_SECONDS = 2


@dataclass(frozen=True, slots=True)
class Address:
    """Where to listen."""

    host: str
    port: int

    def __str__(self) -> str:
        """As in an address of the web."""
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"


def parse_address(text: str) -> Address:
    """An address from HOST:PORT.

    Raises:
        ConfigError: If it is none.
    """
    host, colon, port = text.rpartition(":")
    if host.startswith("[") and host.endswith("]"):
        host = host[1:-1]
    elif not is_host_name(host):
        host = ""
    if not colon or not host or not port.isdecimal() or int(port) > _MOST_PORT:
        raise ConfigError(f"--http {text!r} is no HOST:PORT; use 127.0.0.1:8000, or [::1]:8000")
    return Address(host, int(port))


def application(
    server: Server[object],
    clients: Clients,
    address: Address,
    *,
    hosts: Sequence[str] = (),
    token: str | None = None,
) -> "ASGIApp":
    """The server behind its gate.

    Raises:
        ConfigError: If others than this machine could come in without a token.
    """
    for name in hosts:
        if not is_host_name(name):
            raise ConfigError(
                f"--allow-host {name!r} is no name of a host; leave out scheme and port"
            )
    if token is None and not is_loopback(address.host):
        raise ConfigError(
            f"{address.host!r} can be reached from other machines, so a token is needed:"
            " give --token-file FILE, or set NACRE_MCP_TOKEN"
        )
    if token is not None and len(token) < _SHORTEST_TOKEN:
        raise ConfigError(
            f"the token has {len(token)} characters, which others could guess;"
            f" use {_SHORTEST_TOKEN} random ones or more"
        )
    app = server.streamable_http_app(
        streamable_http_path=PATH,
        max_request_body_size=MOST_BYTES,
        session_idle_timeout=IDLE_SECONDS,
        max_sessions=MOST_CLIENTS,
        # The gate has looked at these already, and more closely.
        transport_security=TransportSecuritySettings(enable_dns_rebinding_protection=False),
    )
    own = f"[{address.host}]" if ":" in address.host else address.host
    return Gate(app, clients, hosts=(own, *hosts), token=token)


async def run_application(app: "ASGIApp", address: Address, tell: Callable[[str], None]) -> None:
    """Serve until this process is told to end; `tell` is given the address once it listens.

    Raises:
        ConfigError: If it cannot listen there.
    """
    import uvicorn

    class Quiet(uvicorn.Server):
        """Leaves signals to others: its own way is to die of them, once everything is closed."""

        @contextmanager
        def capture_signals(self) -> Generator[None]:
            yield

    config = uvicorn.Config(
        app,
        log_level="warning",
        access_log=False,
        server_header=False,
        timeout_graceful_shutdown=_GOODBYE_SECONDS,
        limit_concurrency=_MOST_REQUESTS,
        ws="none",
    )
    server = Quiet(config)
    _allow_many_files()
    listener = _listening(address)
    with listener:
        bound = Address(address.host, int(listener.getsockname()[1]))
        tell(f"http://{bound}{PATH}")
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(_end_when_told, server)
            await server.serve(sockets=[listener])
            tasks.cancel_scope.cancel()


async def _end_when_told(server: "uvicorn.Server") -> None:
    """The first signal asks for an orderly end, a second one for any."""
    async for _ in told_to_end():
        server.force_exit = server.should_exit
        server.should_exit = True


def _allow_many_files() -> None:
    """Each client takes a dozen descriptors; the usual limit is meant for one who uses select."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = _MOST_FILES if hard == resource.RLIM_INFINITY else min(hard, _MOST_FILES)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))


def _listening(address: Address) -> socket.socket:
    try:
        found = socket.getaddrinfo(
            address.host, address.port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )
        return socket.create_server(found[0][4][:2], family=found[0][0], backlog=1024)
    except OSError as error:
        raise ConfigError(f"cannot listen at {address}: {error.strerror or error}") from None
