"""What the tool takes, and what it makes of everything else."""

import json
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nacre import Bash, ToolContext
from nacre.dialects.base import Scene
from nacre.dialects.wayland.dialect import WaylandDialect
from nacre.errors import CallError, StateError
from nacre.model.call import OnTimeout, Run
from nacre.model.outcome import Denied, Exited, Lost, Outcome, Running, Unstarted
from nacre.model.result import JobList, Result
from nacre.model.transcript import Transcript
from nacre.model.verdict import Decision, Verdict

DIALECT = WaylandDialect()
MISSING = "Missing required parameter: command"


def parsed(**arguments: object) -> Run:
    call = DIALECT.parse("Bash", {"command": "ls", **arguments}, OnTimeout.KILL)
    assert isinstance(call, Run)
    return call


@pytest.mark.requirement("wayland.timeout-optional", "wayland.timeout-default")
def test_without_a_timeout_a_command_has_two_minutes() -> None:
    run = parsed()
    assert run.timeout == timedelta(milliseconds=120_000)
    assert not run.timed
    assert run.on_timeout is OnTimeout.KILL


@pytest.mark.requirement("wayland.timeout-unit", "wayland.timeout-most")
@pytest.mark.parametrize(
    ("given", "milliseconds"),
    [(1, 1), (5000, 5000), (600_000, 600_000), (600_001, 600_000), (2**64 - 1, 600_000), (0, 0)],
)
def test_a_timeout_is_in_milliseconds_and_at_most_ten_minutes(
    given: int, milliseconds: int
) -> None:
    run = parsed(timeout=given)
    assert run.timeout == timedelta(milliseconds=milliseconds)
    assert run.timed


@pytest.mark.requirement("wayland.timeout-else")
@pytest.mark.parametrize(
    "given", [-1, 1.5, 5000.0, "5000", None, True, [5000], {}, float("nan"), 2**64, 10**400]
)
def test_what_is_no_whole_number_of_milliseconds_is_no_timeout(given: object) -> None:
    run = parsed(timeout=given)
    assert run.timeout == timedelta(milliseconds=120_000)
    assert not run.timed


def test_a_number_too_long_to_be_written_is_none_either() -> None:
    assert not parsed(timeout=1 << 20_000).timed


@pytest.mark.requirement("wayland.command-missing")
@pytest.mark.parametrize(
    "arguments",
    [
        "{}",
        '{"command": 5}',
        '{"command": null}',
        "[1]",
        "not json",
        "",
        '"ls"',
        '{"Command": "ls"}',
    ],
)
def test_a_command_that_is_no_text_is_missing(wayland: Bash, arguments: str) -> None:
    reply = wayland.call_sync("Bash", arguments)
    assert (reply.text, reply.is_error, reply.details) == (MISSING, True, {"exit_code": None})


def test_a_tool_it_does_not_have_is_named(wayland: Bash) -> None:
    reply = wayland.call_sync("BashOutput", {"id": "x"})
    assert (reply.text, reply.is_error) == ("Unknown tool: BashOutput", True)


def test_what_the_host_says_of_the_timeout_is_used() -> None:
    call = DIALECT.parse("Bash", {"command": "ls"}, OnTimeout.BACKGROUND)
    assert isinstance(call, Run)
    assert call.on_timeout is OnTimeout.BACKGROUND


def test_there_is_one_tool_and_its_command_is_all_it_needs() -> None:
    (spec,) = DIALECT.specs(Scene())
    assert spec.name == "Bash"
    assert spec.input_schema["required"] == ["command"]


def test_a_context_adds_where_commands_start_and_what_holds_them(
    wayland: Bash, workspace: Path
) -> None:
    (bare,) = wayland.specs()
    (spec,) = wayland.specs(ToolContext(working_dir=workspace))
    added = str(spec["description"]).removeprefix(str(bare["description"]))
    assert added.startswith(f"\n\nScripts start in {workspace}.\n\nScripts run in a sandbox.")


def test_an_open_network_is_told(opened: Callable[..., Bash]) -> None:
    (spec,) = opened(network="inherit").specs(ToolContext(working_dir="/"))
    assert str(spec["description"]).endswith("\n\nHere the network can be reached.")


SAID = Transcript(head=b"out")
GOING_ON = (
    "Command still running after 120000ms: it goes on as job j1. The user can see it with"
    " `nacre logs j1` and end it with `nacre kill j1`.\nSTDOUT:\nout\nSTDERR:\n"
)


@pytest.mark.parametrize(
    ("outcome", "text", "is_error"),
    [
        (Unstarted("no bash"), "Failed to execute command: no bash", True),
        (
            Lost("why"),
            "Failed to execute command: sandbox produced no exit status\nSTDOUT:\nout\nSTDERR:\n",
            True,
        ),
        (
            Denied(Verdict(decision=Decision.ASK, reason="Why.")),
            "Refused: Why. Only the user can approve it, by running it or by changing the rule.",
            True,
        ),
        (
            Denied(Verdict(decision=Decision.ASK, reason="Why."), answered=True),
            "Tool execution denied by user",
            True,
        ),
        (
            Running("j1"),
            GOING_ON,
            False,
        ),
        (Exited(0), "Exit code: 0\nSTDOUT:\nout\nSTDERR:\n", False),
    ],
)
def test_every_other_ending_has_its_words(outcome: Outcome, text: str, is_error: bool) -> None:  # noqa: FBT001
    reply = DIALECT.render(parsed(), Result(outcome=outcome, transcript=SAID))
    assert (reply.text, reply.is_error) == (text, is_error)


def test_jobs_can_be_listed_and_a_broken_state_be_told() -> None:
    jobs = JobList(at=datetime(2026, 1, 1, tzinfo=UTC), jobs=())
    assert DIALECT.render(parsed(), jobs).text == ""
    said = DIALECT.refuse("Bash", StateError("the disk is full")).text
    assert said == "Failed to execute command: the disk is full"


def test_a_plain_script_is_a_command_alone() -> None:
    assert DIALECT.plain("ls") == ("Bash", {"command": "ls"})


STRANGE = (
    *(None, True, False, 0, -1, 7, 120_000, 2**64 - 1, 2**64, -(2**70), 10**400, 1.5, 5000.0, -0.0),
    *(
        float("nan"),
        float("inf"),
        "",
        "ls",
        "5000",
        [[{"": [None]}]],
        "\0",
        "\ud800",
        "é🦀",
        "command",
        "a" * 300,
    ),
)
FLAT = st.sampled_from(STRANGE) | st.integers() | st.text(st.characters(), max_size=2)
WILD = FLAT | st.lists(FLAT, max_size=2) | st.dictionaries(st.text(max_size=1), FLAT, max_size=2)
OBJECTS = (
    WILD
    | st.fixed_dictionaries({}, optional={"command": WILD, "timeout": WILD})
    | st.dictionaries(st.sampled_from([0, None, "command", "timeout"]), WILD, max_size=2)
)
TOOLS = st.sampled_from(["Bash"] * 9 + ["bash", "", "\ud800", "Bash\n", "BashOutput", "é" * 300])


@settings(max_examples=1000)
@given(st.lists(st.tuples(TOOLS, OBJECTS), min_size=20, max_size=20))
def test_whatever_the_arguments_are_there_is_a_call_or_a_reply(
    calls: list[tuple[str, object]],
) -> None:
    for tool, arguments in calls:
        try:
            call = DIALECT.parse(tool, arguments, OnTimeout.KILL)
        except CallError as error:
            reply = DIALECT.refuse(tool, error)
            assert reply.is_error
            assert json.dumps(reply.details)
            assert reply.text.encode()
        else:
            assert isinstance(call, Run)
