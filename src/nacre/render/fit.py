"""Find how much of a raw text fits a budget once it is cleaned."""

from collections.abc import Callable

from nacre.model.value import dataclass
from nacre.render.raw import readable
from nacre.render.terminal import clean

__all__ = ("Piece", "fit", "piece")

# Guesses at the size of a piece. Plain text needs one, coloured text two or
# three; more are for text whose density changes.
_GUESSES = 8

# A piece this near to its budget is not worth another guess; guesses aim
# between the two, because a text is never quite even.
_NEAR = 0.9
_AIM = 0.96


@dataclass(frozen=True, slots=True)
class Piece:
    """A part of a raw text, and what a person would have seen of it."""

    raw: str
    text: str


def piece(raw: str) -> Piece:
    """Clean a part of a raw text."""
    return Piece(raw, clean(readable(raw)))


def fit(raw: str, budget: int, take: Callable[[str, int], str]) -> Piece:
    """Return a piece whose cleaned text is within a budget, and near it if it can be.

    `take` cuts a text to a size, from the start or from the end. Progress bars
    clean to almost nothing, so the piece may be many times the budget.
    """
    best, low, high = Piece("", ""), 0, len(raw) + 1
    size = min(budget, len(raw))
    for _ in range(_GUESSES):
        if not low < size < high:
            break
        found = piece(raw if size == len(raw) else take(raw, size))
        length = len(found.text)
        if length > budget:
            high = size
        else:
            best, low = found, size
            if length >= _NEAR * budget or found.text == found.raw:
                break
        guess = min(len(raw), int(size * _AIM * budget / max(1, length)))
        size = guess if low < guess < high else (low + high) // 2
    return best
