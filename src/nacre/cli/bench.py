"""`nacre bench`: the promises about speed and memory, measured here and now."""

import json
import subprocess  # noqa: TID251 (the error of a baseline that fails)
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import asdict

import anyio
import click

from nacre.cli.benchmarks import (
    check,
    cold,
    concurrent,
    contained,
    crowd,
    flood,
    held,
    history,
    hosts,
    jobs,
    journal,
    latency,
    lines,
    mcp,
    render,
    start,
)
from nacre.cli.benchmarks.row import FailedToRunError, Row, Scale
from nacre.cli.benchmarks.table import machine, table
from nacre.cli.terminal import spinning
from nacre.errors import NacreError

__all__ = ("command",)

_EPILOG = """\b
Examples:
  nacre bench
  nacre bench --only cold --only flood
  nacre bench --json | jq '.[] | select(.holds == false)'
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
    "render": render.measure,
    "jobs": jobs.measure,
    "journal": journal.measure,
    "cancel": latency.measure_cancel,
    "timeout": latency.measure_timeout,
    "concurrent": concurrent.measure,
    "crowd": crowd.measure,
    "history": history.measure,
    "hosts": hosts.measure,
    "import": start.measure,
    "mcp-call": mcp.measure_call,
    "mcp-ready": mcp.measure_ready,
    "check": check.measure_check,
    "guards": check.measure_cases,
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
@click.pass_context
def command(ctx: click.Context, *, as_json: bool, quick: bool, only: tuple[str, ...]) -> None:
    """Measure this machine: each row against a baseline of the same run, and its bar."""
    scale = Scale.QUICK if quick else Scale.FULL
    rows: list[Row] = []
    for name in _BENCHMARKS:
        if not only or name in only:
            # A loop for each: the threads of one are not there to be counted in the next.
            rows += anyio.run(_rows, name, scale)
    if as_json:
        click.echo(json.dumps([asdict(row) | {"scale": scale.value} for row in rows], indent=2))
    else:
        click.echo(table(rows))
        click.echo(f"\n{machine()}")
        if quick:
            click.echo("quick run: too little work for its figures to mean anything")
    ctx.exit(0 if quick or all(row.holds is not False for row in rows) else 1)


async def _rows(name: str, scale: Scale) -> list[Row]:
    """Carry out one benchmark; whatever keeps it from running is told in one sentence."""
    async with spinning(f"measuring {name}"):
        # Caught inside: the spinner's task group would wrap what passes through it.
        try:
            return await _BENCHMARKS[name](scale)
        except (NacreError, OSError, subprocess.SubprocessError) as error:
            failure = error
    raise FailedToRunError(f"the benchmark {name!r} could not run: {failure}") from failure
