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

    def offer(self, text: str, surroundings: Surroundings) -> tuple[str, ...]:
        """Nothing is asked, so there is nothing to remember."""
        del text, surroundings
        return ()

    def grants(
        self, text: str, surroundings: Surroundings, rules: tuple[str, ...]
    ) -> tuple[str, ...]:
        """Nothing is asked, so nothing is granted."""
        del text, surroundings, rules
        return ()
