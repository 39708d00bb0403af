"""Cut a text in the middle, at line borders where it can be."""

from nacre.model.value import dataclass

__all__ = ("Excerpt", "excerpt", "leading", "tail_share", "trailing")


@dataclass(frozen=True, slots=True, kw_only=True)
class Excerpt:
    """The start and the end of a text, and how much lay between them.

    `hidden` characters are in neither, in `hidden_lines` lines of which the
    first and the last may be partly visible. A text that fits is all `head`.
    """

    head: str
    tail: str = ""
    hidden: int = 0
    hidden_lines: int = 0


def excerpt(text: str, budget: int) -> Excerpt:
    """Keep about two fifths of a budget of characters from the start, the rest from the end.

    The end gets more because errors come last. Never keeps more than the budget.
    """
    budget = max(0, budget)
    if len(text) <= budget:
        return Excerpt(head=text)
    tail = trailing(text, tail_share(budget))
    head = leading(text, budget - len(tail))
    hidden = text[len(head) : len(text) - len(tail)]
    return Excerpt(head=head, tail=tail, hidden=len(hidden), hidden_lines=_lines(hidden))


def tail_share(budget: int) -> int:
    """What of a budget is for the end of a text."""
    return budget - budget * 2 // 5


def leading(text: str, size: int) -> str:
    """Take the first `size` characters, without the line that ends beyond them.

    Unless that line is most of it: an enormous line is cut inside, not dropped.
    """
    border = text.rfind("\n", 0, size) + 1
    return text[: border if 2 * border >= size else size]


def trailing(text: str, size: int) -> str:
    """Take the last `size` characters, without the line that starts before them.

    Unless that line is most of it: an enormous line is cut inside, not dropped.
    """
    start = max(0, len(text) - size)
    border = text.find("\n", max(0, start - 1)) + 1
    return text[border if border and 2 * (len(text) - border) >= size else start :]


def _lines(text: str) -> int:
    return text.count("\n") + (not text.endswith("\n"))
