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
    from nacre.syntax.script import Script, Surroundings

__all__ = ("ScriptChecker", "policy_for")


def policy_for(
    dialect: str, layers: tuple["Layer", ...] = (), *, contained: bool = False
) -> "Policy":
    """What a dialect's document refuses, and what these layers of rules make of the rest.

    Raises:
        ConfigError: If there is no such dialect.
    """
    from nacre.policy.presets import preset

    return replace(preset(dialect, contained=contained), layers=layers)


# Agents run the same short scripts again and again.
_MOST_REMEMBERED = 256
_SHORT_SCRIPT = 2_000


class ScriptChecker:
    """Reads scripts and has them judged, all by the same policy.

    A verdict follows from the script and its surroundings alone, so those of the latest
    short scripts are remembered.
    """

    def __init__(
        self, dialect: str, layers: tuple["Layer", ...] = (), *, contained: bool = False
    ) -> None:
        self._dialect = dialect
        self._contained = contained
        self._layers = layers
        self._policy: Policy | None = None
        self._verdicts: dict[tuple[str, Surroundings], Verdict] = {}

    def check(self, text: str, surroundings: "Surroundings") -> Verdict:
        """Say whether a script may run, and why not."""
        if len(text) > _SHORT_SCRIPT:
            return self._judge(text, surroundings)
        known = self._verdicts.get((text, surroundings))
        if known is None:
            known = self._judge(text, surroundings)
            if len(self._verdicts) >= _MOST_REMEMBERED:
                self._verdicts.clear()
            self._verdicts[text, surroundings] = known
        return known

    def offer(self, text: str, surroundings: "Surroundings") -> tuple[str, ...]:
        """The rules that a yes for always would come to; none if it cannot be said."""
        return self._known_policy().offer(self._read(text, surroundings))

    def grants(
        self, text: str, surroundings: "Surroundings", rules: tuple[str, ...]
    ) -> tuple[str, ...]:
        """Those of the granted rules that answer all that is asked about a script, or none."""
        return self._known_policy().grants(self._read(text, surroundings), rules)

    def _known_policy(self) -> "Policy":
        if self._policy is None:
            self._policy = policy_for(self._dialect, self._layers, contained=self._contained)
        return self._policy

    def _read(self, text: str, surroundings: "Surroundings") -> "Script":
        from nacre.syntax.read import read

        return read(text, surroundings)

    def _judge(self, text: str, surroundings: "Surroundings") -> Verdict:
        policy = self._known_policy()
        script = self._read(text, surroundings)
        try:
            return policy.check(script)
        except Exception as failure:  # noqa: BLE001 (a fault in a guard must not let it through)
            reason = f"The script could not be judged: {failure!r}."
            return Verdict(decision=Decision.DENY, rule="fault", reason=reason, part=text)
