"""The first parser: tree-sitter-bash, where its tree can be trusted.

It gives the structure; every word is read by the lexer of the strict parser, and
where the two do not agree on a border there is no tree.

Its time grows with the square of a text that is not bash, and it cannot be
stopped from outside. So it is fed piece by piece, and starved when its time is up.
"""

import time
from typing import TYPE_CHECKING

from nacre.syntax.budget import Budget, OverBudgetError
from nacre.syntax.parser.cursor import NotBashError
from nacre.syntax.parser.guided import DistrustError, Guided
from nacre.syntax.tree import Sequence

if TYPE_CHECKING:
    from tree_sitter import Node

__all__ = ("parse_with_treesitter",)

_LONGEST = 4_096
_PIECE = 256
_PARSING_NANOSECONDS = 2_000_000
_READING_NANOSECONDS = 8_000_000


def parse_with_treesitter(text: str, budget: Budget) -> Sequence | None:
    """Read a text, or say with nothing that the strict parser must read it; never raises.

    Only a tree is paid for from the budget, so that the strict parser has all of it.
    """
    if len(text) > _LONGEST or "\0" in text or "<<" in text.replace("<<<", ""):
        return None
    # One byte for each character, so that positions mean the same in both texts: beyond
    # ASCII there are only parts of words, and so are the question marks put in their place.
    root = _parse(text.encode("ascii", "replace"))
    if root is None:
        return None
    own = Budget(budget.left, _READING_NANOSECONDS)
    try:
        tree = Guided(text, own).program(root)
    except (DistrustError, NotBashError, OverBudgetError, RecursionError):
        return None
    except (LookupError, ValueError):
        # The tree has not the shape that trees of its kind have.
        return None
    if own.flaw:
        return None
    budget.left = own.left
    return tree


def _parse(source: bytes) -> "Node | None":
    """The root of tree-sitter's tree, unless it has errors or took too long."""
    # Importing takes longer than reading a hundred scripts.
    from tree_sitter import Language, Parser
    from tree_sitter_bash import language

    # Making a parser takes a microsecond; sharing one between threads would need a lock.
    parser = Parser(Language(language()))
    if len(source) <= _PIECE:
        root = parser.parse(source).root_node
        return None if root.has_error else root
    deadline = time.thread_time_ns() + _PARSING_NANOSECONDS
    starved = False

    def read(offset: int, _point: object) -> bytes:
        nonlocal starved
        starved = starved or time.thread_time_ns() > deadline
        return b"" if starved else source[offset : offset + _PIECE]

    root = parser.parse(read).root_node
    return None if starved or root.has_error else root
