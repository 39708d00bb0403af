"""Rules that forbid or ask: which of them could mean a command of a script."""

from collections.abc import Iterator, Sequence

from nacre.model.expression import expression
from nacre.policy.rules.lines import possible_lines
from nacre.policy.rules.pattern import Likeness, Pattern, collapsed
from nacre.policy.rules.rule import Rule
from nacre.syntax.script import Command, Place, Script
from nacre.syntax.word import MARKS

__all__ = ("Against", "runs_unknown_code")

_SHELLS = frozenset({".", "ash", "bash", "dash", "fish", "ksh", "mksh", "sh", "source", "zsh"})
_INPUT = frozenset({"-", "-s", "/dev/stdin", "/dev/fd/0", "/proc/self/fd/0"})
_MOST_GUESSED_WORDS = 64
_UNKNOWN = expression(f"[{MARKS}]")


class Against:
    """Rules against commands, found quickly by the names they are about."""

    def __init__(self, rules: Sequence[Rule]) -> None:
        self.everything = tuple(rule for rule in rules if _is_everything(rule))
        self._rules = tuple(rule for rule in rules if rule.pattern and not _is_everything(rule))
        self.first = self._rules[0] if self._rules else None
        self._named: dict[str, list[Rule]] = {}
        self._unnamed: list[Rule] = []
        for rule in self._rules:
            name = rule.pattern.name if rule.pattern else None
            if name is None:
                self._unnamed.append(rule)
            else:
                self._named.setdefault(name, []).append(rule)

    def meant(self, command: Command, script: Script) -> Iterator[tuple[Rule, Likeness]]:
        """The rules that mean a command, surely or perhaps."""
        if Place.GUESSED in command.places:
            yield from self._guessed(command)
            return
        rules = self._candidates(command)
        if not rules:
            return
        lines = possible_lines(command, script)
        for rule in rules:
            likeness = _likeness(rule.pattern, lines) if rule.pattern else Likeness.NO
            if likeness:
                yield rule, likeness

    def _guessed(self, command: Command) -> Iterator[tuple[Rule, Likeness]]:
        """In a text that could not be read, any word could be a command's name."""
        words = [word.templates[0] for word in command.words]
        for at, word in enumerate(words):
            program = word.rpartition("/")[2]
            rules = self._named.get(program, ()) if at else self._candidates(command)
            if rules:
                line = collapsed(" ".join((program, *words[at + 1 : at + _MOST_GUESSED_WORDS])))
                for rule in rules:
                    if rule.pattern and (likeness := rule.pattern.likeness(line)):
                        yield rule, likeness

    def _candidates(self, command: Command) -> Sequence[Rule]:
        if not command.words:
            return self._unnamed
        found: Sequence[Rule] = self._unnamed
        for template in command.words[0].templates:
            program = template.rpartition("/")[2]
            if not program.isascii() and _UNKNOWN.search(program):
                return self._rules
            if program in self._named:
                found = [*found, *self._named[program]]
        return found


def runs_unknown_code(script: Script, at: int) -> bool:
    """Whether a command is a shell that reads commands which the script does not hold."""
    command = script.commands[at]
    if not any(
        template.rpartition("/")[2] in _SHELLS
        for word in command.words[:1]
        for template in word.templates
    ):
        return False
    if any(len(each.via) > len(command.via) for each in script.commands[at + 1 : at + 2]):
        return False
    operands = [word for word in command.words[1:] if not word.source.startswith(("-", "+"))]
    if operands and _INPUT.isdisjoint(operands[0].values):
        return operands[0].source.startswith("<(")
    return Place.PIPED_IN in command.places or any(
        each.reads or each.operator in {"<<", "<<-", "<<<"} for each in command.redirections
    )


def _is_everything(rule: Rule) -> bool:
    return rule.pattern is not None and rule.pattern.everything


def _likeness(pattern: Pattern, lines: Sequence[str]) -> Likeness:
    likeness = Likeness.NO
    for line in lines:
        likeness = max(likeness, pattern.likeness(line))
        if likeness is Likeness.SURELY:
            break
    return likeness
