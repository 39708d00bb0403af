"""`nacre journal`: what was asked, decided, run, and how it ended; and whether that is unbroken."""

import json
import sys
import time
from collections.abc import Iterator, Mapping
from itertools import islice
from pathlib import Path

import click

from nacre.cli.terminal import complain, reader_left
from nacre.config.state import state_folder
from nacre.engine.chain import (
    FORGOT,
    JOURNAL,
    JournalEntry,
    fields_of,
    forget,
    read_back,
    read_journal,
)
from nacre.engine.entries import BEGAN
from nacre.engine.identity import identity
from nacre.engine.journal import moment
from nacre.engine.proof import prove, set_aside
from nacre.process.watch import BlockingFileWatch
from nacre.render.underline import one_line

__all__ = ("command",)

_EPILOG = """\b
Examples:
  nacre journal
  nacre journal --last 20 --json
  nacre journal --follow
  nacre journal verify
  nacre journal forget --older-than 365
\b
Exit codes of verify:
  0  every entry is as it was written
  1  one is not, or the journal cannot be read
"""
_WIDTH = 60
_TOOL_WIDTH = 24
_TEXT_WIDTH = 200
_LOOK_SECONDS = 0.5
_DAY = 24 * 3600
_MOST_DAYS = 18_000  # before there were clocks that could have written an entry
_LEAST_HASH = 16  # digits of a hash that no two entries have in common


@click.group("journal", epilog=_EPILOG, invoke_without_command=True)
@click.option("-f", "--follow", is_flag=True, help="Go on as calls are made.")
@click.option("--last", type=click.IntRange(0), metavar="N", help="Only the last so many.")
@click.option("--json", "as_json", is_flag=True, help="Print every entry as an object a line.")
@click.pass_context
def command(ctx: click.Context, *, follow: bool, last: int | None, as_json: bool) -> None:
    """Print the calls of the state directory's journal, oldest first.

    A call that took its time has an entry from when it began, too; that is left out
    here once it has ended, unless entries are printed as JSON.
    """
    if ctx.invoked_subcommand is not None:
        return
    path = state_folder() / JOURNAL
    show = _print_json if as_json else _print_line
    seen = 0
    for entry in _chosen(path, last, every=as_json):
        show(entry)
        seen = entry.number
    if not follow:
        return
    if last == 0:
        seen = next((entry.number for entry in read_back(path)), 0)
    file = identity(path)
    with BlockingFileWatch([path, Path(f"{path}-wal")]) as watch:
        while not reader_left():
            if file != (file := identity(path)):
                seen = 0  # another journal was begun in its place
            for entry in read_journal(path, seen):
                show(entry)
                seen = entry.number
            sys.stdout.flush()
            watch.wait(_LOOK_SECONDS)


@command.command("verify")
@click.option(
    "--has", metavar="HASH", default="", help="It must also have the entry with this hash."
)
@click.pass_context
def verify(ctx: click.Context, *, has: str) -> None:
    """Prove that no entry was changed, taken out or put in; name the first that was.

    What is cut off at the end leaves no trace in the rest. Note the hash that this prints
    elsewhere, and give it with --has another time: then that is proved as well.
    """
    if has and len(has) < _LEAST_HASH:
        raise click.UsageError(f"--has {has!r:.20} is too short to tell one entry from others")
    path = state_folder() / JOURNAL
    proof, aside = prove(path, has.lower()), set_aside(path)
    if proof.broken is not None:
        click.echo(f"entry {proof.broken} is broken: {proof.why}")
        if proof.text:
            click.echo(f"it says: {one_line(proof.text, _TEXT_WIDTH)}")
    else:
        removed = f" after {proof.forgotten} that were removed" if proof.forgotten else ""
        last = f"; the hash of the last is {proof.hash}" if proof.entries else ""
        click.echo(f"{_count(proof.entries)}{removed}, unbroken{last}")
    missing = bool(has) and not proof.found
    if missing:
        complain(f"no entry has the hash {one_line(has, len(proof.hash))}")
    for each in aside:
        complain(f"an earlier journal could not be gone on with, and is not proved here: {each}")
    ctx.exit(1 if proof.broken is not None or missing or aside else 0)


@command.command("forget")
@click.option(
    "--older-than",
    type=click.IntRange(0, _MOST_DAYS),
    metavar="DAYS",
    required=True,
    help="How old.",
)
@click.pass_context
def forget_old(ctx: click.Context, *, older_than: int) -> None:
    """Remove the oldest entries, up to the first that is not so old; the rest can be verified.

    Nothing else ever shortens the journal. A broken one is not shortened.
    """
    path = state_folder() / JOURNAL
    proof = prove(path)
    if proof.broken is not None:
        complain(f"entry {proof.broken} is broken: {proof.why}; nothing was removed")
        ctx.exit(1)
    now = time.time()
    removed = forget(path, _through(path, moment(now - older_than * _DAY)), moment(now))
    click.echo(f"{_count(removed)} removed")


def _count(entries: int) -> str:
    return f"{entries} entr{'y' if entries == 1 else 'ies'}"


def _through(path: Path, before: str) -> int:
    """The number up to which every entry is older than a moment."""
    through = 0
    for entry in read_journal(path):
        at = fields_of(entry).get("at")
        if not isinstance(at, str) or at >= before:
            break
        through = entry.number
    return through


def _chosen(path: Path, last: int | None, *, every: bool) -> Iterator[JournalEntry]:
    """The entries to show; without those of a beginning whose end is there, unless all are asked."""
    if last is not None:
        found = read_back(path) if every else _without_begun(read_back(path))
        yield from reversed(list(islice(found, last)))
        return
    if every:
        yield from read_journal(path)
        return
    going_on = _open_calls(path)
    for entry in read_journal(path):
        told = fields_of(entry)
        if told.get("outcome") != BEGAN or _call(told) in going_on:
            yield entry


def _without_begun(newest_first: Iterator[JournalEntry]) -> Iterator[JournalEntry]:
    ended: set[str] = set()
    for entry in newest_first:
        told = fields_of(entry)
        if told.get("outcome") != BEGAN:
            ended.add(_call(told))
            yield entry
        elif _call(told) not in ended:
            yield entry


def _open_calls(path: Path) -> set[str]:
    """The calls that have begun, and not ended: they still run, or their host is dead."""
    found: set[str] = set()
    for entry in read_journal(path):
        told = fields_of(entry)
        if told.get("outcome") == BEGAN:
            found.add(_call(told))
        else:
            found.discard(_call(told))
    return found


def _call(told: Mapping[str, object]) -> str:
    return str(told.get("call"))


def _print_json(entry: JournalEntry) -> None:
    told = fields_of(entry) or {"text": entry.text}
    click.echo(json.dumps({"number": entry.number, **told, "hash": entry.hash}))


def _print_line(entry: JournalEntry) -> None:
    told = fields_of(entry)
    where = f"{told['dialect']}.{told.get('tool', '')}" if told.get("dialect") else "-"
    described = f"  # {told['description']}" if told.get("description") else ""
    click.echo(
        f"{entry.number:>6}  {one_line(str(told.get('at', '')), _TOOL_WIDTH):24}"
        f"  {one_line(where, _TOOL_WIDTH):24}"
        f" {one_line(str(told.get('decision') or '-'), 6):6} {one_line(_ended(told), 12):12}"
        f" {one_line(_what(entry, told), _WIDTH)}{one_line(described, _WIDTH)}"
    )


def _what(entry: JournalEntry, told: Mapping[str, object]) -> str:
    """What a line is about: a script, a job, or what became of other entries."""
    if "dialect" in told:
        return str(told.get("script") or told.get("job") or told.get("error") or "")
    return str(told.get("set_aside") or entry.text)


def _ended(told: Mapping[str, object]) -> str:
    kinds = {"error": "error", FORGOT: "removed", "lost": "lost", "set_aside": "set aside"}
    how = told.get("outcome") or next((kinds[each] for each in kinds if each in told), "-")
    code = told.get("exit_code")
    return str(how) if code is None else f"{how} {code}"
