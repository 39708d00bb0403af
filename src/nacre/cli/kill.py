"""`nacre kill`: end jobs, with everything they started."""

from datetime import timedelta

import anyio
import click

from nacre.cli.completion import complete_job
from nacre.cli.jobs import state_of
from nacre.cli.state import opened_jobs
from nacre.cli.terminal import complain
from nacre.errors import JobNotFoundError

__all__ = ("command",)

_EPILOG = """\b
Examples:
  nacre kill bk7wq2x
  nacre kill --grace 10 bk
"""


@click.command("kill", epilog=_EPILOG)
@click.option(
    "--grace",
    type=click.FloatRange(0, 3600),
    default=2.0,
    show_default=True,
    metavar="SECONDS",
    help="Between SIGTERM and SIGKILL; 0 kills at once.",
)
@click.argument("job_ids", metavar="ID...", nargs=-1, required=True, shell_complete=complete_job)
@click.pass_context
def command(ctx: click.Context, *, grace: float, job_ids: tuple[str, ...]) -> None:
    """End the jobs whose ids start with ID."""
    ctx.exit(anyio.run(_kill, job_ids, timedelta(seconds=grace)))


async def _kill(job_ids: tuple[str, ...], grace: timedelta) -> int:
    """End those that exist; return 1 if one does not."""
    status = 0
    with opened_jobs() as jobs:
        for job_id in job_ids:
            try:
                job = await jobs.find(job_id)
            except JobNotFoundError as error:
                complain(str(error))
                status = 1
                continue
            job = await jobs.stop(job.id, None, grace)
            click.echo(f"{job.id} {state_of(job.outcome)[0]}")
    return status
