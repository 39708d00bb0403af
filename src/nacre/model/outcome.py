"""How a call ended; every way it can end."""

from datetime import timedelta

from nacre.model.value import dataclass
from nacre.model.verdict import Verdict

__all__ = (
    "Denied",
    "Exited",
    "Lost",
    "Outcome",
    "Running",
    "Signaled",
    "Stopped",
    "TimedOut",
    "Unstarted",
)


@dataclass(frozen=True, slots=True)
class Exited:
    """The shell ended by itself, with this exit code."""

    code: int


@dataclass(frozen=True, slots=True)
class Signaled:
    """The shell was ended by a signal that nacre did not send on purpose."""

    signal: int


@dataclass(frozen=True, slots=True)
class TimedOut:
    """The time was up, and the call said to end the run."""

    after: timedelta


@dataclass(frozen=True, slots=True)
class Denied:
    """The policy refused the script; no process was started.

    `answered` says that somebody was asked, and said no; `said` is their word to the agent,
    or why nobody could be asked.
    """

    verdict: Verdict
    answered: bool = False
    said: str = ""


@dataclass(frozen=True, slots=True)
class Unstarted:
    """Bash could not be started. The script did not run and is not at fault.

    `unheld` says why: what was to hold it cannot be had here.
    """

    reason: str
    unheld: bool = False


@dataclass(frozen=True, slots=True)
class Stopped:
    """Someone ended it on purpose: a cancelled call, or a job that was stopped."""


@dataclass(frozen=True, slots=True)
class Running:
    """It goes on as a job."""

    job_id: str


@dataclass(frozen=True, slots=True)
class Lost:
    """It is over, and nobody saw how it ended."""

    reason: str


Outcome = Exited | Signaled | TimedOut | Denied | Unstarted | Stopped | Running | Lost
