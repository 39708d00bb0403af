"""What is decided about a script before it runs."""

from typing import Protocol

from nacre.model.verdict import Decision, Verdict

__all__ = ("AllowEverything", "Policy")


class Policy(Protocol):
    """Decides about scripts, and does nothing else: no I/O, no clock, no exception."""

    def check(self, script: str) -> Verdict:
        """Say whether a script may run, and why not."""
        ...


class AllowEverything:
    """No rules at all."""

    def check(self, script: str) -> Verdict:
        """Allow it."""
        del script
        return Verdict(decision=Decision.ALLOW)
