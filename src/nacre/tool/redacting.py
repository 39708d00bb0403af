"""What a host shows of a job's output by itself, without secrets."""

from dataclasses import replace

from nacre.model.job import JobOutput
from nacre.process.waits import aside
from nacre.stance import Stance

__all__ = ("redacted",)


async def redacted(stance: Stance, found: JobOutput) -> JobOutput:
    """A range of output as it is shown, where the dialect keeps secrets out of what it shows."""
    if not stance.redacts:
        return found
    from nacre.render.redact import Redactor

    redactor = Redactor(stance.secrets())
    shown = await aside(redactor.between, found.before, found.data, found.after)
    return replace(found, data=shown, before=b"", after=b"")
