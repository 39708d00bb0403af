"""`nacre jobs`: every job of the state directory, and how it is."""

import json
import sys
from datetime import UTC, datetime, timedelta

import anyio
import click

from nacre.cli.state import opened_jobs
from nacre.cli.terminal import coloured
from nacre.model.job import Job
from nacre.model.outcome import Exited, Lost, Outcome, Running, Signaled, Stopped

__all__ = ("command", "state_of")

_EPILOG = """\b
Examples:
  nacre jobs
  nacre jobs --running
  nacre jobs --json | jq '.[] | select(.state == "running") | .id'
"""
_SCRIPT_WIDTH = 60


@click.command("jobs", epilog=_EPILOG)
@click.option("--running", is_flag=True, help="Only those that run.")
@click.option("--conversation", metavar="ID", help="Only those of one conversation.")
@click.option("--json", "as_json", is_flag=True, help="Print them as JSON.")
def command(*, running: bool, conversation: str | None, as_json: bool) -> None:
    """List jobs, oldest first, whichever process started them."""
    found = anyio.run(_jobs, conversation, running)
    if as_json:
        click.echo(json.dumps([_fields(job) for job in found], indent=2))
        return
    if not found:
        click.echo("no jobs", err=True)
        return
    now = datetime.now(tz=UTC)
    click.echo(f"{'ID':8} {'STATE':14} {'TIME':>9}  {'KIND':8}  SCRIPT")
    for job in found:
        took = _short((job.ended or now) - job.started)
        state, colour = state_of(job.outcome)
        shown = coloured(f"{state:14}", colour, sys.stdout)
        click.echo(
            f"{job.id:8} {shown} {took:>9}  {job.ownership.value:8}  {_one_line(job.script)}"
        )


async def _jobs(conversation: str | None, running: bool) -> tuple[Job, ...]:  # noqa: FBT001 (anyio.run)
    with opened_jobs() as jobs:
        return await (jobs.running(conversation) if running else jobs.jobs(conversation))


def state_of(outcome: Outcome) -> tuple[str, str]:
    """A job's state in a word or two, and the colour that suits it."""
    match outcome:
        case Running():
            return "running", "green"
        case Exited(0):
            return "exited 0", "grey"
        case Exited(code):
            return f"exited {code}", "red"
        case Signaled(number):
            return f"signal {number}", "red"
        case Stopped():
            return "killed", "yellow"
        case Lost():
            return "lost", "red"
        case _:
            return "not started", "red"


def _fields(job: Job) -> dict[str, object]:
    return {
        "id": job.id,
        "state": state_of(job.outcome)[0].partition(" ")[0],
        "exit_code": job.outcome.code if isinstance(job.outcome, Exited) else None,
        "signal": job.outcome.signal if isinstance(job.outcome, Signaled) else None,
        "kind": job.ownership.value,
        "pid": job.pid,
        "conversation": job.conversation,
        "script": job.script,
        "description": job.description,
        "cwd": str(job.cwd),
        "started": job.started.isoformat(),
        "ended": job.ended.isoformat() if job.ended else None,
        "output": str(job.output),
        "bytes": job.said,
    }


def _one_line(script: str) -> str:
    line = " ".join(script.split())
    return line if len(line) <= _SCRIPT_WIDTH else f"{line[: _SCRIPT_WIDTH - 1]}…"


def _short(time: timedelta) -> str:
    minutes, seconds = divmod(int(time.total_seconds()), 60)
    hours, minutes = divmod(minutes, 60)
    if hours:
        return f"{hours}h{minutes:02}m"
    return f"{minutes}m{seconds:02}s" if minutes else f"{seconds}s"
