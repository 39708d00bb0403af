"""The cases that were gathered about this interface, where they are at hand."""

import json
import os
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import cast

import pytest

from conformance.codegen.shells import completed, run, start
from nacre import Bash
from nacre.config.policy import policy_for
from nacre.dialects.codegen.dialect import CodegenDialect
from nacre.model.call import OnTimeout, Run
from nacre.model.verdict import Decision
from nacre.syntax.read import read
from nacre.syntax.script import Surroundings

pytestmark = pytest.mark.anyio

SHARED = Path(__file__).parents[4] / "shared" / "cases"
FILE = Path(os.environ.get("NACRE_CASES", SHARED)) / "seed_cases.json"
DIFFERENCES = Path(__file__).with_name("differences.toml")
REQUIRED = ("seed", "test", "doc", "measured", "source-derived")


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """What was asked, and what was expected, both as objects."""

    id: str
    kind: str
    input: dict[str, object]
    expected: dict[str, object]


def cases(kind: str) -> list[Case]:
    if not FILE.exists():
        pytest.skip(f"{FILE.name} is not here; NACRE_CASES names its folder")
    return [
        Case(
            id=each["id"],
            kind=kind,
            input=each["input"] if isinstance(each["input"], dict) else {"command": each["input"]},
            expected=each["expected"],
        )
        for each in json.loads(FILE.read_text("utf-8"))
        if (each["system"], each["kind"]) == ("codegen-sandbox", kind) and each["basis"] in REQUIRED
    ]


def differences() -> dict[str, str]:
    entries = tomllib.loads(DIFFERENCES.read_text("utf-8"))["difference"]
    return {entry["case"]: entry["reason"] for entry in entries}


def verdict(case: Case) -> dict[str, object]:
    script = read(str(case.input["command"]), Surroundings(cwd="/srv/app", home="/srv"))
    found = policy_for("codegen").check(script)
    if found.decision is Decision.ALLOW:
        return {"verdict": "allow"}
    token = found.reason.partition('"')[2].removesuffix('"')
    return {"verdict": "deny", "token": token, "error": found.reason}


def test_every_difference_is_one_and_has_a_reason() -> None:
    assert all(reason.endswith(".") for reason in differences().values())
    assert len(differences()) == DIFFERENCES.read_text("utf-8").count("[[difference]]")


def test_scripts_are_judged_as_the_cases_say() -> None:
    known = differences()
    found = {case.id for case in cases("denylist") if verdict(case) != case.expected}
    assert found == {case.id for case in cases("denylist")} & known.keys()


def wanted(expected: dict[str, object], text: str) -> bool:
    """Whether a reply has what a case expects of it."""
    parts = expected.get("contains", [])
    held = [parts] if isinstance(parts, str) else cast("list[str]", parts)
    return expected.get("text", text) == text and all(part in text for part in held)


def test_timeouts_are_read_as_the_cases_say() -> None:
    for case in cases("exec"):
        if "timeout_argument" in case.input:
            arguments = {"command": "x", "description": "x"}
            given = {**arguments, "timeout": case.input["timeout_argument"]}
            call = CodegenDialect().parse("Bash", given, OnTimeout.KILL)
            assert isinstance(call, Run)
            assert call.timeout, case.id
            assert call.timeout.total_seconds() == case.expected["effective_timeout_s"], case.id


def test_commands_are_answered_as_the_cases_say(workspace: Path, state: Path) -> None:
    known = differences()
    with Bash(dialect="codegen", workspace=workspace, state=state) as tool:
        for case in cases("exec"):
            if "timeout_argument" not in case.input:
                reply = tool.call_sync("Bash", case.input)
                answered = reply.is_error is case.expected["is_error"]
                is_equal = answered and wanted(case.expected, reply.text)
                assert is_equal is (case.id not in known), case.id


async def test_shells_are_as_the_cases_say(codegen: Bash) -> None:
    for case in cases("background"):
        after = str(case.input.get("after", ""))
        if after:
            command = after.removesuffix(" finished")
            reply = await completed(codegen, await start(codegen, command))
        elif case.input["tool"] == "Bash":
            more = {key: case.input[key] for key in case.input if key not in {"tool", "command"}}
            reply = await run(codegen, str(case.input["command"]), **more)
        else:
            reply = await codegen.call(str(case.input["tool"]), case.input)
        assert wanted(case.expected, reply.text), case.id
        assert reply.is_error is case.expected.get("is_error", False), case.id
