"""What an agent can ask for, in no dialect's words."""

from dataclasses import dataclass
from datetime import timedelta
from enum import Enum
from pathlib import PurePath

from nacre.model.transcript import Limit

__all__ = (
    "Call",
    "Condition",
    "FileAppears",
    "JobEnds",
    "ListJobs",
    "OnTimeout",
    "OutputMatches",
    "Poll",
    "PortOpens",
    "Run",
    "Silence",
    "Stop",
    "Streams",
)


class OnTimeout(Enum):
    """What becomes of a run whose time is up."""

    KILL = "kill"
    BACKGROUND = "background"


class Streams(Enum):
    """Whether standard output and error share a pipe, which keeps their real order."""

    MERGED = "merged"
    SEPARATE = "separate"


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """Run a script.

    A call ends when its shell does. `linger` waits that much longer for the
    pipe to close; `wait_for_jobs` waits, within the timeout, until every process
    the script left behind is gone. `grace` is the time between SIGTERM and
    SIGKILL at the timeout; none kills at once.
    """

    script: str
    limit: Limit
    cwd: PurePath | None = None
    timeout: timedelta | None = None
    on_timeout: OnTimeout = OnTimeout.KILL
    background: bool = False
    description: str = ""
    streams: Streams = Streams.MERGED
    linger: timedelta = timedelta(0)
    wait_for_jobs: bool = False
    grace: timedelta = timedelta(0)


@dataclass(frozen=True, slots=True)
class OutputMatches:
    """A line of the output matches this regular expression."""

    pattern: str


@dataclass(frozen=True, slots=True)
class JobEnds:
    """The job is over."""


@dataclass(frozen=True, slots=True)
class PortOpens:
    """Something accepts TCP connections on this port of this machine."""

    port: int


@dataclass(frozen=True, slots=True)
class FileAppears:
    """This path exists; a relative one is taken from the job's working directory."""

    path: PurePath


@dataclass(frozen=True, slots=True)
class Silence:
    """The job has said nothing for this long."""

    lasting: timedelta


Condition = OutputMatches | JobEnds | PortOpens | FileAppears | Silence


@dataclass(frozen=True, slots=True, kw_only=True)
class Poll:
    """Ask a job what is new, at once or when a condition has come true.

    `pattern` shows only the lines that match it. A job that ends always ends
    the wait.
    """

    job_id: str
    limit: Limit
    pattern: str | None = None
    wait_for: tuple[Condition, ...] = ()
    timeout: timedelta = timedelta(0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Stop:
    """End a job and all its processes."""

    job_id: str
    limit: Limit
    grace: timedelta = timedelta(0)


@dataclass(frozen=True, slots=True)
class ListJobs:
    """List the jobs of this conversation."""


Call = Run | Poll | Stop | ListJobs
