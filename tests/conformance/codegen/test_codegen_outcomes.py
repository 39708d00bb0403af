"""Every way in which a call can end has its words."""

from datetime import timedelta

import pytest

from nacre.dialects.codegen.dialect import CodegenDialect
from nacre.errors import ConfigError, JobNotFoundError, StateError
from nacre.model.call import OnTimeout
from nacre.model.outcome import (
    Denied,
    Exited,
    Lost,
    Outcome,
    Running,
    Signaled,
    Stopped,
    TimedOut,
    Unstarted,
)
from nacre.model.reply import Reply
from nacre.model.result import Result
from nacre.model.transcript import Transcript
from nacre.model.verdict import Decision, Verdict

DIALECT = CodegenDialect()
REFUSED = Verdict(decision=Decision.DENY, reason="it is refused")
UNASKED = Verdict(decision=Decision.ASK, reason="It is not known.")
WHO = " Only the user can approve it, by running it or by changing the rule."


def rendered(tool: str, outcome: Outcome, **arguments: object) -> Reply:
    given = {"command": "ls", "description": "list", "shell_id": "a", **arguments}
    call = DIALECT.parse(tool, given, OnTimeout.KILL)
    said = Transcript(head=b"said")
    return DIALECT.render(call, Result(outcome=outcome, transcript=said))


@pytest.mark.parametrize(
    ("outcome", "text", "code"),
    [
        (Exited(0), "said\n", 0),
        (Exited(2), "said\nexit: 2\n", 2),
        (Signaled(9), "said\nexit: -1\n", -1),
        (TimedOut(timedelta(seconds=120)), "said\nbash: timed out after 120s\nexit: 124\n", 124),
        (TimedOut(timedelta(seconds=0.25)), "said\nbash: timed out after 0.25s\nexit: 124\n", 124),
    ],
)
def test_what_ran_is_no_error(outcome: Outcome, text: str, code: int) -> None:
    assert rendered("Bash", outcome) == Reply(text=text, details={"exit_code": code})


@pytest.mark.parametrize(
    ("outcome", "text"),
    [
        (Denied(REFUSED), "it is refused"),
        (Denied(UNASKED), f"It is not known.{WHO}"),
        (Denied(UNASKED, answered=True), "The user was asked, and said no: It is not known."),
        (Unstarted("no bash"), "bash: no bash"),
        (Lost("nobody saw it"), "bash: nobody saw it"),
        (Stopped(), "bash: context canceled"),
    ],
)
def test_what_did_not_run_to_its_end_is_an_error(outcome: Outcome, text: str) -> None:
    expected = Reply(text=text, is_error=True, details={"exit_code": None})
    assert rendered("Bash", outcome) == expected
    background = rendered("Bash", outcome, run_in_background=True)
    assert background.text == text.replace("bash: n", "bash-bg start: n")


@pytest.mark.parametrize(
    ("outcome", "status"),
    [
        (Running("a"), "running"),
        (Exited(4), "completed (exit 4)"),
        (Signaled(9), "completed (exit -1)"),
        (Stopped(), "completed (exit -1)"),
        (Lost("nobody saw it"), "completed (exit -1)"),
    ],
)
def test_a_shell_runs_or_is_completed(outcome: Outcome, status: str) -> None:
    reply = rendered("BashOutput", outcome)
    assert f"status: {status}\n" in reply.text
    assert not reply.is_error


def test_errors_of_the_state_are_told_as_such() -> None:
    assert DIALECT.refuse("Bash", StateError("it is full")).text == "bash: it is full"
    assert DIALECT.refuse("KillShell", ConfigError("no")).text == "bash: no"
    unknown = DIALECT.refuse("KillShell", JobNotFoundError("there is none", "abc"))
    assert (unknown.text, unknown.is_error) == ("unknown shell_id: abc", True)
