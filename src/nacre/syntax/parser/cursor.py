"""A place in a text that is parsed."""

from abc import ABC, abstractmethod
from typing import Protocol, TypeVar, cast

from nacre.model.expression import expression
from nacre.syntax.budget import Budget, OverBudgetError
from nacre.syntax.tree import Part, Sequence, Span

__all__ = ("Cursor", "NotBashError", "new")

_DEEPEST = 40

_T = TypeVar("_T")


class _New(Protocol):
    def __call__(self, kind: type[_T], fields: tuple[object, ...], /) -> _T: ...


# Half the time of calling a named tuple's class, where thousands of them are made.
new = cast("_New", tuple.__new__)
_CONTINUED = expression(r"(?:\\\n)+")


class NotBashError(Exception):
    """Bash would report a syntax error here."""


class Cursor(ABC):
    """A place in a text, moving on.

    `at` is where the text stands in the whole script: an offset, or a fixed span
    if its characters are not the script's own (the inside of backticks). `continued`
    says whether a backslash before a newline may stand inside of a word or operator.
    """

    def __init__(self, text: str, budget: Budget, at: int | Span = 0, depth: int = 0) -> None:
        self.text = text
        self.pos: int = 0
        self.budget = budget
        self.at = at
        self.depth: int = depth
        # Most continued lines end in a blank, which cuts nothing in two.
        self.continued = text.count("\\\n") > text.count(" \\\n")

    @abstractmethod
    def commands(self, closer: str) -> Sequence:
        """Read commands up to a closing `)` or `}`, and past it."""

    @abstractmethod
    def inside(self, text: str, at: int | Span) -> Sequence:
        """Read a text of its own, to its end."""

    @abstractmethod
    def special(self, parts: list[Part]) -> None:
        """Read a quote, an escape or an expansion of unquoted text."""

    @abstractmethod
    def double(self, parts: list[Part]) -> None:
        """Read from after an opening double quote to past the closing one."""

    def span(self, start: int, end: int) -> Span:
        """Where characters of this text stand in the script."""
        at = self.at
        return new(Span, (at + start, at + end)) if isinstance(at, int) else at

    def deeper(self) -> None:
        """Enter one more level of nesting.

        Raises:
            OverBudgetError: If this is one too many.
        """
        self.depth += 1
        if self.depth > _DEEPEST:
            raise OverBudgetError("it is nested too deep to be read")

    def skip_continuations(self) -> None:
        """Skip backslashes before newlines, which bash removes before it looks."""
        if self.continued and (found := _CONTINUED.match(self.text, self.pos)):
            self.pos = found.end()
