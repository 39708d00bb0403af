"""What the MCP server adds: to a call, over the SDK's own; to a start, over its import."""

import json
import subprocess  # noqa: TID251 (servers are started as their clients start them)
import sys
import time
from collections.abc import Mapping, Sequence
from contextlib import AsyncExitStack
from importlib.util import find_spec
from statistics import median

from nacre.cli.benchmarks.baseline import PYTHON, seconds_of
from nacre.cli.benchmarks.row import FailedToRunError, Row, Scale, at_most
from nacre.cli.benchmarks.start import compiling
from nacre.cli.benchmarks.subject import temporary_folder

__all__ = ("measure_call", "measure_ready")

_MOST_MILLISECONDS = 3.0
_MOST_RATIO = 1.3
_NO_OP = """
import anyio
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server
from mcp.types import CallToolResult, ListToolsResult, TextContent, Tool

async def list_tools(ctx, params):
    return ListToolsResult(tools=[Tool(name="Bash", input_schema={"type": "object"})])

async def call_tool(ctx, params):
    return CallToolResult(content=[TextContent(text="")])

async def main():
    server = Server("no-op", on_list_tools=list_tools, on_call_tool=call_tool)
    async with stdio_server() as (read, write):
        await server.run(read, write, server.create_initialization_options())

anyio.run(main)
"""
_HELLO = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-11-25",
        "capabilities": {},
        "clientInfo": {"name": "nacre bench", "version": "0"},
    },
}


async def measure_call(scale: Scale) -> list[Row]:
    """Call `true` over stdio, and a tool that does nothing, in turn."""
    if find_spec("mcp") is None:
        return [_missing("mcp call")]
    from mcp import Client, StdioServerParameters

    runs = scale.of(300, quick=5)
    with temporary_folder() as folder:
        words = {"no-op": ("-c", _NO_OP), "nacre": ("-m", "nacre", "mcp", "--workspace", folder)}
        took = {name: list[float]() for name in words}
        async with AsyncExitStack() as stack:
            clients = {
                name: await stack.enter_async_context(
                    Client(
                        StdioServerParameters(
                            command=sys.executable, args=[*argv], env=compiling(folder)
                        )
                    )
                )
                for name, argv in words.items()
            }
            for at in range(runs + 3):
                for name, client in clients.items():
                    began = time.perf_counter()
                    result = await client.call_tool("Bash", {"command": "true"})
                    if result.is_error:
                        raise FailedToRunError(f"a call of `true` was answered {result.content!r}")
                    if at >= 3:  # noqa: PLR2004 (the first ones make rooms, and import)
                        took[name].append(time.perf_counter() - began)
    base, ours = (median(took[name]) * 1e3 for name in words)
    return [
        at_most(
            "mcp call",
            ours - base,
            _MOST_MILLISECONDS,
            "ms",
            work=f"`true` over stdio, confined, minus the SDK's no-op, medians of {runs}",
            note=f"{ours:.2f} ms to {base:.2f} ms",
        )
    ]


async def measure_ready(scale: Scale) -> list[Row]:
    """Start servers up to their first answer, and the import of the SDK, in turn."""
    if find_spec("mcp") is None:
        return [_missing("mcp ready")]
    runs = scale.of(10, quick=2)
    server = (sys.executable, "-m", "nacre", "mcp")
    base, ours = list[float](), list[float]()
    with temporary_folder() as folder:
        environ = compiling(folder)
        for at in range(runs + 1):
            imported = seconds_of((*PYTHON, "import mcp.server"), environ)
            ready = _ready(server, environ, folder)
            if at:  # the first ones compile
                base.append(imported)
                ours.append(ready)
    return [
        at_most(
            "mcp ready",
            median(ours) / median(base),
            _MOST_RATIO,
            "x",
            work=f"`nacre mcp` up to its answer to initialize, to `import mcp.server`, medians of {runs}",
            note=f"{median(ours) * 1e3:.0f} ms to {median(base) * 1e3:.0f} ms",
        )
    ]


def _ready(argv: Sequence[str], environ: Mapping[str, str], folder: str) -> float:
    began = time.perf_counter()
    with subprocess.Popen(
        argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environ, cwd=folder
    ) as process:
        if process.stdin is None or process.stdout is None:
            raise FailedToRunError("the server has no pipes")
        process.stdin.write(json.dumps(_HELLO).encode() + b"\n")
        process.stdin.flush()
        heard = process.stdout.readline()
        took = time.perf_counter() - began
        process.stdin.close()
    if b"serverInfo" not in heard:
        raise FailedToRunError(f"initialize was answered {heard!r:.200}")
    return took


def _missing(name: str) -> Row:
    return Row(
        name=name,
        work="the MCP server",
        measured="not measured",
        note="the SDK is not installed: pip install 'nacre[mcp]'",
    )
