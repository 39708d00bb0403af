"""What a pack says of a text, for the tests of packs."""

from nacre.model.verdict import Decision
from nacre.policy.guards.guard import Finding, Watch
from nacre.policy.packs import load
from nacre.syntax.read import read
from nacre.syntax.script import Surroundings

__all__ = ("decision", "findings")


def findings(pack: str, text: str, surroundings: Surroundings | None = None) -> list[Finding]:
    script = read(text, surroundings)
    watch = Watch((load(pack),))
    return [found for command in script.commands for found in watch.find(command, script)]


def decision(pack: str, text: str, surroundings: Surroundings | None = None) -> Decision:
    decisions = (found.decision for found in findings(pack, text, surroundings))
    return max(decisions, default=Decision.ALLOW)
