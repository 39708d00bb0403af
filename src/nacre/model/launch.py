"""Exactly what will be executed, and in what it is held."""

from collections.abc import Mapping
from dataclasses import field
from pathlib import PurePath

from nacre.model.value import dataclass

__all__ = ("NOT_HELD", "Container", "Hold", "Launch", "Mount", "Restriction", "Room")


@dataclass(frozen=True, slots=True, kw_only=True)
class Restriction:
    """What a thread does to itself before it spawns, in the kernel's own numbers.

    The three masks are the Landlock rights that are handled, and `rules` grants some
    of them beneath paths; `program` is the system call filter, and `asking` one that has
    the warden asked about signals to groups. Capabilities are
    dropped and no_new_privs is set in any case. Equal restrictions have equal keys.
    """

    key: str
    fs: int = 0
    net: int = 0
    scope: int = 0
    rules: tuple[tuple[str, int], ...] = ()
    program: bytes = b""
    asking: bytes = b""

    def __hash__(self) -> int:
        """By the key: the rest is long."""
        return hash(self.key)


@dataclass(frozen=True, slots=True, kw_only=True)
class Room:
    """Namespaces that several launches share: the words that make them, and nothing else.

    `argv` is a program with its arguments, to be followed by what runs inside. `expected`
    is which files must be found there, and which not: a mount lies on a file, and is gone
    when that is replaced.
    """

    argv: tuple[str, ...]
    expected: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Mount:
    """A folder or file of the engine's machine, and where a container has it."""

    source: str
    target: str
    writable: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Container:
    """A container that the launches of one conversation share, as an engine is asked for it.

    `name` is its own: equal names are equal containers. One without an `image` was made by
    somebody else, who also ends it. `product` is what the engine is, where that makes a difference;
    `filter` the file with the system call filter in its words, if it is not the engine's own. `hidden` paths are there and empty. `kept` outlives its
    host, until it was `idle` for so many seconds; `state` is whose it is. None of the numbers
    means that no limit is set.
    """

    engine: str
    name: str
    image: str | None
    user: str = ""
    userns: str = ""
    mounts: tuple[Mount, ...] = ()
    hidden: tuple[str, ...] = ()
    product: str = ""
    filter: str = ""
    writable_root: bool = False
    networked: bool = False
    memory: int | None = None
    cpus: float | None = None
    processes: int | None = None
    idle: float = 1800.0
    kept: bool = False
    state: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Hold:
    """What holds a launch; by itself, nothing.

    `limits` are the numbers of resource limits with what they are set to; `most_tasks`
    is how many processes and threads are counted by us, where the kernel does not.
    """

    restriction: Restriction | None = None
    room: Room | None = None
    container: Container | None = None
    limits: tuple[tuple[int, int], ...] = ()
    most_tasks: int | None = None


NOT_HELD = Hold()
"""What holds nothing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Launch:
    """One program to start: which, under which words, where, with which variables.

    `stdin` is what the program finds on descriptor 0; None means /dev/null. `jobs` are
    the process groups it may signal although other wardens started them, each by its
    leader and when that began. If its call `lingers`, what it leaves may go on for a while after
    the shell. `conversation` is whose it is, `workspace` the folder that a container has at
    /workspace.
    """

    executable: str
    argv: tuple[str, ...]
    cwd: PurePath
    environ: Mapping[str, str] = field(default_factory=dict[str, str])
    stdin: bytes | None = None
    jobs: tuple[tuple[int, int], ...] = ()
    lingers: bool = False
    conversation: str = ""
    workspace: PurePath | None = None
    hold: Hold = NOT_HELD

    def held(self, hold: Hold, environ: Mapping[str, str]) -> "Launch":
        """The same, with what holds it and the variables that go with that."""
        return Launch(
            executable=self.executable,
            argv=self.argv,
            cwd=self.cwd,
            environ=environ,
            stdin=self.stdin,
            jobs=self.jobs,
            lingers=self.lingers,
            conversation=self.conversation,
            workspace=self.workspace,
            hold=hold,
        )
