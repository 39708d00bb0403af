"""An error that a program printed, before anyone knows whose doing it was."""

from enum import Enum

from nacre.model.value import dataclass

__all__ = ("Access", "Complaint", "Fault", "Said")


class Fault(Enum):
    """The kernel's answer, as far as a message tells."""

    EACCES = "EACCES"
    EROFS = "EROFS"
    EPERM = "EPERM"
    ENOENT = "ENOENT"
    EXDEV = "EXDEV"
    EBUSY = "EBUSY"
    UNTOLD = "untold"  # the program keeps it to itself


class Access(Enum):
    """What was tried with a file."""

    READ = "read"
    WRITE = "write"
    REMOVE = "remove"
    CHANGE = "change"  # its mode, owner or times
    RUN = "run"
    UNKNOWN = "unknown"

    @property
    def writes(self) -> bool:
        """Whether something would have changed."""
        return self in {Access.WRITE, Access.REMOVE, Access.CHANGE}


@dataclass(frozen=True, slots=True)
class Said:
    """One line of an output, without colours and what test tools put in front of it.

    `telling` says that it could be about a denial; the others are there to explain.
    """

    number: int
    text: str
    telling: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Complaint:
    """A program says that it could not have a file.

    `program` is who says so, by the name in front of the line; `shell` that it was a
    shell, and `nameless` that such messages start with no name. `paths` are as written; none if the message names no file.
    """

    at: int
    fault: Fault
    paths: tuple[str, ...]
    access: Access = Access.UNKNOWN
    program: str = ""
    shell: bool = False
    nameless: bool = False
