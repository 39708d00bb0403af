"""Who answers when rules leave a script to a person, and what comes of each answer."""

from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import cast

import anyio
import anyio.lowlevel
import pytest

from nacre import Answer, Bash, CancelToken, Consent, Question, ToolContext
from nacre.engine.assemble import Settings, assemble
from nacre.engine.journal import JOURNAL, read_journal
from nacre.engine.occasion import Occasion
from nacre.model.call import Run
from nacre.model.outcome import Denied
from nacre.model.transcript import Limit
from nacre.model.verdict import Decision, Verdict
from nacre.syntax.script import Surroundings
from nacre.testing import AllowEverything, ScriptedApprover
from nacre.tool import Approver
from processes import descriptors, journal_open, no_more_descriptors

pytestmark = pytest.mark.anyio

ASKED = {"command": "touch new"}


@asynccontextmanager
async def opened(workspace: Path, state: Path, approver: Approver | None) -> AsyncGenerator[Bash]:
    """A tool that asks about `touch`, and holds its scripts to nothing: that is told elsewhere."""
    async with Bash(
        workspace=workspace,
        state=state,
        sandbox="none",
        confinement="open",
        rules={"ask": ["Bash(touch:*)"]},
        approver=approver,
    ) as tool:
        yield tool


def saying(answer: object) -> Approver:
    """An approver that a careless host might have: nothing checks what it returns."""

    def approver(_: Question) -> bool:
        return cast("bool", answer)

    return approver


@pytest.mark.parametrize(
    ("answer", "runs"),
    [
        (True, True),
        (Consent.ONCE, True),
        (Consent.ALWAYS, True),
        (Answer(consent=Consent.ONCE, by="somebody"), True),
        (False, False),
        (Consent.NO, False),
        (Consent.UNANSWERED, False),
        (Answer(consent=Consent.NO), False),
        (None, False),
        (1, False),
        ("yes", False),
        ("always", False),
        ([True], False),
        (object(), False),
        (Answer(consent=cast("Consent", "always")), False),
        (Answer(consent=cast("Consent", True)), False),
    ],
)
async def test_only_a_yes_is_a_yes(
    workspace: Path, state: Path, answer: object, *, runs: bool
) -> None:
    async with opened(workspace, state, saying(answer)) as tool:
        reply = await tool.call("Bash", ASKED)
    assert (workspace / "new").exists() is runs
    assert reply.is_error is not runs


async def test_an_answer_may_be_awaited(workspace: Path, state: Path) -> None:
    async def think(question: Question) -> bool:
        await anyio.lowlevel.checkpoint()
        return question.script == "touch new"

    async with opened(workspace, state, think) as tool:
        assert not (await tool.call("Bash", ASKED)).is_error
        assert (await tool.call("Bash", {"command": "touch other"})).is_error


async def test_fields_of_an_answer_that_are_no_texts_cost_no_call(
    workspace: Path, state: Path
) -> None:
    odd = Answer(consent=Consent.NO, by=cast("str", None), said=cast("str", 7), grant="forged")
    async with opened(workspace, state, saying(odd)) as tool:
        reply = await tool.call("Bash", ASKED)
    assert "[the user says: 7]" in reply.text
    assert '"grant"' not in next(read_journal(state / JOURNAL)).text


async def test_an_approver_that_fails_lets_nothing_run(workspace: Path, state: Path) -> None:
    def fail(_: Question) -> bool:
        raise OSError("the window is gone")

    async def fail_later(_: Question) -> bool:
        await anyio.lowlevel.checkpoint()
        raise OSError("the window is gone")

    for approver in (fail, fail_later):
        async with opened(workspace, state, approver) as tool:
            for context in (None, ToolContext(working_dir=workspace, cancel=CancelToken())):
                with pytest.raises(OSError, match="the window is gone"):
                    await tool.call("Bash", ASKED, context)
    assert list(workspace.iterdir()) == []
    assert all("given up: OSError" in each.text for each in read_journal(state / JOURNAL))


async def test_with_nobody_to_ask_it_is_denied_and_says_who_could_approve(
    workspace: Path, state: Path
) -> None:
    async with opened(workspace, state, None) as tool:
        reply = await tool.call("Bash", ASKED)
    assert "[denied: it needs approval, and nobody is here to give it: " in reply.text
    assert "Only the user can approve it, by running it or by changing the rule" in reply.text
    assert list(workspace.iterdir()) == []


async def test_who_could_not_be_reached_did_not_say_no(workspace: Path, state: Path) -> None:
    answer = Answer(consent=Consent.UNANSWERED, said="The window was closed.")
    async with opened(workspace, state, saying(answer)) as tool:
        reply = await tool.call("Bash", ASKED)
    assert "nobody is here to give it" in reply.text
    assert "The window was closed." in reply.text


async def test_the_approver_of_a_call_is_asked_before_that_of_the_tool(
    workspace: Path, state: Path
) -> None:
    of_the_call = ScriptedApprover(True)
    context = ToolContext(working_dir=workspace, approver=of_the_call, conversation="c")
    async with opened(workspace, state, ScriptedApprover()) as tool:
        await tool.call("Bash", {"command": "touch new", "description": "make a file"}, context)
    (question,) = of_the_call.questions
    assert (question.script, question.description) == ("touch new", "make a file")
    assert (question.conversation, question.cwd) == ("c", workspace)
    assert (question.verdict.decision, question.verdict.part) == (Decision.ASK, "touch new")
    assert question.grants == ("Bash(touch new)",)
    assert question.held == "open, network deny, sandbox none"


@pytest.mark.parametrize("command", ["touch new\0", "touch \ud800", "git add -A", "ls"])
async def test_nobody_is_asked_about_what_cannot_run_or_may_anyway(
    workspace: Path, state: Path, command: str
) -> None:
    async with opened(workspace, state, ScriptedApprover()) as tool:
        await tool.call("Bash", {"command": command})
        assert await tool.question("Bash", {"command": command}) is None
        assert await tool.question("Bash", {"nonsense": 1}) is None
        assert await tool.question("nonsense", ASKED) is None


async def test_the_time_a_person_takes_does_not_count(workspace: Path, state: Path) -> None:
    async def take_time(_: Question) -> bool:
        await anyio.sleep(1.2)
        return True

    async with opened(workspace, state, take_time) as tool:
        call = {"command": "sleep 0.1; touch new", "timeout": 1}
        reply = await tool.call("Bash", call)
    assert (reply.details or {})["outcome"] == "exited"
    assert (workspace / "new").exists()


async def test_a_cancelled_call_waits_for_no_answer(workspace: Path, state: Path) -> None:
    cancel, given_up = CancelToken(), anyio.Event()

    async def never(_: Question) -> bool:
        cancel.cancel()
        try:
            await anyio.sleep_forever()
        finally:
            given_up.set()
        return True

    async with opened(workspace, state, never) as tool:
        with anyio.fail_after(10):
            reply = await tool.call("Bash", ASKED, ToolContext(working_dir=".", cancel=cancel))
    assert given_up.is_set()
    assert (reply.details or {})["outcome"] == "stopped"
    assert list(workspace.iterdir()) == []


async def test_a_yes_that_comes_after_the_cancellation_runs_nothing(
    workspace: Path, state: Path
) -> None:
    cancel = CancelToken()

    def late(_: Question) -> Consent:
        cancel.cancel()
        return Consent.ALWAYS

    async with opened(workspace, state, late) as tool:
        for _ in range(2):  # the second is cancelled before anybody is asked
            reply = await tool.call("Bash", ASKED, ToolContext(working_dir=".", cancel=cancel))
            assert (reply.details or {})["outcome"] == "stopped"
    assert list(workspace.iterdir()) == []


async def test_nobody_is_asked_for_a_call_that_is_cancelled_already(
    workspace: Path, state: Path
) -> None:
    cancel = CancelToken()
    cancel.cancel()
    async with opened(workspace, state, ScriptedApprover()) as tool:
        await tool.call("Bash", ASKED, ToolContext(working_dir=".", cancel=cancel))


class Crowd:
    """An approver that waits until so many are asked, and then says yes to some."""

    def __init__(self, size: int, yes: Callable[[Question], bool]) -> None:
        self._size = size
        self._yes = yes
        self.asked = 0
        self.all_are_here = anyio.Event()

    async def __call__(self, question: Question) -> bool:
        self.asked += 1
        if self.asked == self._size:
            self.all_are_here.set()
        await self.all_are_here.wait()
        return self._yes(question)


async def test_a_hundred_questions_can_be_open_at_once_under_one_token(
    workspace: Path, state: Path
) -> None:
    crowd = Crowd(100, lambda question: question.script in {"touch 7", "touch 70"})
    context = ToolContext(working_dir=workspace, cancel=CancelToken())
    async with opened(workspace, state, crowd) as tool:
        with anyio.fail_after(60):
            async with anyio.create_task_group() as tasks:
                for number in range(100):
                    tasks.start_soon(tool.call, "Bash", {"command": f"touch {number}"}, context)
    assert {each.name for each in workspace.iterdir()} == {"7", "70"}


async def test_one_token_cancels_all_that_are_asked(workspace: Path, state: Path) -> None:
    crowd, cancel = Crowd(101, lambda _: True), CancelToken()
    context = ToolContext(working_dir=workspace, cancel=cancel)
    async with opened(workspace, state, crowd) as tool:
        with anyio.fail_after(60):
            async with anyio.create_task_group() as tasks:
                for number in range(100):
                    tasks.start_soon(tool.call, "Bash", {"command": f"touch {number}"}, context)
                while crowd.asked < 100:
                    await anyio.sleep(0.01)
                cancel.cancel()
    assert list(workspace.iterdir()) == []


async def test_a_folder_that_became_another_while_the_question_was_open_is_not_used(
    workspace: Path, state: Path
) -> None:
    def swap(_: Question) -> bool:
        workspace.rename(workspace.with_name("before"))
        workspace.mkdir()
        return True

    async with opened(workspace, state, swap) as tool:
        reply = await tool.call("Bash", ASKED)
    assert "became another folder while the question was open" in reply.text
    assert list(workspace.iterdir()) == []


async def test_what_would_be_asked_can_be_known_beforehand(workspace: Path, state: Path) -> None:
    approver = ScriptedApprover(Consent.ALWAYS)
    async with opened(workspace, state, approver) as tool:
        before = await tool.question("Bash", ASKED)
        await tool.call("Bash", ASKED)
        after = await tool.question("Bash", ASKED)
    assert approver.questions == [before]
    assert after is None


async def test_a_checker_that_fails_costs_the_offer_and_not_the_question(
    occasion: Occasion, state: Path
) -> None:
    class Faulty(AllowEverything):
        def check(self, text: str, surroundings: Surroundings) -> Verdict:
            del text, surroundings
            return Verdict(decision=Decision.ASK)

        def offer(self, text: str, surroundings: Surroundings) -> tuple[str, ...]:
            raise RecursionError(text, surroundings)

    asked: list[Question] = []

    async def refuse(question: Question) -> Answer:
        asked.append(question)
        return Answer(consent=Consent.NO)

    engine = assemble(Settings(state=state), Faulty())
    run = Run(script="ls", limit=Limit(head=10, tail=10))
    result = await engine.run(run, replace(occasion, approve=refuse))
    engine.close()
    assert isinstance(result.outcome, Denied)
    assert [each.grants for each in asked] == [()]


async def test_no_descriptor_is_left_by_asking(workspace: Path, state: Path) -> None:
    cancel = CancelToken()
    context = ToolContext(working_dir=workspace, cancel=cancel)
    async with opened(workspace, state, saying(answer=False)) as tool:
        await tool.call("Bash", ASKED, context)
        await journal_open(state)
        before = descriptors()
        for _ in range(20):
            await tool.call("Bash", ASKED, context)
        await no_more_descriptors(before)
