"""A script as the policy sees it: every simple command that could run.

    text ──parse──▶ tree ──read──▶ Script

A command that runs another (`sudo`, `xargs`, `bash -c`, a heredoc into a shell)
is listed itself, and right after it what it runs, with `via` saying through what.
So a rule that denies looks at every command; one that allows looks at those
that are written plainly.
"""

from collections.abc import Callable
from dataclasses import field
from enum import Enum
from posixpath import normpath
from typing import NamedTuple, TypeVar, cast

from nacre.model.value import dataclass
from nacre.syntax.tree import Span
from nacre.syntax.word import CWD, Word, known

__all__ = (
    "Assigned",
    "Command",
    "Place",
    "Redirection",
    "Script",
    "Surroundings",
    "Via",
    "ViaKind",
)

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Surroundings:
    """Where a script would start, as far as it is known: absolute paths."""

    cwd: str | None = None
    home: str | None = None

    def __post_init__(self) -> None:
        for name in ("cwd", "home"):
            if path := getattr(self, name):
                object.__setattr__(self, name, normpath(path))


class ViaKind(Enum):
    """How one command runs another."""

    TRANSPARENT = "transparent"  # changes nothing that an allow rule cares about: `timeout`, `time`
    EXEC = "exec"  # its own words are the command: `sudo`, `env`, `setsid`
    FANOUT = "fanout"  # runs it for each of many: `xargs`, `find -exec`
    REMOTE = "remote"  # elsewhere: `ssh`, `docker exec`
    CODE = "code"  # a text is read as bash: `bash -c`, `eval`, a heredoc into a shell
    INTERPRETER = "interpreter"  # found in the code of another language
    FUNCTION = "function"  # the body of a function that is called

    # Enum's own is written in Python, and these are looked up for every command.
    __hash__ = object.__hash__


class Via(NamedTuple):
    """What a command is run through: `Via(ViaKind.EXEC, "sudo")`."""

    kind: ViaKind
    name: str


class Place(Enum):
    """Where in the script a command stands."""

    PIPED_IN = "reads the command before it"
    PIPED_OUT = "writes to the command after it"
    BACKGROUND = "runs in the background"
    SUBSTITUTION = "its output becomes part of a word"
    FUNCTION = "in the body of a function"
    LOOP = "in a loop"
    ITERATES = "gives a loop its values"
    BRANCH = "runs only if something else says so"
    SUBSHELL = "in a shell of its own"
    GUESSED = "taken from the words of a text that could not be parsed"

    __hash__ = object.__hash__


class Assigned(NamedTuple):
    """A variable that is given a value: before a command, or by a command of its own."""

    name: str
    words: tuple[Word, ...]


@dataclass(frozen=True, slots=True)
class Redirection:
    """Where a descriptor of a command leads.

    `target` is the file, descriptor or here-string; `body` the text of a
    here-document, whose expansions are known only if its delimiter is unquoted.
    """

    operator: str
    descriptor: str = ""
    target: Word | None = None
    body: Word | None = None

    @property
    def reads(self) -> bool:
        """Whether a file's content comes in."""
        return self.operator in {"<", "<>"}

    @property
    def writes(self) -> bool:
        """Whether a file is written, made or emptied."""
        return self.operator in {">", ">>", ">|", "&>", "&>>", "<>"} or (
            self.operator == ">&" and not self._duplicates
        )

    @property
    def _duplicates(self) -> bool:
        value = self.target.value if self.target else None
        return value is not None and (value == "-" or value.rstrip("-").isdigit())


@dataclass(frozen=True, slots=True)
class Command:
    """One simple command that could run.

    `words` are its name and arguments after expansion; none if it only assigns
    or redirects. `names` are what it could be called, without folders; none if
    nothing is known of it. `span` is the part of the script that runs it. `cwd` is the
    template of the directory it runs in. Commands with the same `pipeline` and
    the next `stage` are joined by a pipe.
    """

    words: tuple[Word, ...]
    span: Span
    assignments: tuple[Assigned, ...] = ()
    redirections: tuple[Redirection, ...] = ()
    via: tuple[Via, ...] = ()
    places: frozenset[Place] = frozenset()
    cwd: str = CWD
    pipeline: int = 0
    stage: int = 0
    names: tuple[str, ...] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        names = [each.rpartition("/")[2] for each in self.words[0].templates] if self.words else ()
        object.__setattr__(self, "names", tuple([name for name in names if known(name)]))

    @property
    def opaque(self) -> bool:
        """Whether it could be a command that is not known."""
        return bool(self.words) and self.words[0].opaque

    @property
    def remote(self) -> bool:
        """Whether it runs on another machine or in a container."""
        return any(via.kind is ViaKind.REMOTE for via in self.via)


@dataclass(frozen=True, slots=True, kw_only=True)
class Script:
    """A text and the commands found in it.

    `unreadable` says why the text, or some of it, could not be read; the commands
    are then what came before, and what its words look like after (`Place.GUESSED`).
    Such a script is never allowed by a rule. `over_budget` says that there was
    too much of it, not that it is no bash.
    """

    text: str
    commands: tuple[Command, ...]
    unreadable: str = ""
    over_budget: bool = False
    surroundings: Surroundings = field(default_factory=Surroundings)
    _found: dict[object, object] = field(
        default_factory=dict, init=False, repr=False, compare=False
    )

    def once(self, work_out: "Callable[[Script], T]") -> T:
        """Something that is asked for each of its commands, worked out the first time."""
        if work_out not in self._found:
            self._found[work_out] = work_out(self)
        return cast("T", self._found[work_out])
