"""What rules say of a script, for tests."""

from nacre.model.verdict import Decision, Verdict
from nacre.policy.policy import Policy
from nacre.policy.rules.load import load_rules
from nacre.syntax.read import read
from nacre.syntax.script import Surroundings

__all__ = ("decision", "verdict")

HERE = Surroundings(cwd="/srv/proj", home="/home/me")


def verdict(script: str, /, **rules: object) -> Verdict:
    """What rules say, written in the plain notation."""
    return Policy(layers=(load_rules(rules, "rules"),)).check(read(script, HERE))


def decision(script: str, /, **rules: object) -> Decision:
    """What rules decide, written in the plain notation."""
    return verdict(script, **rules).decision
