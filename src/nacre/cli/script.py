"""A script as it comes from the command line."""

import shlex
import sys

import click

__all__ = ("given_script", "script_argument")

script_argument = click.argument("script", metavar="SCRIPT", nargs=-1, type=click.UNPROCESSED)
_STANDARD_INPUT = ("-",)


def given_script(words: tuple[str, ...]) -> str:
    """The text of a script: one word, several words of one command, or `-` for standard input.

    Raises:
        click.UsageError: If there is no word at all.
    """
    if not words:
        raise click.UsageError("Missing argument 'SCRIPT'.", click.get_current_context())
    if words == _STANDARD_INPUT:
        return sys.stdin.buffer.read().decode("utf-8", "surrogateescape")
    return words[0] if len(words) == 1 else shlex.join(words)
