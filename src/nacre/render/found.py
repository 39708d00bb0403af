"""Where a secret was found."""

from nacre.model.value import dataclass

__all__ = ("Found",)


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """A secret in some bytes: from `start` to `end`.

    It was recognised by what begins at `anchor`. Of secrets that begin together, the
    one of the lowest rank says what it is.
    """

    anchor: int
    start: int
    end: int
    kind: str
    rank: int = -1
