"""`nacre bench`: the promises about speed and memory, measured here and now."""

import subprocess  # noqa: TID251 (the error of a baseline that fails)
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path

import anyio
import click

from nacre.cli.benchmarks import (
    chart,
    check,
    cold,
    concurrent,
    contained,
    flood,
    held,
    jobs,
    journal,
    latency,
    lines,
    mcp,
    start,
)
from nacre.cli.benchmarks.peers import measure as peers
from nacre.cli.benchmarks.row import FailedToRunError, Row, Scale
from nacre.cli.benchmarks.saved import Saved, read_json, to_json
from nacre.cli.benchmarks.table import machine, table
from nacre.cli.terminal import spinning
from nacre.errors import ConfigError, NacreError

__all__ = ("command",)

_EPILOG = """\b
Examples:
  nacre bench
  nacre bench --only cold --only flood
  nacre bench --json | jq '.[] | select(.holds == false)'
  nacre bench --only peers --chart peers.svg
\b
Exit codes:
  0  every bar holds
  1  a bar does not hold, or a benchmark could not run
"""
_BENCHMARKS: Mapping[str, Callable[[Scale], Awaitable[list[Row]]]] = {
    "cold": cold.measure,
    "landlock": held.measure_landlock,
    "bubblewrap": held.measure_bubblewrap,
    "container": contained.measure,
    "spares": held.measure_spares,
    "tree": held.measure_tree,
    "flood": flood.measure,
    "lines": lines.measure,
    "jobs": jobs.measure,
    "journal": journal.measure,
    "cancel": latency.measure_cancel,
    "timeout": latency.measure_timeout,
    "concurrent": concurrent.measure,
    "import": start.measure,
    "mcp-call": mcp.measure_call,
    "mcp-ready": mcp.measure_ready,
    "check": check.measure_check,
    "guards": check.measure_cases,
    "peers": peers.measure,
}


@click.command("bench", epilog=_EPILOG)
@click.option("--json", "as_json", is_flag=True, help="Print the rows as JSON.")
@click.option("--quick", is_flag=True, help="Little work: proves that it runs, nothing else.")
@click.option(
    "--only",
    multiple=True,
    type=click.Choice(tuple(_BENCHMARKS)),
    metavar="NAME",
    help=f"Only this one; may be repeated: {', '.join(_BENCHMARKS)}.",
)
@click.option("--from", "source", metavar="FILE", help="Measure nothing: show what --json said.")
@click.option("--chart", "picture", metavar="FILE", help="Write the raw figures as SVG, too.")
@click.pass_context
def command(
    ctx: click.Context,
    *,
    as_json: bool,
    quick: bool,
    only: tuple[str, ...],
    source: str | None,
    picture: str | None,
) -> None:
    """Measure this machine: each row against a baseline of the same run, and its bar."""
    if source and (only or quick):
        raise click.UsageError("--from shows a whole run; leave out --only and --quick.", ctx)
    run = _told(source) if source else _measured(Scale.QUICK if quick else Scale.FULL, only)
    if picture:
        _write(picture, chart.chart(run.rows, run.machine))
    if as_json:
        click.echo(to_json(run))
    else:
        click.echo(table(run.rows))
        click.echo(f"\n{run.machine}")
        if run.scale is Scale.QUICK:
            click.echo("quick run: too little work for its figures to mean anything")
    good = all(row.holds is not False for row in run.rows)
    ctx.exit(0 if run.scale is Scale.QUICK or good else 1)


def _measured(scale: Scale, only: tuple[str, ...]) -> Saved:
    rows: list[Row] = []
    for name in _BENCHMARKS:
        if not only or name in only:
            # A loop for each: the threads of one are not there to be counted in the next.
            rows += anyio.run(_rows, name, scale)
    return Saved(rows=tuple(rows), scale=scale, machine=machine())


def _told(source: str) -> Saved:
    try:
        text = Path(source).read_text("utf-8")
    except (OSError, ValueError) as error:
        raise ConfigError(f"{source} cannot be read: {error}") from error
    return read_json(text, source)


def _write(picture: str, text: str) -> None:
    try:
        Path(picture).write_text(text, "utf-8")
    except OSError as error:
        raise ConfigError(f"the chart cannot be written: {error}") from error


async def _rows(name: str, scale: Scale) -> list[Row]:
    """Carry out one benchmark; whatever keeps it from running is told in one sentence."""
    async with spinning(f"measuring {name}"):
        # Caught inside: the spinner's task group would wrap what passes through it.
        try:
            return await _BENCHMARKS[name](scale)
        except (NacreError, OSError, subprocess.SubprocessError) as error:
            failure = error
    raise FailedToRunError(f"the benchmark {name!r} could not run: {failure}") from failure
