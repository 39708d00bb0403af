"""`nacre logs`: what a job said, raw."""

from functools import partial

import anyio
import click

from nacre.cli.completion import complete_job
from nacre.cli.state import opened_jobs
from nacre.cli.terminal import reader_left, write_out

__all__ = ("command",)

_EPILOG = """\b
Examples:
  nacre logs bk7wq2x
  nacre logs bk
  nacre logs -f bk | grep -m1 'listening'
"""


@click.command("logs", epilog=_EPILOG)
@click.option("-f", "--follow", is_flag=True, help="Go on until the job ends.")
@click.argument("job_id", metavar="ID", shell_complete=complete_job)
def command(*, follow: bool, job_id: str) -> None:
    """Print the output of the job whose id starts with ID."""
    anyio.run(partial(_print, job_id, follow=follow))


async def _print(job_id: str, *, follow: bool) -> None:
    with opened_jobs() as jobs:
        job = await jobs.find(job_id)
        async for data in jobs.output(job, follow=follow):
            if not data and reader_left():
                return
            write_out(data)
