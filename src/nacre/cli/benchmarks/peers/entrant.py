"""Who is measured: one way to run a script, and what can be said of it beforehand."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from enum import StrEnum

__all__ = ("WORKS", "Answer", "Call", "Entrant", "Kind", "Racer", "Shell", "Work")


class Kind(StrEnum):
    """Whose it is."""

    BASELINE = "baseline"
    NACRE = "nacre"
    PEER = "peer"


class Shell(StrEnum):
    """Whether a script gets a shell that nobody has used."""

    FRESH = "fresh"
    KEPT = "kept"


@dataclass(frozen=True, slots=True, kw_only=True)
class Entrant:
    """One way to run a script.

    `confined` says that the kernel keeps its scripts from writing where they should not, and from the network.
    """

    name: str
    kind: Kind
    shell: Shell
    confined: bool
    remark: str = ""

    @property
    def fresh_and_confined(self) -> bool:
        """Whether it promises what nacre does."""
        return self.confined and self.shell is Shell.FRESH

    @property
    def promise(self) -> str:
        """What a script gets, in words."""
        shell = "a fresh shell" if self.shell is Shell.FRESH else "a shell kept open"
        return f"{shell}, {'confined' if self.confined else 'not confined'}"

    def __str__(self) -> str:
        return f"{self.promise}: {self.remark}" if self.remark else self.promise


@dataclass(frozen=True, slots=True)
class Answer:
    """What one call took, measured around it where it is made, and what it gave back."""

    seconds: float
    output: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Work:
    """A script, and what is in its output if it has run; that is not in its text."""

    script: str
    says: str = ""

    def done(self, answer: Answer) -> bool:
        """Whether this is the answer of a script that has run."""
        return self.says in answer.output


WORKS = (Work(script="true"), Work(script="echo $((6 * 7))", says="42"))
Call = Callable[[str], Awaitable[Answer]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Racer:
    """An entrant that is there, with how to call it and how to stop it; or, in words, why it is not."""

    entrant: Entrant
    call: Call | None = None
    stop: Callable[[], None] | None = None
    version: str = ""
    why_not: str = ""
