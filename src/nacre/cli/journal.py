"""`nacre journal`: what was asked, decided, run, and how it ended; and whether that is unbroken."""

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import cast

import click

from nacre.cli.terminal import reader_left
from nacre.render.underline import one_line
from nacre.config.state import state_folder
from nacre.engine.journal import JOURNAL, JournalEntry, read_journal, verify_journal
from nacre.process.watch import FileWatch

__all__ = ("command",)

_EPILOG = """\b
Examples:
  nacre journal
  nacre journal --last 20 --json
  nacre journal --follow
  nacre journal verify
\b
Exit codes of verify:
  0  every entry is as it was written
  1  one is not, or the journal cannot be read
"""
_SCRIPT_WIDTH = 60
_LOOK_SECONDS = 0.5


@click.group("journal", epilog=_EPILOG, invoke_without_command=True)
@click.option("-f", "--follow", is_flag=True, help="Go on as calls are made.")
@click.option("--last", type=click.IntRange(0), metavar="N", help="Only the last so many.")
@click.option("--json", "as_json", is_flag=True, help="Print an object a line.")
@click.pass_context
def command(ctx: click.Context, *, follow: bool, last: int | None, as_json: bool) -> None:
    """Print the entries of the state directory's journal, oldest first."""
    if ctx.invoked_subcommand is not None:
        return
    path = state_folder() / JOURNAL
    seen = 0
    for entry in _last(path, last):
        seen = _print(entry, as_json=as_json)
    if not follow:
        return
    with FileWatch([path, Path(f"{path}-wal")]) as watch:
        while not reader_left():
            for entry in read_journal(path, seen):
                seen = _print(entry, as_json=as_json)
            sys.stdout.flush()
            watch.wait_blocking(_LOOK_SECONDS)


@command.command("verify")
@click.pass_context
def verify(ctx: click.Context) -> None:
    """Prove that no entry was changed, taken out or put in; name the first that was."""
    whole, broken = verify_journal(state_folder() / JOURNAL)
    if broken is None:
        click.echo(f"{whole} entries, unbroken")
        return
    click.echo(
        f"entry {broken.number} is not what was written after entry {whole}: {one_line(broken.text, 200)}"
    )
    ctx.exit(1)


def _last(path: Path, count: int | None) -> Iterator[JournalEntry]:
    if count is None:
        yield from read_journal(path)
        return
    newest = 0
    for entry in read_journal(path):
        newest = entry.number
    yield from read_journal(path, max(0, newest - count))


def _print(entry: JournalEntry, *, as_json: bool) -> int:
    told = cast("dict[str, object]", json.loads(entry.text))
    if as_json:
        click.echo(json.dumps({"number": entry.number, **told, "hash": entry.hash}))
    else:
        click.echo(_line(entry.number, told))
    return entry.number


def _line(number: int, told: dict[str, object]) -> str:
    what = str(told.get("script") or told.get("job") or told.get("error") or "")
    how = told.get("outcome") or ("error" if "error" in told else "")
    code = told.get("exit_code")
    ended = f"{how} {code}" if code is not None else str(how)
    where = f"{told.get('dialect')}.{told.get('tool')}"
    described = f"  # {told['description']}" if told.get("description") else ""
    return (
        f"{number:>6}  {told.get('at', '')}  {one_line(where, 24):24}"
        f" {told.get('decision') or '-':6} {ended:12}"
        f" {one_line(what, _SCRIPT_WIDTH)}{one_line(described, _SCRIPT_WIDTH)}"
    )
