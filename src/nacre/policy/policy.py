"""What is decided about a script before it runs.

    Script ──guards, layers of rules──▶ Verdict

Guards are built in, and no rule overrides them. Each layer of rules is judged by
itself. The strictest of all that was said is the verdict.
"""

from collections.abc import Callable, Iterator
from dataclasses import field
from itertools import islice
from typing import TYPE_CHECKING

from nacre.model.value import dataclass
from nacre.model.verdict import Decision, Verdict
from nacre.policy.guards.guard import Finding, Pack, Watch
from nacre.policy.rules.ruling import Ruling, strictest, unread
from nacre.syntax.script import Script, ViaKind
from nacre.syntax.tree import Span

if TYPE_CHECKING:
    from nacre.policy.rules.layer import Layer

__all__ = ("Policy",)

_ALLOWED = Verdict(decision=Decision.ALLOW)
# More than this is nothing that a person would read before a yes.
_MOST_GRANTS = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    """Guards and rules. Decides, and does nothing else: no I/O, no clock, no exception.

    `unreadable` is what a script that cannot be read is worth as far as the guards
    go; under rules it is never allowed. `through` are the ways of running a command
    that guards look through, all if there are none. `wording` puts what a guard
    found into a dialect's words. With `guards_first`, what a guard found is told
    before a rule that is as strict, wherever in the script that one applies.
    """

    packs: tuple[Pack, ...] = ()
    layers: "tuple[Layer, ...]" = ()
    unreadable: Decision = Decision.ASK
    through: frozenset[ViaKind] | None = None
    wording: Callable[[Finding, Script], str] | None = None
    guards_first: bool = False
    watch: Watch = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "watch", Watch(self.packs))

    def check(self, script: Script) -> Verdict:
        """Say whether a script may run, and if not, why and what to do instead."""
        finding = strictest(self._findings(script))
        rulings = [ruling for layer in self.layers if (ruling := layer.judge(script))]
        if worth := self._worth(script):
            rulings.append(unread(script, worth, ""))
        ruling = strictest(rulings)
        if finding is None or (ruling is not None and self._goes_before(ruling, finding)):
            return _verdict(ruling, script) if ruling else _ALLOWED
        return _verdict(self._worded(finding, script), script)

    def offer(self, script: Script) -> tuple[str, ...]:
        """The narrowest rules that cover all that is asked about a script; none if some cannot be."""
        rules: tuple[str, ...] = ()
        while not self.grants(script, rules):
            # One more than can be offered is enough to know that there are too many.
            more = tuple(islice(self._narrowest(script, rules), _MOST_GRANTS + 1))
            grown = tuple(dict.fromkeys((*rules, *more)))
            if not all(more) or grown == rules or len(grown) > _MOST_GRANTS:
                return ()
            rules = grown
        return rules

    def grants(self, script: Script, rules: tuple[str, ...]) -> tuple[str, ...]:
        """Those of the granted rules that answer all that is asked about a script, or none.

        What a guard found is nobody's to grant.
        """
        from nacre.policy.rules.grants import granted, without

        covered = granted(script, rules)
        if not covered or self._worth(script) or any(self._findings(script)):
            return ()
        rulings = [layer.judge(script) for layer in self.layers]
        if any(each and each.decision is Decision.DENY for each in rulings):
            return ()
        rest = without(script, covered)
        if rest.commands and any(layer.judge(rest) for layer in self.layers):
            return ()
        return tuple(dict.fromkeys(covered.values()))

    def _narrowest(self, script: Script, rules: tuple[str, ...]) -> Iterator[str]:
        """Rules for what is asked next, empty where there can be none."""
        from nacre.policy.rules.grants import grantable, granted, without

        covered = granted(script, rules)
        rest = without(script, covered)
        asked = strictest(ruling for layer in self.layers if (ruling := layer.judge(rest)))
        plain = [
            (at, each)
            for at, each in enumerate(script.commands)
            if at not in covered and not each.via
        ]
        meant = [at for at, each in plain if asked and each.span == asked.span]
        # What is asked about the whole is asked about each of its commands.
        yield from (grantable(script, at) for at in meant or [at for at, _ in plain])

    def _worth(self, script: Script) -> Decision:
        """What is left of a script that could not be read, or was too much to be read."""
        return self.unreadable if script.unreadable else Decision.ALLOW

    def _findings(self, script: Script) -> Iterator[Finding]:
        if not self.packs:
            return
        find, through = self.watch.find, self.through
        for command in script.commands:
            if through is None or all(via.kind in through for via in command.via):
                yield from (each for each in find(command, script) if each.decision)

    def _goes_before(self, ruling: Ruling, finding: Finding) -> bool:
        """Whether a ruling is stricter, or as strict and about an earlier part."""
        if ruling.decision is not finding.decision:
            return ruling.decision > finding.decision
        return not self.guards_first and ruling.span.start < finding.span.start

    def _worded(self, finding: Finding, script: Script) -> Ruling:
        return Ruling(
            decision=finding.decision,
            span=finding.span,
            rule=finding.rule,
            reason=self.wording(finding, script) if self.wording else finding.reason,
            suggestion=finding.suggestion,
            stated=True,
        )


def _verdict(ruling: Ruling, script: Script) -> Verdict:
    text, span = script.text, ruling.span
    return Verdict(
        decision=ruling.decision,
        reason=ruling.reason,
        rule=ruling.rule,
        part=text[slice(*span)],
        span=_in_bytes(text, span),
        suggestion=ruling.suggestion,
        stated=ruling.stated,
    )


def _in_bytes(text: str, span: Span) -> tuple[int, int]:
    if text.isascii():
        return span.start, span.end
    start = len(text[: span.start].encode(errors="surrogatepass"))
    return start, start + len(text[slice(*span)].encode(errors="surrogatepass"))
