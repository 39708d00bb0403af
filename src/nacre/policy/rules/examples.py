"""Examples that a rule carries, tried when it is loaded."""

from nacre.errors import RuleError
from nacre.model.verdict import Decision
from nacre.policy.rules.against import Against
from nacre.policy.rules.cover import Allowed, Cover
from nacre.policy.rules.pattern import Likeness
from nacre.policy.rules.rule import Rule
from nacre.syntax.read import read
from nacre.syntax.script import Script

__all__ = ("check_example",)


def check_example(rule: Rule, example: str, *, wanted: bool) -> None:
    """Try a rule on a script that it is said to match, or not to match.

    Raises:
        RuleError: If it is otherwise, or the script cannot be read.
    """
    script = read(example)
    if script.unreadable:
        raise RuleError(f"the example {example!r:.100} cannot be read: {script.unreadable}")
    if _matches(rule, script) is wanted:
        return
    if wanted:
        raise RuleError(
            f"the rule {rule.text} does not match its example {example!r:.100}: mend one of them"
        )
    raise RuleError(
        f"the rule {rule.text} matches {example!r:.100}, which it should not: mend one of them"
    )


def _matches(rule: Rule, script: Script) -> bool:
    if rule.pattern is None:
        return False
    if rule.decision is Decision.ALLOW:
        return bool(script.commands) and Cover(Allowed((rule,)), script).gap() is None
    against = Against((rule,))
    return bool(against.everything) or any(
        likeness is Likeness.SURELY
        for command in script.commands
        for _, likeness in against.meant(command, script)
    )
