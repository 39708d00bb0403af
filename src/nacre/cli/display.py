"""`nacre display`: a script as a person should see it."""

import os
import sys

import click

from nacre.cli.script import given_script, script_argument
from nacre.cli.terminal import write_out
from nacre.render.underline import visible

__all__ = ("command",)

_EPILOG = """\b
Examples:
  nacre display --cwd /srv/app 'cd /srv/app && make test'
  nacre display - < build.sh
"""


@click.command("display", epilog=_EPILOG)
@click.option("--cwd", metavar="DIR", help="Where it would start; this folder by default.")
@script_argument
def command(*, cwd: str | None, script: tuple[str, ...]) -> None:
    """Print SCRIPT without each `cd` that leads to where it starts anyway.

    On a terminal, characters that it would obey or hide are shown in words.
    """
    from nacre.syntax.display import display

    home = os.environ.get("HOME") or os.path.expanduser("~")
    shown = display(given_script(script), os.path.abspath(cwd or "."), home)
    if sys.stdout.isatty():
        shown = visible(shown)
    write_out(f"{shown}\n".encode("utf-8", "surrogateescape"))
