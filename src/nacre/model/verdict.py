"""What the policy said of a script."""

from dataclasses import dataclass
from enum import IntEnum

__all__ = ("Decision", "Verdict")


class Decision(IntEnum):
    """Ordered by strictness, so the strictest of several is `max(...)`."""

    ALLOW = 0
    ASK = 1
    DENY = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """A decision about one script, with one sentence of reason."""

    decision: Decision
    reason: str = ""
