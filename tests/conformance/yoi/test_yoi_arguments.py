"""What the tool is and takes, and what it says of arguments that do not fit."""

import json
import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nacre import Bash, Reply
from nacre.dialects.base import Scene
from nacre.dialects.yoi.dialect import YoiDialect
from nacre.errors import CallError
from nacre.model.call import OnTimeout, Run

PREFIX = "Invalid argument: invalid Bash input: "


@pytest.mark.requirement("yoi.description", "yoi.one-tool")
async def test_there_is_one_tool_with_the_description_of_the_document(yoi: Bash) -> None:
    (spec,) = yoi.specs()
    paragraphs = str(spec["description"]).split("\n\n")
    assert spec["name"] == "Bash"
    assert [each.partition(".")[0].partition(":")[0] for each in paragraphs] == [
        "Execute a shell command via bash",
        "Output handling",
        "Prefer dedicated tools when one fits",
    ]
    assert "chain `cd <subdir> && cmd` when you need to operate elsewhere" in paragraphs[0]
    assert paragraphs[0].endswith("Default timeout 120s, max 600s.")


@pytest.mark.requirement("yoi.schema")
def test_the_schema_is_the_one_of_the_structure() -> None:
    (spec,) = YoiDialect().specs(Scene())
    assert spec.input_schema == {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "BashParams",
        "type": "object",
        "properties": {
            "command": {
                "description": "Shell command to execute. Passed verbatim to `bash -c`.",
                "type": "string",
            },
            "timeout": {
                "description": "Timeout in seconds. Defaults to 120, capped at 600.",
                "type": ["integer", "null"],
                "format": "uint64",
                "minimum": 0,
                "default": None,
            },
        },
        "required": ["command"],
    }


@pytest.mark.requirement("yoi.invalid-argument")
@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ("not json", "expected ident at line 1 column 2"),
        ("", "EOF while parsing a value at line 1 column 0"),
        ("[]", "invalid type: sequence, expected struct BashParams"),
        ("7", "invalid type: integer `7`, expected struct BashParams"),
        ({}, "missing field `command`"),
        ({"command": None}, "invalid type: null, expected a string"),
        ({"command": 5}, "invalid type: integer `5`, expected a string"),
        ({"command": ["ls"]}, "invalid type: sequence, expected a string"),
        ({"command": 1, "timeout": -1}, "invalid type: integer `1`, expected a string"),
        ({"timeout": -1}, "invalid value: integer `-1`, expected u64"),
        ({"command": "a\udc80"}, "lone leading surrogate in hex escape"),
        ({"command": "a\ud800"}, "unexpected end of hex escape"),
    ],
)
async def test_arguments_that_do_not_fit_are_told_in_the_reader_s_words(
    yoi: Bash, arguments: dict[str, object] | str, said: str
) -> None:
    summary = f"{PREFIX}{said}"
    assert await yoi.call("Bash", arguments) == Reply(
        text=summary,
        is_error=True,
        details={"summary": summary, "content": None, "kind": "InvalidArgument"},
    )


@pytest.mark.requirement("yoi.timeout-type")
@pytest.mark.parametrize(
    ("wanted", "said"),
    [
        (-1, "invalid value: integer `-1`, expected u64"),
        (1.5, "invalid type: floating point `1.5`, expected u64"),
        (5.0, "invalid type: floating point `5.0`, expected u64"),
        ("5", 'invalid type: string "5", expected u64'),
        (True, "invalid type: boolean `true`, expected u64"),
        ([5], "invalid type: sequence, expected u64"),
        ({}, "invalid type: map, expected u64"),
        (1 << 64, "invalid type: floating point `18446744073709552000.0`, expected u64"),
        (10**400, "number out of range"),
    ],
)
async def test_a_timeout_that_is_no_whole_number_of_seconds_is_refused(
    yoi: Bash, wanted: object, said: str
) -> None:
    reply = await yoi.call("Bash", {"command": "ls", "timeout": wanted})
    assert (reply.text, reply.is_error) == (f"{PREFIX}{said}", True)


@pytest.mark.requirement("yoi.timeout-optional", "yoi.unknown-fields")
@pytest.mark.parametrize("others", [{}, {"timeout": None}, {"extra": 1, "Timeout": "x"}])
async def test_a_timeout_can_be_left_out_and_other_fields_are_ignored(
    yoi: Bash, others: dict[str, object]
) -> None:
    assert (await yoi.call("Bash", {"command": "echo a", **others})).text == "$ echo a\na\n"


async def test_arguments_may_come_as_a_text(yoi: Bash) -> None:
    assert (await yoi.call("Bash", '{"command": "echo a"}')).text == "$ echo a\na\n"


async def test_another_tool_is_not_found(yoi: Bash) -> None:
    assert await yoi.call("bash", {"command": "ls"}) == Reply(
        text="Tool 'bash' not found",
        is_error=True,
        details={"summary": "Tool 'bash' not found", "content": None, "kind": "ToolNotFound"},
    )


def test_what_becomes_of_a_run_at_its_timeout_is_the_host_s_to_say() -> None:
    run = YoiDialect().parse("Bash", {"command": "ls"}, OnTimeout.BACKGROUND)
    assert isinstance(run, Run)
    assert run.on_timeout is OnTimeout.BACKGROUND
    assert YoiDialect().posture({}).on_timeout is OnTimeout.KILL


NASTY = ["", "5", "\ud800", "a\udcff", "\0", "{}", "}", "\U0001f41a", "command", "tru", "x" * 500]
TEXTS = st.sampled_from(NASTY) | st.text("a}'\"\\\n\ud800é", max_size=5)
NUMBERS = [-(1 << 63) - 1, -(1 << 63), -1, 0, 1, 600, (1 << 64) - 1, 1 << 64, 10**400, 1.5, 1e300]
LEAVES = (
    st.sampled_from([None, True, False, math.nan, math.inf, *NUMBERS])
    | st.just(5000).map(lambda digits: 10**digits)
    | st.integers()
    | st.floats()
    | TEXTS
)
KEYS = st.sampled_from(["command", "timeout", "Timeout", "\ud800", ""])
JSON = st.recursive(
    LEAVES,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(KEYS, inner, max_size=2),
    max_leaves=3,
)
OWN = st.fixed_dictionaries({"command": LEAVES, "timeout": LEAVES})
ODD = st.dictionaries(st.sampled_from([0, None, (True,), "command"]), LEAVES, max_size=2)
CALLS = st.tuples(st.just("Bash") | TEXTS, OWN | JSON | ODD | TEXTS)


@settings(max_examples=1000)
@given(st.lists(CALLS, min_size=20, max_size=20))
def test_whatever_an_agent_sends_is_a_call_or_an_error_in_words(
    calls: list[tuple[str, object]],
) -> None:
    dialect = YoiDialect()
    for tool, arguments in calls:
        try:
            run = dialect.parse(tool, arguments, OnTimeout.KILL)
        except CallError as error:
            reply = dialect.refuse(tool, error)
            assert reply.is_error
            assert json.loads(json.dumps(reply.details)) == reply.details
            reply.text.encode()
        else:
            assert isinstance(run, Run)
