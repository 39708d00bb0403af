"""`nacre call`: one tool call exactly as a host makes it."""

import json
import sys
from functools import partial
from typing import Unpack

import anyio
import click

from nacre.cli.context import Context, context_options, opened_tool, rules_option, tool_context
from nacre.cli.terminal import write_out
from nacre.model.reply import Reply

__all__ = ("command",)

_EPILOG = """\b
Examples:
  nacre call nacre Bash '{"command": "make test"}'
  nacre call codegen Bash '{"command": "ls", "description": "list files"}' --json
  nacre call phoenix bash '{"command": "make", "mode": "slow"}' --confinement read-only
  nacre call yoi Bash - < arguments.json
\b
Exit codes:
  0  there is a reply, whatever it says
  1  nacre itself failed
"""
_STANDARD_INPUT = "-"


@click.command("call", epilog=_EPILOG)
@rules_option
@click.option("--json", "as_json", is_flag=True, help="Print text, is_error and details as JSON.")
@context_options
@click.argument("dialect")
@click.argument("tool")
@click.argument("arguments")
def command(
    *,
    rules: tuple[str, ...],
    as_json: bool,
    dialect: str,
    tool: str,
    arguments: str,
    **context: Unpack[Context],
) -> None:
    """Call TOOL of DIALECT with ARGUMENTS, a JSON object, and print the reply.

    It is one call of a conversation that goes on: jobs outlive this command, and
    another call finds them. Arguments that are malformed are answered in the dialect's
    own words; `-` takes them from standard input.
    """
    text = sys.stdin.read() if arguments == _STANDARD_INPUT else arguments
    with opened_tool(dialect, context, rules, jobs="detached") as bash:
        reply = anyio.run(partial(bash.call, tool, text, tool_context(context)))
    write_out(_as_json(reply) if as_json else _as_text(reply))


def _as_json(reply: Reply) -> bytes:
    shown = {"text": reply.text, "is_error": reply.is_error, "details": reply.details}
    return f"{json.dumps(shown, indent=2)}\n".encode()


def _as_text(reply: Reply) -> bytes:
    end = "" if reply.text.endswith("\n") or not reply.text else "\n"
    return f"{reply.text}{end}".encode("utf-8", "backslashreplace")
