"""What an agent can ask for, in no dialect's words."""

from collections.abc import Mapping
from dataclasses import field
from datetime import timedelta
from enum import Enum
from pathlib import PurePath

from nacre.model.job import JobTerms
from nacre.model.transcript import Limit
from nacre.model.value import dataclass

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
    pipe to close. `grace` is the time between SIGTERM and
    SIGKILL at the timeout; none kills at once. `timed` says that the agent chose
    the timeout itself. `terms` are those of the job it may become. `program` is what
    bash is given to carry the script out, where that is not the script alone; the
    script is what is checked, asked about and recorded. `stdin` is what the script can
    read, nothing if None; `environ` are variables beside those that every script has.
    """

    script: str
    limit: Limit
    program: str | None = None
    cwd: PurePath | None = None
    timeout: timedelta | None = None
    on_timeout: OnTimeout = OnTimeout.KILL
    background: bool = False
    description: str = ""
    streams: Streams = Streams.MERGED
    linger: timedelta = timedelta(0)
    grace: timedelta = timedelta(0)
    timed: bool = False
    terms: JobTerms = field(default_factory=JobTerms)
    stdin: bytes | None = None
    environ: Mapping[str, str] = field(default_factory=dict[str, str])


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
    the wait. `whole` asks for everything from the start, and moves no cursor.
    """

    job_id: str
    limit: Limit
    pattern: str | None = None
    wait_for: tuple[Condition, ...] = ()
    timeout: timedelta = timedelta(0)
    whole: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Stop:
    """End a job and all its processes; `forget` leaves nothing of it to be asked for."""

    job_id: str
    limit: Limit
    grace: timedelta = timedelta(0)
    forget: bool = False


@dataclass(frozen=True, slots=True)
class ListJobs:
    """List the jobs of this conversation."""


Call = Run | Poll | Stop | ListJobs
