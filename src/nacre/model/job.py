"""A run that outlives its call."""

from datetime import datetime
from enum import Enum
from pathlib import PurePath

from nacre.model.outcome import Outcome
from nacre.model.value import dataclass

__all__ = ("Completion", "Job", "JobOutput", "JobTerms", "Naming", "Ownership")


class Ownership(Enum):
    """Whether a job ends with its host, or survives it."""

    OWNED = "owned"
    DETACHED = "detached"


class Naming(Enum):
    """How a job's id is made: short to type, or unlike any other in the world."""

    SHORT = "short"
    UUID = "uuid"


@dataclass(frozen=True, slots=True, kw_only=True)
class Completion:
    """The line appended to a detached job's output; `{}` is the code or the signal."""

    exited: str = "\n[job ended with exit code {}]\n"
    signaled: str = "\n[job was ended by signal {}]\n"


@dataclass(frozen=True, slots=True, kw_only=True)
class JobTerms:
    """What a run is as a job, should it become one.

    The first `cap` bytes of each stream are kept. One that is `detached` survives its
    tool, whatever becomes of the others'. Ids begin with `prefix`.
    """

    naming: Naming = Naming.SHORT
    prefix: str = ""
    cap: int = 256 * 1024 * 1024
    detached: bool = False
    completion: Completion = Completion()


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """What is known of a job at one moment; the outcome is true, never a guess."""

    id: str
    conversation: str
    script: str
    description: str
    cwd: PurePath
    ownership: Ownership
    pid: int
    started: datetime
    ended: datetime | None
    outcome: Outcome
    output: PurePath
    said: int


@dataclass(frozen=True, slots=True, kw_only=True)
class JobOutput:
    """A range of the bytes that one stream of a job has said.

    `data` are those from `start` to `end`, or what is shown of them. `kept` bytes, from the first one on, are there to be read so far.
    `before` and `after` are what stands next to it, to judge it by, and not to be shown.
    """

    data: bytes
    start: int
    end: int
    kept: int
    running: bool
    before: bytes = b""
    after: bytes = b""
