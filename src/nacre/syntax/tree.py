"""A script's grammar, as both parsers tell it.

Nothing is expanded here: a word is the parts it is written with. Positions are
characters of the text that was parsed. These are named tuples, not dataclasses,
because thousands are made for one script and they are made three times as fast.
"""

from enum import Enum
from typing import NamedTuple

from nacre.model.value import dataclass

__all__ = (
    "Arithmetic",
    "Array",
    "Assignment",
    "Compound",
    "CompoundKind",
    "Coproc",
    "Function",
    "Heredoc",
    "Item",
    "Node",
    "Parameter",
    "Part",
    "Pipeline",
    "RawWord",
    "Redirect",
    "Sequence",
    "Simple",
    "Span",
    "Substitution",
    "Text",
)


class Span(NamedTuple):
    """From one character to before another."""

    start: int
    end: int


class Text(NamedTuple):
    """Characters that stand for themselves, quotes and backslashes removed.

    Only in unquoted ones are `*`, `{`, `~` and blanks from expansion special.
    """

    value: str
    quoted: bool = False


class Parameter(NamedTuple):
    """`$name`, `${name}`, `${name<operator>operand}`.

    `operator` is the text between the name and its operand (`:-`, `##`, `@`,
    `[` for a subscript), after `!` when the name is taken from another variable
    and `length` for `${#name}`. An operand holds whatever follows, up to the brace.
    """

    name: str
    operator: str = ""
    operand: tuple["Part", ...] = ()
    quoted: bool = False


class Substitution(NamedTuple):
    """`$(...)`, backticks, `<(...)` and `>(...)`: commands inside a word."""

    opener: str
    body: "Sequence"
    quoted: bool = False


class Arithmetic(NamedTuple):
    """`$((...))`: its value is a number, its parts may run commands."""

    parts: tuple["Part", ...]


Part = Text | Parameter | Substitution | Arithmetic


class RawWord(NamedTuple):
    """One word as written."""

    span: Span
    parts: tuple[Part, ...]

    @property
    def plain(self) -> str | None:
        """Its text, if nothing in it could change: no quote, no expansion."""
        match self.parts:
            case (Text(value=value, quoted=False),):
                return value
            case _:
                return None


class Array(NamedTuple):
    """`(a b [k]=c)` as the value of an assignment."""

    words: tuple[RawWord, ...]


class Assignment(NamedTuple):
    """`name=value`, `name+=value`, `name[subscript]=value`, `name=(...)`."""

    span: Span
    name: str
    value: RawWord | Array
    append: bool = False
    subscript: RawWord | None = None


@dataclass(slots=True)
class Heredoc:
    """The lines of a here-document; with a quoted delimiter they are one quoted text.

    Filled in when the parser comes to the lines, and left alone from then on.
    """

    span: Span
    body: RawWord
    quoted: bool


class Redirect(NamedTuple):
    """`2>file`, `<<<word`, `<<EOF`, `{fd}>&-`.

    `descriptor` is what stands before the operator: digits, `{name}` or nothing.
    """

    span: Span
    operator: str
    descriptor: str = ""
    target: RawWord | None = None
    heredoc: Heredoc | None = None


class Simple(NamedTuple):
    """Assignments, words and redirections: what runs a command, or only assigns."""

    span: Span
    assignments: tuple[Assignment, ...] = ()
    words: tuple[RawWord, ...] = ()
    redirects: tuple[Redirect, ...] = ()


class Pipeline(NamedTuple):
    """Stages joined by `|` or `|&`; one stage when it is only timed or negated."""

    span: Span
    stages: tuple["Node", ...]


class Item(NamedTuple):
    """One member of a sequence, and what follows it: `;`, `&`, newline, `&&`, `||` or nothing."""

    node: "Node"
    separator: str = ""


class Sequence(NamedTuple):
    """Commands one after another."""

    span: Span
    items: tuple[Item, ...] = ()


class CompoundKind(Enum):
    """What kind of compound command it is."""

    SUBSHELL = "("
    GROUP = "{"
    IF = "if"
    WHILE = "while"
    UNTIL = "until"
    FOR = "for"
    SELECT = "select"
    ARITHMETIC_FOR = "for(("
    CASE = "case"
    TEST = "[["
    ARITHMETIC = "(("


class Compound(NamedTuple):
    """A compound command: its bodies in the order written, the words it expands.

    `words` are a loop's values, a case's subject and patterns, the operands of a
    test, the text of an arithmetic command. `name` is a loop's variable.
    """

    span: Span
    kind: CompoundKind
    bodies: tuple[Sequence, ...] = ()
    words: tuple[RawWord, ...] = ()
    name: str = ""
    redirects: tuple[Redirect, ...] = ()


class Function(NamedTuple):
    """`name() body`: defined here, run where it is called."""

    span: Span
    name: str
    body: "Node"


class Coproc(NamedTuple):
    """`coproc [NAME] command`."""

    span: Span
    body: "Node"


Node = Simple | Pipeline | Sequence | Compound | Function | Coproc
