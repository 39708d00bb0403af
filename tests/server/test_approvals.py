"""Questions go to the person behind the client, in both eras of the protocol."""

import json
from pathlib import Path

import anyio
import pytest
from mcp.types import ElicitResult

from nacre.engine.grants import GRANTS, Grants
from nacre.engine.journal import JOURNAL, read_journal
from server.answers import Asked, text_of
from server.conftest import MODERN, Connect

pytestmark = pytest.mark.anyio

RULES = {"ask": ["Bash(touch:*)", "Bash(bash:*)", "Bash(sleep:*)"]}
ONCE, ALWAYS, NO = "yes, once", "yes, always", "no"


async def test_a_yes_lets_it_run_once(connect: Connect, workspace: Path) -> None:
    asked = Asked([ONCE, NO])
    async with connect(asks=asked, rules=RULES) as client:
        first = await client.call_tool("Bash", {"command": "touch one", "description": "try it"})
        second = await client.call_tool("Bash", {"command": "touch one"})
    assert not first.is_error
    assert (workspace / "one").exists()
    assert second.is_error
    assert "the user was asked, and said no" in text_of(second)
    assert "    touch one\n" in asked.questions[0]
    assert "The agent says: try it" in asked.questions[0]
    assert "1 | touch one\n  | ^^^^^^^^^" in asked.questions[0]
    assert str(workspace) in asked.questions[0]


async def test_a_yes_for_always_is_remembered_as_the_rule_that_was_shown(
    connect: Connect, workspace: Path, state: Path
) -> None:
    asked = Asked([ALWAYS, NO])
    async with connect(asks=asked, rules=RULES) as client:
        await client.call_tool("Bash", {"command": "touch one"})
        again = await client.call_tool("Bash", {"command": "touch one"})
        other = await client.call_tool("Bash", {"command": "touch two"})
    assert not again.is_error
    assert other.is_error
    assert not (workspace / "two").exists()
    assert len(asked.questions) == 2
    assert "Always would allow Bash(touch one) here." in asked.questions[0]
    grants = Grants(state / GRANTS)
    assert [grant.rule for grant in grants.all()] == ["Bash(touch one)"]
    grants.close()


async def test_what_cannot_be_remembered_is_not_offered_for_always(connect: Connect) -> None:
    asked = Asked([NO, NO])
    async with connect(asks=asked, rules=RULES) as client:
        await client.call_tool("Bash", {"command": "bash -c 'touch one'"})
        await client.call_tool("Bash", {"command": f"touch one # {'x' * 5000}"})
    assert asked.choices == [[ONCE, NO], [ONCE, NO]]


async def test_nobody_approves_what_was_not_shown(connect: Connect, workspace: Path) -> None:
    """A script is shown whole, or it is not asked about."""
    asked = Asked([ONCE])
    middle = "touch one\necho " + "b" * 9000 + "\nsleep 0.01; touch two\necho " + "b" * 9000
    async with connect(asks=asked, rules=RULES) as client:
        await client.call_tool("Bash", {"command": middle})
        longer = await client.call_tool("Bash", {"command": f"{middle}\n{middle}\ntouch three"})
    assert "    sleep 0.01; touch two\n" in asked.questions[0]
    assert (workspace / "two").exists()
    assert "too many for the user to be asked about" in text_of(longer)
    assert not (workspace / "three").exists()


async def test_what_an_agent_wrote_begins_no_line_of_the_question(
    connect: Connect, workspace: Path
) -> None:
    forged = "fine.\nAlways would allow nothing here.\nIt would run in /safe, held to: all"
    folder = workspace / "x\nAlways would allow Bash(ls) here."
    folder.mkdir()
    asked = Asked([NO])
    arguments = {"command": "touch one", "description": forged, "working_directory": str(folder)}
    async with connect(asks=asked, rules=RULES) as client:
        await client.call_tool("Bash", arguments)
    begun = [line.split(" ")[0] for line in asked.questions[0].split("\n")]
    assert begun.count("Always") <= 1
    assert begun.count("It") == 1


async def test_a_call_that_is_given_up_is_in_the_journal_with_its_verdict_and_its_answer(
    connect: Connect, workspace: Path, state: Path
) -> None:
    async with connect(asks=Asked([ONCE]), rules=RULES) as client:
        async with anyio.create_task_group() as tasks:
            call = {"command": "touch one; while :; do read -t 1 < /dev/zero; done"}
            tasks.start_soon(client.call_tool, "Bash", call)
            with anyio.fail_after(20):
                while not (workspace / "one").exists():
                    await anyio.sleep(0.01)
            tasks.cancel_scope.cancel()
        await client.call_tool("Jobs", {})
    entries = [json.loads(entry.text) for entry in read_journal(state / JOURNAL)]
    (ended,) = [entry for entry in entries if "error" in entry]
    assert (ended["decision"], ended["consent"], ended["outcome"]) == ("ask", "once", "stopped")
    assert ended["error"] == "given up: CancelledError"
    assert ended["confinement"] == "workspace"
    assert ended["enforced"]


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (ElicitResult(action="decline"), "the user was asked, and said no"),
        (ElicitResult(action="cancel"), "closed the question without an answer"),
        (ElicitResult(action="accept"), "is no answer to the question"),
        (ElicitResult(action="accept", content={"answer": "YES"}), "is no answer"),
        (ElicitResult(action="accept", content={"answer": True}), "is no answer"),
        (
            ElicitResult(action="accept", content={"answer": NO, "word": "use\nmake"}),
            "[the user says: use make]",
        ),
    ],
)
async def test_whatever_is_no_yes_lets_nothing_run(
    connect: Connect, workspace: Path, answer: ElicitResult, said: str
) -> None:
    async with connect(asks=Asked([answer]), rules=RULES) as client:
        result = await client.call_tool("Bash", {"command": "touch one"})
    assert result.is_error
    assert said in text_of(result)
    assert not (workspace / "one").exists()


async def test_a_client_that_cannot_ask_is_told_who_could_approve(
    connect: Connect, workspace: Path
) -> None:
    async with connect(rules=RULES) as client:
        result = await client.call_tool("Bash", {"command": "touch one"})
    assert result.is_error
    assert "This MCP client cannot ask its user" in text_of(result)
    assert "Only the user can approve it" in text_of(result)
    assert not (workspace / "one").exists()


async def test_what_a_terminal_would_obey_is_shown_to_the_person(connect: Connect) -> None:
    asked = Asked([NO])
    async with connect(asks=asked, rules=RULES) as client:
        await client.call_tool("Bash", {"command": "touch a\x1b[2Kb\u202e"})
    assert not {"\x1b", "\u202e"} & {*asked.questions[0]}


async def test_the_time_a_person_takes_does_not_count(connect: Connect, workspace: Path) -> None:
    """The script's second begins when it may run."""

    async def slow(context: object, params: object) -> ElicitResult:
        del context, params
        await anyio.sleep(1.2)
        return ElicitResult(action="accept", content={"answer": ONCE})

    async with connect(asks=slow, rules=RULES, on_timeout="kill") as client:
        result = await client.call_tool("Bash", {"command": "touch one", "timeout": 1})
    assert not result.is_error
    assert (workspace / "one").exists()


async def test_the_journal_says_who_answered(connect: Connect, state: Path) -> None:
    async with connect(asks=Asked([ONCE]), rules=RULES) as client:
        await client.call_tool("Bash", {"command": "touch one"})
    text = "".join(entry.text for entry in read_journal(state / JOURNAL))
    assert '"approver":"the MCP client"' in text
    assert '"consent":"once"' in text


@pytest.mark.parametrize("mode", [MODERN])
async def test_an_answer_counts_once_and_for_one_call(connect: Connect, workspace: Path) -> None:
    async with connect(asks=Asked([]), rules=RULES) as client:
        session = client.session
        asked = await session.call_tool("Bash", {"command": "touch one"}, allow_input_required=True)
        assert asked.result_type == "input_required"
        answer = {"approval": ElicitResult(action="accept", content={"answer": ONCE})}
        state = getattr(asked, "request_state", None)

        async def answered(command: str, request_state: str | None) -> object:
            return await session.call_tool(
                "Bash",
                {"command": command},
                input_responses=answer,  # type: ignore[arg-type]
                request_state=request_state,
                allow_input_required=True,
            )

        # An answer without the question, or to another script, answers nothing.
        assert getattr(await answered("touch two", None), "result_type", "") == "input_required"
        with pytest.raises(Exception, match="requestState"):
            await answered("touch two", state)
        with pytest.raises(Exception, match="requestState"):
            await answered("touch one", "made up")
        assert not (workspace / "two").exists()
        done = await answered("touch one", state)
        assert getattr(done, "result_type", "") == "complete"
        assert (workspace / "one").exists()
        (workspace / "one").unlink()
        # The same once more is asked again.
        assert getattr(await answered("touch one", state), "result_type", "") == "input_required"
        assert not (workspace / "one").exists()
