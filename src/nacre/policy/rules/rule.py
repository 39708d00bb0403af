"""One permission rule: what it is about, what it decides, where it is written."""

from nacre.errors import RuleError
from nacre.model.value import dataclass
from nacre.model.verdict import Decision
from nacre.policy.rules.pattern import Pattern, parse_pattern

__all__ = ("TOOL", "Rule", "parse_rule")

# The tool whose rules are about scripts; rules for others are kept, and match none.
TOOL = "Bash"

_EVERY_COMMAND = "*"


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """`Bash(git push:*)` in one of the lists, as `text` has it.

    `origin` says where it is written: `agentrail.yaml:4`. `reason` and `suggestion`
    are what its author wants the model to read. `pattern` is nothing for a rule
    that is about another tool.
    """

    text: str
    decision: Decision
    pattern: Pattern | None
    origin: str = ""
    reason: str = ""
    suggestion: str = ""

    @property
    def label(self) -> str:
        """The rule and where it is written."""
        return f"{self.text} ({self.origin})" if self.origin else self.text


def parse_rule(
    text: str,
    decision: Decision,
    *,
    origin: str = "",
    first_colon_is_blank: bool = False,
    reason: str = "",
    suggestion: str = "",
) -> Rule:
    """Read a rule as it is written in a list.

    Raises:
        RuleError: If it is not `Tool` or `Tool(pattern)`.
    """
    text = text.strip()
    tool, parenthesis, rest = text.partition("(")
    tool = tool.rstrip()
    if not text:
        raise RuleError("Invalid permission rule: empty string; write Bash, or Bash(git push:*)")
    if parenthesis and not rest.endswith(")"):
        raise _invalid(text, f"missing closing parenthesis; write {tool or TOOL}(...)")
    if not tool:
        raise _invalid(text, f"tool name is empty; write {TOOL}{text}")
    pattern = parse_pattern(
        rest.removesuffix(")") if parenthesis else _EVERY_COMMAND,
        first_colon_is_blank=first_colon_is_blank,
    )
    if pattern is None:
        raise _invalid(text, f"pattern inside parentheses is empty; write {tool} for every call")
    return Rule(
        text=text,
        decision=decision,
        pattern=pattern if tool == TOOL else None,
        origin=origin,
        reason=reason,
        suggestion=suggestion,
    )


def _invalid(text: str, why: str) -> RuleError:
    return RuleError(f'Invalid permission rule "{text:.100}": {why}')
