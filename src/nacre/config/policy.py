"""The policy a dialect and its rules come to, made when the first script is checked.

Importing a parser and the guards takes longer than all the rest of a start, so
nothing here does it before it must.
"""

from dataclasses import replace
from typing import TYPE_CHECKING

from nacre.model.verdict import Decision, Verdict

if TYPE_CHECKING:
    from nacre.policy.policy import Policy
    from nacre.policy.rules.layer import Layer
    from nacre.syntax.script import Surroundings

__all__ = ("ScriptChecker", "policy_for")


def policy_for(dialect: str, layers: tuple["Layer", ...] = ()) -> "Policy":
    """What a dialect's document refuses, and what these layers of rules make of the rest.

    Raises:
        ConfigError: If there is no such dialect.
    """
    from nacre.policy.presets import preset

    return replace(preset(dialect), layers=layers)


class ScriptChecker:
    """Reads scripts and has them judged, all by the same policy."""

    def __init__(self, dialect: str, layers: tuple["Layer", ...] = ()) -> None:
        self._dialect = dialect
        self._layers = layers
        self._policy: Policy | None = None

    def check(self, text: str, surroundings: "Surroundings") -> Verdict:
        """Say whether a script may run, and why not."""
        from nacre.syntax.read import read

        if self._policy is None:
            self._policy = policy_for(self._dialect, self._layers)
        script = read(text, surroundings)
        try:
            return self._policy.check(script)
        except Exception as failure:  # noqa: BLE001 (a fault in a guard must not let it through)
            reason = f"The script could not be judged: {failure!r}."
            return Verdict(decision=Decision.DENY, rule="fault", reason=reason, part=text)
