"""`nacre specs`: the tool definitions as a host would send them to a model."""

import json
from typing import Unpack

import click

from nacre.cli.context import Context, context_options, opened_tool, tool_context

__all__ = ("command",)

_EPILOG = """\b
Examples:
  nacre specs nacre
  nacre specs phoenix --cwd ~/src/app --confinement read-only
"""


@click.command("specs", epilog=_EPILOG)
@context_options
@click.argument("dialect")
def command(*, dialect: str, **context: Unpack[Context]) -> None:
    """Print the tools of DIALECT as JSON: names, descriptions, input schemas.

    With options, or where the document says so, descriptions name the folder that
    scripts start in and what confines them.
    """
    with opened_tool(dialect, context) as tool:
        specs = tool.specs(tool_context(context) if any(context.values()) else None)
    click.echo(json.dumps(specs, indent=2, ensure_ascii=False))
