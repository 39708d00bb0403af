"""What the policy said of a script."""

from enum import IntEnum

from nacre.model.value import dataclass

__all__ = ("Decision", "Verdict")


class Decision(IntEnum):
    """Ordered by strictness, so the strictest of several is `max(...)`."""

    ALLOW = 0
    ASK = 1
    DENY = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """A decision about one script, and what it rests on.

    `rule` names the rule or guard (`hazards.git-add`, `Bash(rm:*)`), `part` is
    the text it is about and `span` where that stands in the script's bytes,
    `reason` is one sentence, `suggestion` what to do instead. `stated` says that
    the reason is the words of whoever wrote the rule or guard, and not put together
    from what the rule says.
    """

    decision: Decision
    reason: str = ""
    rule: str = ""
    part: str = ""
    span: tuple[int, int] | None = None
    suggestion: str = ""
    stated: bool = False
