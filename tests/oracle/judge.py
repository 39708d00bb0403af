"""Whether the reading of a script says what a real run of it did."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from functools import cache

from nacre.model.verdict import Decision
from nacre.policy.rules.layer import RuleLists
from nacre.policy.rules.rule import parse_rule
from nacre.syntax.read import read
from nacre.syntax.script import Command, Place, Script, ViaKind
from nacre.syntax.word import FIELDS, QUERY, STAR, Word
from oracle.fakes import FAKES
from oracle.namespace import Call, Run

__all__ = ("FAILURES", "Answer", "Judgement", "judge")

_UNSURE = frozenset({Place.BRANCH, Place.FUNCTION, Place.GUESSED, Place.LOOP})


class Answer(Enum):
    """What the reading says of one program that ran, from best to worst."""

    WORDS = "it and its words are in the reading"
    NAME = "it is in the reading, with other words"
    OPAQUE = "the reading says that something unknown runs"
    UNREADABLE = "the reading says that it could not read the script"
    ALLOWED = "a rule that denies it allows the script"
    MISREAD = "the reading does not know of it"
    RAISED = "there is no reading, but an exception"


FAILURES = (Answer.ALLOWED, Answer.MISREAD, Answer.RAISED)


@dataclass(frozen=True, slots=True)
class Judgement:
    """The answers for everything that ran, and fakes that should have run and did not."""

    answers: tuple[tuple[Call, Answer], ...]
    idle: tuple[str, ...] = ()

    def having(self, answer: Answer) -> tuple[Call, ...]:
        """What got this answer."""
        return tuple(call for call, each in self.answers if each is answer)


def judge(text: str, run: Run) -> Judgement:
    """Compare the reading of a script with what ran."""
    try:
        script = read(text)
    except Exception:  # noqa: BLE001 (that it never raises is part of what is judged)
        return Judgement(tuple((call, Answer.RAISED) for call in run.calls or (("nothing",),)))
    answers = tuple((call, _answer(script, call)) for call in dict.fromkeys(run.calls))
    return Judgement(answers, tuple(_idle(script, run)))


def _idle(script: Script, run: Run) -> Iterator[str]:
    """The fakes that the reading says would surely run, and that did not."""
    ran = {call[0] for call in run.calls}
    for command in script.commands if not script.unreadable and run.status == 0 else ():
        name = command.words[0].value if command.words else None
        if name in FAKES and name not in ran and not command.places & _UNSURE and not command.via:
            yield name


@cache
def _denying(name: str) -> RuleLists:
    """Rules against one program and nothing else."""
    return RuleLists(deny=(parse_rule(f"Bash({name}:*)", Decision.DENY),))


def _answer(script: Script, call: Call) -> Answer:
    answer = _found(script, call)
    if answer is not Answer.MISREAD and _denying(call[0]).judge(script) is None:
        return Answer.ALLOWED
    return answer


def _found(script: Script, call: Call) -> Answer:
    named = [command for command in script.commands if call[0] in command.names]
    if any(_fits(command, call) for command in named):
        return Answer.WORDS
    if named:
        return Answer.NAME
    if any(command.opaque and _could_be(command.words[0], call[0]) for command in script.commands):
        return Answer.OPAQUE
    return Answer.UNREADABLE if script.unreadable else Answer.MISREAD


def _could_be(word: Word, name: str) -> bool:
    """Whether a word could be this name, with or without folders."""
    for template in word.templates:
        last = template.rpartition("/")[2]
        if re.fullmatch(_pattern(last), name, re.DOTALL):
            return True
    return False


def _fits(command: Command, call: Call) -> bool:
    """Whether a command could have been called with these words."""
    pattern = "\0".join(
        "(?:" + "|".join(map(_pattern, word.templates)) + ")" for word in command.words[1:]
    )
    # What stands for any number of words may stand for none, and what is told to run a command
    # for each of many may add them to its words.
    pattern = pattern.replace("\0", "\0*")
    if any(via.kind is ViaKind.FANOUT for via in command.via):
        pattern = f"(?:{pattern}|.*)"
    return re.fullmatch(pattern, "\0".join(call[1:]), re.DOTALL) is not None


def _pattern(template: str) -> str:
    """A regular expression for what a template may stand for."""
    parts: list[str] = []
    for char in template:
        if char in {QUERY, STAR, FIELDS}:
            parts.append(".*")
        elif "\ud800" <= char <= "\udbff":
            parts.append("[^\0]*")
        else:
            parts.append(re.escape(char))
    return "".join(parts)
