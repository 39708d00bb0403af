"""A yes is about what was shown, and about nothing else."""

from dataclasses import replace
from pathlib import PurePath

import pytest

from nacre.model.approval import Answer, Consent, Question
from nacre.model.verdict import Decision, Verdict
from nacre.tool import Answered

ASKED = Question(
    script="npm publish",
    verdict=Verdict(decision=Decision.ASK, reason="a rule asks"),
    description="publish it",
    cwd=PurePath("/srv/app"),
    conversation="one",
    held="workspace",
)
YES = Answer(consent=Consent.ONCE, by="somebody")


def test_the_question_that_was_asked_is_answered_whoever_asks_it_again() -> None:
    again = replace(ASKED, conversation="two", description="", grants=("Bash(npm publish)",))
    assert Answered(ASKED.fingerprint, YES)(again) == YES


@pytest.mark.parametrize(
    "other",
    [
        replace(ASKED, script="npm publish x"),
        replace(ASKED, cwd=PurePath("/srv")),
        replace(ASKED, held="open"),
        replace(ASKED, verdict=replace(ASKED.verdict, reason="another rule asks")),
    ],
)
def test_any_other_question_is_not(other: Question) -> None:
    answer = Answered(ASKED.fingerprint, YES)(other)
    assert (answer.consent, answer.by) == (Consent.UNANSWERED, "somebody")
    assert Answered(None, YES)(other).consent is Consent.UNANSWERED
