"""One layer of rules: lists that deny, ask and allow, and what holds for the rest."""

from collections.abc import Iterator
from dataclasses import field
from enum import Enum
from typing import NamedTuple, Protocol

from nacre.model.value import dataclass
from nacre.model.verdict import Decision
from nacre.policy.rules.against import Against, runs_unknown_code
from nacre.policy.rules.cover import Allowed, Cover
from nacre.policy.rules.pattern import Likeness
from nacre.policy.rules.rule import Rule
from nacre.policy.rules.ruling import Ruling, excerpt, strictest, unread
from nacre.syntax.script import Script
from nacre.syntax.tree import Span

__all__ = ("Layer", "Mode", "RuleLists")


class Layer(Protocol):
    """Rules from one source, judged by themselves: no layer loosens another."""

    def judge(self, script: Script) -> Ruling | None:
        """The strictest thing the rules say of a script; nothing if they allow it."""
        ...


class Mode(Enum):
    """What holds where no rule speaks, and what becomes of asking."""

    DEFAULT = "default"  # the rest is allowed
    STRICT = "strict"  # the rest is denied
    ACCEPT_EDITS = "acceptEdits"  # about tools that edit; for scripts the same as default
    DONT_ASK = "dontAsk"  # what would be asked is denied
    BYPASS = "bypassPermissions"  # nothing is asked; what is denied stays denied


class _Match(NamedTuple):
    decision: Decision
    span: Span
    rule: Rule
    likeness: Likeness


@dataclass(frozen=True, slots=True, kw_only=True)
class RuleLists:
    """The lists of one file, flag or object: deny beats ask, ask beats allow.

    `default` is for what no rule matches, and beats that of the mode. `origin`
    says where the layer is written.
    """

    deny: tuple[Rule, ...] = ()
    ask: tuple[Rule, ...] = ()
    allow: tuple[Rule, ...] = ()
    mode: Mode = Mode.DEFAULT
    default: Decision | None = None
    origin: str = ""
    _against: Against = field(init=False, repr=False, compare=False)
    _allowed: Allowed = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        asks = () if self.mode is Mode.BYPASS else self.ask
        object.__setattr__(self, "_against", Against((*self.deny, *asks)))
        # What a rule asks about is not what no rule speaks of.
        object.__setattr__(self, "_allowed", Allowed((*self.allow, *asks)))

    def judge(self, script: Script) -> Ruling | None:
        """The strictest thing the lists say of a script; nothing if they allow it."""
        rest = self._rest
        if not (rest or self.deny or self.ask or self.allow):
            return None
        found = strictest(self._matches(script))
        rulings = [self._ruling(found, script)] if found else []
        if script.unreadable:
            rulings.append(unread(script, max(rest, self._asked(Decision.ASK)), self.origin))
        elif rest and not (found and found.decision is Decision.DENY):
            rulings.extend(self._uncovered(script, rest))
        return strictest(rulings)

    @property
    def _rest(self) -> Decision:
        """What becomes of a command that no rule matches."""
        strict = Decision.DENY if self.mode is Mode.STRICT else Decision.ALLOW
        return self._asked(strict if self.default is None else self.default)

    def _asked(self, decision: Decision) -> Decision:
        if self.mode is Mode.DONT_ASK and decision is Decision.ASK:
            return Decision.DENY
        return decision

    def _matches(self, script: Script) -> Iterator[_Match]:
        for rule in self._against.everything:
            yield self._match(rule, Likeness.SURELY, Span(0, len(script.text)))
        first = self._against.first
        for at, command in enumerate(script.commands):
            for rule, likeness in self._against.meant(command, script):
                yield self._match(rule, likeness, command.span)
            if first and runs_unknown_code(script, at):
                yield self._match(first, Likeness.PERHAPS, command.span)

    def _match(self, rule: Rule, likeness: Likeness, span: Span) -> _Match:
        decision = rule.decision if likeness is Likeness.SURELY else Decision.ASK
        return _Match(self._asked(decision), span, rule, likeness)

    def _ruling(self, match: _Match, script: Script) -> Ruling:
        rule, part = match.rule, excerpt(script, match.span)
        if match.likeness is not Likeness.SURELY:
            reason = f"`{part}` could be what the rule {rule.label} is about."
            suggestion = "Write the command out, without variables, and call again."
        elif rule.decision is Decision.DENY:
            reason = rule.reason or f"`{part}` is denied by the rule {rule.label}."
            suggestion = "Do it another way, or ask the user to change the rule."
        else:
            unasked = ", and in this mode nobody is asked" if match.decision > Decision.ASK else ""
            reason = rule.reason or f"`{part}` needs approval by the rule {rule.label}{unasked}."
            suggestion = "Ask the user to approve it."
        return Ruling(
            decision=match.decision,
            span=match.span,
            rule=rule.label,
            reason=reason,
            suggestion=rule.suggestion or suggestion,
            stated=bool(rule.reason) and match.likeness is Likeness.SURELY,
        )

    def _uncovered(self, script: Script, rest: Decision) -> Iterator[Ruling]:
        """The first part that no rule allows, if there is one."""
        gap = Cover(self._allowed, script).gap()
        if gap is None:
            return
        span, why = gap
        what = "needs approval" if rest is Decision.ASK else "is not allowed"
        source = self.mode.value if self.default is None else "default"
        yield Ruling(
            decision=rest,
            span=span,
            rule=f"{source} ({self.origin})" if self.origin else source,
            reason=f"`{excerpt(script, span)}` {what}: {why}.",
            suggestion="Ask the user to approve it, or to add a rule that allows it.",
        )
