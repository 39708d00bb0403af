"""`nacre mcp`: the tools of a dialect for an MCP client."""

import os
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Unpack

import anyio
import click

from nacre.cli.context import Context, context_options, opened_tool, rules_option, tool_context
from nacre.errors import ConfigError
from nacre.tool import Bash

__all__ = ("command",)

_TOKEN = "NACRE_MCP_TOKEN"  # noqa: S105 (the name of a variable)
_LONGEST_TOKEN = 4_096
_EPILOG = f"""\b
Examples:
  nacre mcp
  nacre mcp --dialect codegen --workspace ~/project
  nacre mcp --http 127.0.0.1:8000
  {_TOKEN}=... nacre mcp --http 0.0.0.0:8000 --allow-host build.example.org
"""


@click.command("mcp", epilog=_EPILOG)
@click.option("--dialect", metavar="NAME", help="Which interface to speak; nacre by default.")
@click.option("--http", metavar="HOST:PORT", help="Serve over HTTP, at /mcp, instead of stdio.")
@click.option("--token-file", metavar="FILE", help=f"Where the token for HTTP is; or {_TOKEN}.")
@click.option("--allow-host", multiple=True, metavar="NAME", help="One more name of this server.")
@click.option("--detached", is_flag=True, help="Jobs outlive their client, and this server.")
@rules_option
@context_options
def command(
    *,
    dialect: str | None,
    http: str | None,
    token_file: str | None,
    allow_host: tuple[str, ...],
    detached: bool,
    rules: tuple[str, ...],
    **context: Unpack[Context],
) -> None:
    """Serve the tools of a dialect to MCP clients: one over stdio, or many over HTTP.

    When a client is gone, so is all that it started, but for detached jobs.
    """
    try:
        from nacre.server.serve import serve_http, serve_stdio
    except ModuleNotFoundError as error:
        raise ConfigError(
            f"the MCP SDK cannot be imported ({error}); pip install 'nacre[mcp]'"
        ) from error
    if not os.path.isdir(folder := os.path.expanduser(context["workspace"] or ".")):
        raise ConfigError(f"--workspace {folder!r} is no folder")
    calls = replace(tool_context(context), cancel=None)
    jobs = "detached" if detached else "owned"
    token = _token(token_file)
    if http is None:
        if token_file or allow_host:
            raise ConfigError("--token-file and --allow-host go with --http HOST:PORT")
        anyio.run(serve_stdio, opened_tool(dialect, context, rules, jobs=jobs), calls)
        return
    if context["conversation"] or context["output_dir"]:
        raise ConfigError(
            "--conversation and --output-dir are for one client, and --http serves many; leave them out"
        )

    def make() -> Bash:
        """A tool whose scripts cannot read what other clients' scripts have said."""
        hidden = (*context["deny_read"], str(state), *([token_file] if token_file else []))
        return opened_tool(dialect, {**context, "deny_read": hidden}, rules, jobs=jobs)

    with opened_tool(dialect, context, rules) as tool:
        state = tool.state
    serve = partial(serve_http, hosts=allow_host, token=token, tell=_tell)
    anyio.run(serve, make, calls, http)


def _token(file: str | None) -> str | None:
    """The token; from here on it is in no variable, so that no script inherits it."""
    variable = os.environ.pop(_TOKEN, None) or None
    if file is None:
        return variable
    try:
        with Path(file).expanduser().open(encoding="utf-8") as opened:
            return opened.read(_LONGEST_TOKEN).strip()
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"--token-file {file!r} cannot be read: {error}") from None


def _tell(address: str) -> None:
    click.echo(f"nacre: listening at {address}", err=True)
