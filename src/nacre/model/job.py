"""A run that outlives its call."""

from dataclasses import dataclass
from datetime import datetime
from enum import Enum
from pathlib import PurePath

from nacre.model.outcome import Outcome

__all__ = ("Job", "Ownership")


class Ownership(Enum):
    """Whether a job ends with its host, or survives it."""

    OWNED = "owned"
    DETACHED = "detached"


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
