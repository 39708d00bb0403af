"""What the tool is called with: its schema, its fields, and whatever else an agent sends."""

import json
from collections.abc import Mapping
from datetime import timedelta
from pathlib import Path, PurePath
from typing import cast

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nacre import Bash, ToolContext
from nacre.dialects.agentrail.dialect import AgentrailDialect
from nacre.errors import CallError
from nacre.model.call import OnTimeout, Run, Streams

DIALECT = AgentrailDialect()


def parse(**arguments: object) -> Run:
    call = DIALECT.parse("Bash", arguments, OnTimeout.BACKGROUND)
    assert isinstance(call, Run)
    return call


def schema(tool: Bash) -> Mapping[str, object]:
    return cast("Mapping[str, object]", tool.specs()[0]["input_schema"])


def properties(tool: Bash) -> Mapping[str, Mapping[str, object]]:
    return cast("Mapping[str, Mapping[str, object]]", schema(tool)["properties"])


@pytest.mark.requirement("agentrail.name", "agentrail.command", "agentrail.optional")
def test_there_is_one_tool_and_only_its_command_is_required(agentrail: Bash) -> None:
    assert [spec["name"] for spec in agentrail.specs()] == ["Bash"]
    assert schema(agentrail)["required"] == ["command"]
    assert {name: each["type"] for name, each in properties(agentrail).items()} == {
        "command": "string",
        "working_directory": "string",
        "timeout": "integer",
    }


@pytest.mark.requirement("agentrail.timeout-default")
def test_the_default_timeout_is_thirty_seconds_in_milliseconds(agentrail: Bash) -> None:
    assert properties(agentrail)["timeout"]["default"] == 30_000
    run = parse(command="ls")
    assert (run.timeout, run.timed, run.background) == (timedelta(seconds=30), False, False)


@pytest.mark.requirement(
    "agentrail.not-for-files",
    "agentrail.not-for-search",
    "agentrail.long-running",
    "agentrail.memo-advice",
)
def test_the_description_says_what_the_tool_is_not_for(agentrail: Bash) -> None:
    description = str(agentrail.specs()[0]["description"])
    assert "Use Read, Write and Edit for files, and Grep to search them" in description
    assert "Set `timeout` to 0 for servers, watchers" in description
    assert "Use the Write or Edit tool to change memo files" in description


def test_the_description_says_where_commands_start(agentrail: Bash, workspace: Path) -> None:
    description = agentrail.specs(ToolContext(working_dir=workspace / "web"))[0]["description"]
    assert str(description).endswith(f"Scripts start in {workspace}/web.")


def test_every_field_is_read() -> None:
    run = parse(command="ls", working_directory="/srv", timeout=1500, description="ignored")
    assert (run.script, run.cwd, run.timeout, run.timed) == (
        "ls",
        PurePath("/srv"),
        timedelta(milliseconds=1500),
        True,
    )
    assert run.streams is Streams.SEPARATE
    assert run.on_timeout is OnTimeout.BACKGROUND


def test_the_hosts_choice_of_what_happens_at_the_timeout_is_kept() -> None:
    call = DIALECT.parse("Bash", {"command": "ls"}, OnTimeout.KILL)
    assert isinstance(call, Run)
    assert call.on_timeout is OnTimeout.KILL


@pytest.mark.parametrize("timeout", [10**30, 2**63, 1e300])
def test_a_timeout_without_end_is_as_long_as_a_clock_goes(timeout: float) -> None:
    run = parse(command="ls", timeout=timeout)
    assert run.timeout is not None
    assert run.timeout > timedelta(days=3000)


def test_an_integer_may_be_written_with_a_point() -> None:
    assert parse(command="ls", timeout=250.0).timeout == timedelta(milliseconds=250)


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        ({}, "command is required"),
        ({"command": None}, "command must be a string"),
        ({"command": 5}, "command must be a string"),
        ({"command": ["ls"]}, "command must be a string"),
        ({"command": "ls", "working_directory": None}, "working_directory must be a string"),
        ({"command": "ls", "working_directory": 5}, "working_directory must be a string"),
        ({"command": "ls", "timeout": "5"}, "timeout must be an integer"),
        ({"command": "ls", "timeout": 0.5}, "timeout must be an integer"),
        ({"command": "ls", "timeout": True}, "timeout must be an integer"),
        ({"command": "ls", "timeout": None}, "timeout must be an integer"),
        ({"command": "ls", "timeout": float("nan")}, "timeout must be an integer"),
        ({"command": "ls", "timeout": -1}, "timeout must be 0 or more"),
        ({"command": "ls", "timeout": -(10**400)}, "timeout must be 0 or more"),
        ("{not json", "the arguments must be an object"),
        ("[1]", "the arguments must be an object"),
    ],
)
def test_arguments_that_do_not_fit_are_answered_in_a_sentence(
    agentrail: Bash, arguments: dict[str, object] | str, why: str
) -> None:
    reply = agentrail.call_sync("Bash", arguments)
    assert reply.text == f'Invalid arguments for tool "Bash": {why}'
    assert reply.is_error
    assert reply.details is None


@pytest.mark.parametrize("name", ["bash", "", "BashOutput"])
def test_a_tool_that_there_is_not_is_named(agentrail: Bash, name: str) -> None:
    reply = agentrail.call_sync(name, {"command": "ls"})
    assert (reply.text, reply.is_error, reply.details) == (f"Tool not found: {name}", True, None)


WILD = [
    None,
    True,
    0,
    -1,
    2.0,
    0.5,
    10**400,
    -(10**400),
    float("nan"),
    float("-inf"),
    "\ud800",
    b"",
]
VALUES = st.sampled_from(WILD) | st.integers() | st.text(max_size=4)
KEYS = st.sampled_from(["command", "working_directory", "timeout", "x", 5, None])
JSON = st.recursive(
    VALUES,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(KEYS, inner, max_size=2),
    max_leaves=3,
)
FIELDS = st.dictionaries(KEYS, VALUES, max_size=4)
NAMES = st.sampled_from(["Bash", "Bash", "Bash", "bash", "", "\ud800", "B" * 5000])


@settings(max_examples=1000)
@given(st.lists(st.tuples(NAMES, FIELDS | FIELDS | JSON), min_size=20, max_size=20))
def test_whatever_an_agent_sends_is_a_call_or_is_answered(sent: list[tuple[str, object]]) -> None:
    for tool, arguments in sent:
        try:
            call = DIALECT.parse(tool, arguments, OnTimeout.BACKGROUND)
        except CallError as error:
            reply = DIALECT.refuse(tool, error)
            assert reply.is_error
            json.dumps(reply.details)
            reply.text.encode()
        else:
            assert isinstance(call, Run)
