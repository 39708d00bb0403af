"""Text to tree: tree-sitter-bash where it can be trusted, the strict parser elsewhere."""

from typing import NamedTuple

from nacre.syntax.budget import Budget, OverBudgetError
from nacre.syntax.parser.cursor import NotBashError
from nacre.syntax.parser.grammar import Grammar
from nacre.syntax.tree import Sequence, Span

__all__ = ("Parsed", "parse")

# A shorter text is read by the strict parser in less time than handing it over takes.
_SHORT = 512


class Parsed(NamedTuple):
    """A tree of the text up to `end`, and why it ends there if that is too early."""

    tree: Sequence
    end: int
    error: str = ""
    over_budget: bool = False


def parse(text: str, budget: Budget | None = None, at: int | Span = 0, depth: int = 0) -> Parsed:
    """Read a text as bash would; never raises.

    `at` is where the text stands in a larger one, or what stands for it there;
    `depth` is how deeply it is nested already.
    """
    budget = budget or Budget()
    try:
        if at == 0 and depth == 0 and len(text) >= _SHORT:
            from nacre.syntax.parser.treesitter import parse_with_treesitter

            if tree := parse_with_treesitter(text, budget):
                return Parsed(tree, len(text))
        progress = Grammar(text, budget, at, depth).lines((NotBashError, OverBudgetError))
    except (OverBudgetError, RecursionError) as error:
        return Parsed(Sequence(Span(0, 0)), 0, str(error), over_budget=True)
    failure = progress.error or budget.flaw
    over_budget = isinstance(failure, OverBudgetError)
    return Parsed(progress.tree, progress.end, str(failure or ""), over_budget)
