"""What is given, and what is given wrongly: REQ-BASH-005 and 010."""

import json
import math
from datetime import UTC, datetime
from pathlib import Path
from typing import cast

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nacre import Bash, ToolContext
from nacre.dialects.phoenix.dialect import PhoenixDialect
from nacre.errors import CallError, StateError
from nacre.model.call import ListJobs, OnTimeout, Run
from nacre.model.result import JobList

DIALECT = PhoenixDialect()


def refused(arguments: object, tool: str = "bash") -> str:
    with pytest.raises(CallError) as caught:
        DIALECT.parse(tool, arguments, OnTimeout.KILL)
    reply = DIALECT.refuse(tool, caught.value)
    assert reply.is_error
    assert reply.text == str(caught.value).encode("utf-8", "backslashreplace").decode()
    return reply.text


def properties(tool: Bash) -> dict[str, dict[str, object]]:
    (spec,) = tool.specs()
    assert spec["name"] == "bash"
    schema = cast("dict[str, object]", spec["input_schema"])
    assert (schema["type"], schema["required"]) == ("object", ["command"])
    return cast("dict[str, dict[str, object]]", schema["properties"])


@pytest.mark.requirement("phoenix.schema-command")
def test_the_command_is_a_string_that_must_be_there(workspace: Path, state: Path) -> None:
    with Bash(dialect="phoenix", workspace=workspace, state=state) as tool:
        assert properties(tool)["command"] == {
            "type": "string",
            "description": "Shell command to execute via bash -c",
        }
        for arguments, text in [
            ({}, "Invalid input: missing field `command`"),
            ({"command": 5}, "Invalid input: invalid type: integer `5`, expected a string"),
            ({"command": ""}, "Command cannot be empty"),
        ]:
            reply = tool.call_sync("bash", arguments)
            assert (reply.text, reply.is_error) == (text, True)


@pytest.mark.requirement("phoenix.schema-mode", "phoenix.one-mode")
def test_the_mode_is_one_of_three_and_need_not_be_there(workspace: Path, state: Path) -> None:
    with Bash(dialect="phoenix", workspace=workspace, state=state) as tool:
        mode = properties(tool)["mode"]
        assert (mode["type"], mode["enum"]) == ("string", ["default", "slow", "background"])
        reply = tool.call_sync("bash", {"command": "touch ran", "mode": "turbo"})
    assert reply.is_error
    assert reply.text == (
        "Invalid input: unknown variant `turbo`, expected one of `default`, `slow`, `background`"
    )
    assert reply.details == {"success": False, "command": "touch ran", "display": "touch ran"}
    assert not (workspace / "ran").exists()


@pytest.mark.requirement("phoenix.mode-omitted")
def test_without_a_mode_it_is_the_default_one() -> None:
    omitted = DIALECT.parse("bash", {"command": "ls"}, OnTimeout.KILL)
    assert omitted == DIALECT.parse("bash", {"command": "ls", "mode": "default"}, OnTimeout.KILL)
    assert isinstance(omitted, Run)
    assert (omitted.background, omitted.on_timeout) == (False, OnTimeout.KILL)


@pytest.mark.requirement("phoenix.description-cwd")
def test_the_description_ends_with_the_working_directory(workspace: Path, state: Path) -> None:
    with Bash(dialect="phoenix", workspace=workspace, state=state) as tool:
        for folder in (workspace, Path("/srv/app")):
            (spec,) = tool.specs(ToolContext(working_dir=folder))
            assert str(spec["description"]).endswith(f"\n\n<pwd>{folder}</pwd>")
        (bare,) = tool.specs()
        assert str(bare["description"]).endswith(f"\n\n<pwd>{workspace}</pwd>")
        assert str(bare["description"]).startswith(
            "Executes shell commands via bash -c, returning combined stdout/stderr.\n"
        )


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (None, "invalid type: null, expected struct BashInput"),
        (3, "invalid type: integer `3`, expected struct BashInput"),
        ("", "EOF while parsing a value at line 1 column 0"),
        ("ls", "expected value at line 1 column 1"),
        ({"command": None}, "invalid type: null, expected a string"),
        ({"command": ["ls"]}, "invalid type: sequence, expected a string"),
        ({"command": {}}, "invalid type: map, expected a string"),
        ({"command": True, "mode": 1}, "invalid type: boolean `true`, expected a string"),
        ({"mode": "x"}, "unknown variant `x`, expected one of `default`, `slow`, `background`"),
        ({"mode": "slow"}, "missing field `command`"),
        ({"command": "ls", "mode": None}, "invalid type: null, expected string or map"),
        (
            {"command": "ls", "mode": 1.5},
            "invalid type: floating point `1.5`, expected string or map",
        ),
        ({"command": "ls", "mode": {}}, "invalid value: map, expected map with a single key"),
        ({"command": "ls", "mode": {"slow": 1}}, "invalid type: integer `1`, expected unit"),
        (
            {"command": "ls", "mode": "Slow"},
            "unknown variant `Slow`, expected one of `default`, `slow`, `background`",
        ),
    ],
)
def test_what_does_not_fit_is_told_in_the_words_of_the_origin(arguments: object, text: str) -> None:
    assert refused(arguments) == f"Invalid input: {text}"


def test_fields_that_are_not_known_are_ignored_and_blanks_are_a_command() -> None:
    call = DIALECT.parse("bash", {"command": " ", "timeout": 5, "": None}, OnTimeout.KILL)
    assert isinstance(call, Run)
    assert call.script == " "


def test_another_tool_is_not_known() -> None:
    assert refused({"command": "ls"}, tool="Bash") == "Unknown tool: Bash"


def test_an_error_of_the_state_and_a_list_of_jobs_have_words_too() -> None:
    assert DIALECT.refuse("bash", StateError("full")).details == {
        "success": False,
        "command": "",
        "display": "",
    }
    empty = JobList(at=datetime(2026, 1, 1, tzinfo=UTC), jobs=())
    assert DIALECT.render(ListJobs(), empty).text == ""


@pytest.mark.requirement("phoenix.working-dir", "phoenix.context-working-dir")
async def test_a_command_runs_in_the_working_directory_of_its_context(
    workspace: Path, state: Path
) -> None:
    (workspace / "sub").mkdir()
    async with Bash(dialect="phoenix", workspace=workspace, state=state) as tool:
        for folder in (workspace, workspace / "sub", Path("/")):
            context = ToolContext(working_dir=folder)
            assert (await tool.call("bash", {"command": "pwd"}, context)).text == f"{folder}\n"


@pytest.mark.requirement("phoenix.context", "phoenix.stateless", "phoenix.reusable")
async def test_one_tool_serves_conversations_that_know_nothing_of_each_other(
    workspace: Path, state: Path
) -> None:
    one, two = workspace / "one", workspace / "two"
    async with Bash(dialect="phoenix", workspace=workspace, state=state) as tool:
        for folder in (one, two):
            folder.mkdir()
        first = ToolContext(working_dir=one, conversation="one", confinement="read-only")
        second = ToolContext(working_dir=two, conversation="two")
        script = "cd /; x=1; touch here 2>&1 | grep -o denied; export Y=2"
        await tool.call("bash", {"command": script}, first)
        look = {"command": 'pwd; echo "[$x$Y]"; touch here 2>&1 | grep -o denied; true'}
        assert (await tool.call("bash", look, second)).text == f"{two}\n[]\n"
        assert (await tool.call("bash", look, first)).text == f"{one}\n[]\ndenied\n"
    assert [path.name for path in (*one.iterdir(), *two.iterdir())] == ["here"]


def _odd() -> list[object]:
    texts = ["", "ls", "\ud800", "a\0", "default", "slow", "background", "{", '"x"', "[" * 999]
    return [None, True, False, 0, -(10**30), 1.5, math.nan, -math.inf, *texts]


# Hypothesis writes down what it samples from, and Python no integer of more than 4,300 digits.
_HUGE = st.just(5000).map(lambda digits: 10**digits)
_SCALARS = st.sampled_from(_odd()) | st.text(max_size=3) | _HUGE
_JSON = st.recursive(
    _SCALARS,
    lambda inner: (
        st.lists(inner, max_size=2)
        | st.dictionaries(st.sampled_from(["", "slow", "a"]), inner, max_size=2)
    ),
    max_leaves=3,
)
_OWN = st.fixed_dictionaries({}, optional={"command": _SCALARS, "mode": _JSON, "": _SCALARS})
_STRANGE = st.dictionaries(st.sampled_from(["command", 5, None, ()]), _SCALARS, max_size=2)
_TOOLS = st.sampled_from(["bash"] * 6 + ["Bash", "", "\ud800", "x" * 9999])
_CALLS = st.tuples(_TOOLS, st.one_of(_OWN, _STRANGE, _JSON))


@settings(max_examples=1000)
@given(st.lists(_CALLS, min_size=20, max_size=20))
def test_whatever_is_given_is_a_run_or_is_refused_in_words(
    calls: list[tuple[str, object]],
) -> None:
    for tool, arguments in calls:
        try:
            call = DIALECT.parse(tool, arguments, OnTimeout.KILL)
        except CallError as error:
            reply = DIALECT.refuse(tool, error)
            assert reply.is_error
            json.dumps(reply.details, ensure_ascii=False).encode()
            assert len(reply.text.encode()) < 2000
        else:
            assert isinstance(call, Run)
            assert call.script
