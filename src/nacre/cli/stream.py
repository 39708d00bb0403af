"""Many scripts checked by one process: an object a line in, an object a line out."""

import json
import os
from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING, cast

from nacre.config.policy import policy_for
from nacre.config.rules import layer_of_rules
from nacre.errors import CallError, NacreError
from nacre.syntax.script import Surroundings

if TYPE_CHECKING:
    from nacre.policy.policy import Policy
    from nacre.policy.rules.layer import Layer

__all__ = ("Answers",)

_POLICIES = 1024


class Answers:
    """Answers to lines, each by its own dialect and rules, beside those that hold for all."""

    def __init__(
        self, dialect: str, layers: tuple["Layer", ...], surroundings: Surroundings
    ) -> None:
        from nacre.syntax.read import read

        self._dialect = dialect
        self._layers = layers
        self._surroundings = surroundings
        self._read = read
        self._policy = lru_cache(_POLICIES)(self._make_policy)

    def to(self, line: bytes) -> bytes:
        """The answer to one line, whatever it holds; it ends with a newline."""
        asked: object = None
        try:
            asked = _parsed(line)
            answer = self._answer(_Question(asked))
        except NacreError as error:
            answer = _failed(str(error))
        except Exception as error:  # noqa: BLE001 (one script must not end the answers to all others)
            answer = _failed(f"it could not be checked: {error!r}")
        known = cast("dict[str, object]", asked) if isinstance(asked, dict) else {}
        return json.dumps({"id": known.get("id"), **answer}).encode() + b"\n"

    def _answer(self, question: "_Question") -> dict[str, object]:
        policy = self._policy(question.text("dialect") or self._dialect, question.rules())
        cwd = question.text("cwd")
        where = self._surroundings
        if cwd:
            where = replace(where, cwd=os.path.join(where.cwd or "/", cwd))
        verdict = policy.check(self._read(question.script(), where))
        return {
            "decision": verdict.decision.name.lower(),
            "reason": verdict.reason,
            "part": verdict.part,
            "rule": verdict.rule,
        }

    def _make_policy(self, dialect: str, rules: str) -> "Policy":
        layers = self._layers
        if rules:
            layers = (*layers, layer_of_rules(json.loads(rules), dialect))
        return policy_for(dialect, layers)


def _failed(why: str) -> dict[str, object]:
    """The answer to what could not be judged: whoever looks at the decision alone is told no."""
    return {"decision": "deny", "reason": why, "part": "", "error": why}


class _Question:
    """One line that was asked."""

    def __init__(self, asked: object) -> None:
        if not isinstance(asked, dict):
            raise CallError(f"a line must be an object with a 'script', not {asked!r:.60}")
        self.given = cast("dict[str, object]", asked)

    def script(self) -> str:
        """What it asks about."""
        script = self.text("script")
        if script is None:
            raise CallError("the object has no 'script'")
        return script

    def rules(self) -> str:
        """Its rules as a text that can be compared; empty if it has none."""
        rules = self.given.get("rules")
        if rules is None:
            return ""
        if not isinstance(rules, dict):
            raise CallError(f"'rules' must be an object, not {rules!r:.60}")
        return json.dumps(rules, sort_keys=True)

    def text(self, name: str) -> str | None:
        """One of its strings, if it is there."""
        value = self.given.get(name)
        if value is None or isinstance(value, str):
            return value
        raise CallError(f"{name!r} must be a string, not {value!r:.60}")


def _parsed(line: bytes) -> object:
    try:
        return json.loads(line)
    except (ValueError, RecursionError) as error:
        raise CallError(f"the line is not JSON: {error}") from None
