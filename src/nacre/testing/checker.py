"""A checker with no opinion, for tests of what comes after the check."""

from nacre.model.verdict import Decision, Verdict
from nacre.syntax.script import Surroundings

__all__ = ("AllowEverything",)


class AllowEverything:
    """Lets every script run."""

    def check(self, text: str, surroundings: Surroundings) -> Verdict:
        """Allow it."""
        del text, surroundings
        return Verdict(decision=Decision.ALLOW)
