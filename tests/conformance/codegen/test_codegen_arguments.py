"""The table of parameters: what is read, what is required, and what anything else means."""

import json
import math
from datetime import timedelta
from pathlib import Path

import pytest

from conformance.codegen.shells import completed, run, start
from nacre import Bash
from nacre.dialects.codegen.dialect import CodegenDialect
from nacre.model.approval import Question
from nacre.model.call import OnTimeout, Run

pytestmark = pytest.mark.anyio

NO_TEXTS = (None, "", 0, 7, True, ["ls"], {"a": 1})


def parsed(**more: object) -> Run:
    arguments = {"command": "true", "description": "do nothing", **more}
    call = CodegenDialect().parse("Bash", arguments, OnTimeout.KILL)
    assert isinstance(call, Run)
    return call


def schema(tool: Bash, name: str) -> dict[str, tuple[str, bool]]:
    """The properties of a tool: the type of each, and whether it is required."""
    found = json.loads(json.dumps(tool.specs()))
    schema = next(spec["input_schema"] for spec in found if spec["name"] == name)
    properties: dict[str, dict[str, str]] = schema["properties"]
    return {key: (each["type"], key in schema["required"]) for key, each in properties.items()}


@pytest.mark.requirement(
    "codegen.command-type",
    "codegen.description-type",
    "codegen.timeout-type",
    "codegen.background-type",
)
async def test_the_tool_takes_these_parameters(codegen: Bash) -> None:
    assert schema(codegen, "Bash") == {
        "command": ("string", True),
        "description": ("string", True),
        "timeout": ("number", False),
        "run_in_background": ("boolean", False),
    }


@pytest.mark.requirement("codegen.companions")
async def test_two_more_tools_look_after_shells(codegen: Bash) -> None:
    assert [spec["name"] for spec in codegen.specs()] == ["Bash", "BashOutput", "KillShell"]
    for name in ("BashOutput", "KillShell"):
        assert schema(codegen, name) == {"shell_id": ("string", True)}


@pytest.mark.requirement("codegen.command-required")
async def test_a_command_is_required_before_all_else(codegen: Bash) -> None:
    for value in NO_TEXTS:
        reply = await codegen.call("Bash", {"command": value})
        assert (reply.text, reply.is_error) == ("command is required", True)
        assert reply.details == {"exit_code": None}


@pytest.mark.requirement("codegen.description-required")
async def test_a_description_is_required_before_the_list_is_looked_at(codegen: Bash) -> None:
    for value in NO_TEXTS:
        reply = await codegen.call("Bash", {"command": "sudo ls", "description": value})
        assert (reply.text, reply.is_error) == ("description is required", True)


@pytest.mark.parametrize("arguments", [None, [], 3, True, "not JSON", '["a"]', "{", "\ud800"])
async def test_what_is_no_object_has_no_arguments(codegen: Bash, arguments: object) -> None:
    for tool, text in (("Bash", "command is required"), ("KillShell", "shell_id is required")):
        reply = await codegen.call(tool, arguments)  # pyright: ignore[reportArgumentType]
        assert (reply.text, reply.is_error) == (text, True)


async def test_arguments_may_be_the_text_of_an_object(codegen: Bash) -> None:
    reply = await codegen.call("Bash", '{"command": "echo hi", "description": "greet", "x": 1}')
    assert reply.text == "hi\n"


@pytest.mark.parametrize("name", ["bash", "Jobs", "", "\ud800"])
async def test_a_tool_that_is_not_there_is_named(codegen: Bash, name: str) -> None:
    reply = await codegen.call(name, {})
    shown = name.replace("\ud800", "\ufffd")
    assert (reply.text, reply.is_error) == (f"tool '{shown}' not found: tool not found", True)


@pytest.mark.requirement("codegen.command-runs")
async def test_the_command_is_run_by_bash(codegen: Bash) -> None:
    script = 'echo "$0 $#"; [[ $BASH_VERSION ]] && echo $BASH_EXECUTION_STRING'
    reply = await run(codegen, script)
    assert reply.text == f"bash 0\n{script}\n"
    assert reply.details == {"exit_code": 0}


@pytest.mark.requirement("codegen.description-recorded")
async def test_the_description_is_told_to_whoever_looks_and_changes_nothing(
    workspace: Path, state: Path
) -> None:
    asked: list[Question] = []

    def approve(question: Question) -> bool:
        asked.append(question)
        return True

    async with Bash(
        dialect="codegen",
        workspace=workspace,
        state=state,
        rules={"ask": ["Bash(*)"]},
        approver=approve,
    ) as tool:
        reply = await run(tool, "ls", description="sudo $(touch made) `touch made`; touch made")
    assert (reply.text, reply.is_error) == ("", False)
    assert [each.description for each in asked] == ["sudo $(touch made) `touch made`; touch made"]


@pytest.mark.requirement("codegen.timeout-default", "codegen.timeout-seconds")
@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        (1, 1),
        (2.9, 2),
        (600, 600),
        *((value, 120) for value in (0, -5, 0.9, -math.inf, math.nan, -(10**400))),
        *((value, 120) for value in (None, "5", True, False, [5], {"seconds": 5})),
    ],
)
def test_a_timeout_is_a_number_of_seconds_and_anything_else_the_default(
    value: object, seconds: int
) -> None:
    call = parsed(timeout=value)
    assert call.timeout == timedelta(seconds=seconds)
    assert call.timed is (seconds != 120)
    assert parsed().timeout == timedelta(seconds=120)


@pytest.mark.requirement("codegen.timeout-clamped")
async def test_a_longer_timeout_is_cut_to_the_longest(codegen: Bash) -> None:
    for value in (601, 9999, 600.5, math.inf, 10**400):
        assert parsed(timeout=value).timeout == timedelta(seconds=600)
    assert (await run(codegen, "true", timeout=9999)).text == ""


@pytest.mark.requirement("codegen.timeout-ignored-in-background")
async def test_a_timeout_means_nothing_in_the_background(codegen: Bash) -> None:
    shell = await start(codegen, "sleep 1.2; echo done", timeout=1)
    reply = await completed(codegen, shell)
    assert "status: completed (exit 0)\n" in reply.text
    assert "--- stdout (5 bytes) ---\ndone\n" in reply.text


@pytest.mark.requirement("codegen.background-default")
async def test_nothing_but_true_runs_in_the_background(codegen: Bash) -> None:
    for value in (None, False, "true", 1, [True]):
        assert (await run(codegen, "echo here", run_in_background=value)).text == "here\n"
    assert (await run(codegen, "echo here")).text == "here\n"
