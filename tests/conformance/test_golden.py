"""Replies, word for word, as they were looked at once: what a model reads is an interface.

What differs from run to run has a name instead: <WORKSPACE>, <STATE>, <OUTPUT> (the folder given
for output), <UUID>, <PID>, <TIME>, <NAME> (of a spill).
"""

import json
import re
import tomllib
from pathlib import Path
from typing import Any, cast

import pytest

from nacre import Bash, ToolContext
from nacre.dialects.requirements import DOCUMENTED

GOLDEN = Path(__file__).parent / "golden"
_NAMED = (
    (re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}"), "<UUID>"),
    (re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:Z|[+-]\d\d:\d\d)"), "<TIME>"),
    (re.compile(r"(?<=bash-)[0-9a-f]{12}(?=\.log)"), "<NAME>"),
    (re.compile(r"(?<=pid: )\d+|(?<=<pid>)\d+|(?<=kill -9 -)\d+"), "<PID>"),
)


def cases() -> list[object]:
    files = {name: (GOLDEN / f"{name}.toml").read_text("utf-8") for name in DOCUMENTED}
    return [
        pytest.param(dialect, case, id=f"{dialect}-{case['name']}")
        for dialect, text in files.items()
        for case in tomllib.loads(text)["golden"]
    ]


def named(value: object, places: dict[str, str]) -> object:
    """A reply with names for what differs from run to run."""
    if isinstance(value, str):
        for place, name in places.items():
            value = value.replace(place, name)
        for pattern, name in _NAMED:
            value = pattern.sub(name, value)
        return value
    if isinstance(value, dict):
        found = cast("dict[str, object]", cast("object", value))
        return {
            key: "<PID>" if key == "pid" else named(each, places) for key, each in found.items()
        }
    return value


@pytest.mark.parametrize(("dialect", "case"), cases())
async def test_a_reply_is_word_for_word_as_it_was_looked_at(
    dialect: str, case: dict[str, object], workspace: Path, state: Path, tmp_path: Path
) -> None:
    output = tmp_path / "output"
    places = {str(output): "<OUTPUT>", str(workspace): "<WORKSPACE>", str(state): "<STATE>"}
    arguments = cast("dict[str, object] | str", case["arguments"])
    settings = cast("dict[str, Any]", case.get("settings", {}))
    async with Bash(
        dialect=dialect, workspace=workspace, state=state, output_dir=output, **settings
    ) as tool:
        reply = await tool.call(str(case["tool"]), arguments, ToolContext(working_dir=workspace))
    assert named(reply.text, places) == case["text"]
    assert reply.is_error is case.get("is_error", False)
    if "details" in case:
        assert named(reply.details, places) == case["details"]


@pytest.mark.parametrize("dialect", DOCUMENTED)
def test_the_definitions_of_the_tools_are_as_they_were_looked_at(
    dialect: str, workspace: Path, state: Path
) -> None:
    with Bash(dialect=dialect, workspace=workspace, state=state) as tool:
        specs = json.dumps(tool.specs(), indent=2, ensure_ascii=False)
        specs = specs.replace(str(workspace), "<WORKSPACE>")
    assert specs + "\n" == (GOLDEN / f"{dialect}-specs.json").read_text("utf-8")
