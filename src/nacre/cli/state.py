"""The jobs of the state directory, for commands that only look after them."""

from collections.abc import Generator
from contextlib import contextmanager

from nacre.cli.terminal import complain
from nacre.config.state import state_folder
from nacre.engine.assemble import Settings, open_jobs
from nacre.engine.jobs import Jobs

__all__ = ("opened_jobs",)


@contextmanager
def opened_jobs() -> Generator[Jobs]:
    """Open the jobs, and say what had to be set aside for it."""
    jobs = open_jobs(Settings(state=state_folder()))
    try:
        yield jobs
    finally:
        for report in jobs.reports():
            complain(report)
        jobs.close()
