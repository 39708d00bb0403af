"""The one thing that keeps a command from running: an ordered table of rules."""

import re
from pathlib import Path

import pytest

from nacre import Bash, Reply
from nacre.errors import ConfigError

DENIED = "permission denied: tool `Bash` arguments matched the manifest permission policy"
ASKED = (
    "permission ask unsupported: tool `Bash` requires approval, but this runtime has no permission"
    " approval protocol; denied fail-closed"
)


def table(default: str, *rows: tuple[str, str, str]) -> dict[str, object]:
    keys = ("tool", "pattern", "action")
    return {
        "default_action": default,
        "rule": [dict(zip(keys, row, strict=True)) for row in rows],
    }


async def answered(workspace: Path, rules: dict[str, object], command: str) -> Reply:
    async with Bash(
        dialect="yoi", workspace=workspace, state=workspace / "state", rules=rules
    ) as tool:
        return await tool.call("Bash", {"command": command})


def refused(summary: str) -> Reply:
    return Reply(
        text=summary,
        is_error=True,
        details={"summary": summary, "content": None, "kind": "PermissionDenied"},
    )


@pytest.mark.requirement("yoi.permission")
async def test_a_command_that_a_rule_denies_does_not_run(workspace: Path) -> None:
    rules = table("allow", ("Bash", "touch *", "deny"))
    assert await answered(workspace, rules, "touch ran") == refused(DENIED)
    assert not (workspace / "ran").exists()
    assert (await answered(workspace, rules, "echo ok")).text == "$ echo ok\nok\n"


async def test_a_default_that_denies_has_the_same_words(workspace: Path) -> None:
    assert await answered(workspace, table("deny"), "ls") == refused(DENIED)


async def test_asking_is_denied_where_nobody_can_be_asked(workspace: Path) -> None:
    assert await answered(workspace, table("ask"), "ls") == refused(ASKED)
    rules = table("allow", ("bash", "ls*", "ask"))
    assert await answered(workspace, rules, "ls") == refused(ASKED)


@pytest.mark.parametrize(("answer", "expected"), [(True, "$ echo ok\nok\n"), (False, DENIED)])
async def test_somebody_who_can_be_asked_decides(
    workspace: Path, state: Path, expected: str, *, answer: bool
) -> None:
    async with Bash(
        dialect="yoi",
        workspace=workspace,
        state=state,
        rules=table("ask"),
        approver=lambda _: answer,
    ) as tool:
        assert (await tool.call("Bash", {"command": "echo ok"})).text == expected


@pytest.mark.requirement("yoi.permission-order")
async def test_the_first_rule_that_matches_decides(workspace: Path) -> None:
    rows = (("bash", "echo *", "allow"), ("Bash", "echo no*", "deny"))
    assert (await answered(workspace, table("deny", *rows), "echo no")).text == "$ echo no\nno\n"
    assert await answered(workspace, table("deny", *rows[::-1]), "echo no") == refused(DENIED)


@pytest.mark.requirement("yoi.permission-parts")
async def test_every_part_of_a_command_must_be_allowed(workspace: Path) -> None:
    rules = table("deny", ("Bash", "git *", "allow"))
    assert await answered(workspace, rules, "git status && touch ran") == refused(DENIED)
    assert not (workspace / "ran").exists()


@pytest.mark.parametrize("command", ["echo a; }; touch ran; { echo b", "touch ran \\", "cat <<E"])
async def test_what_cannot_be_read_does_not_run_under_rules(workspace: Path, command: str) -> None:
    rules = table("deny", ("Bash", "echo *", "allow"))
    assert (await answered(workspace, rules, command)).is_error
    assert not (workspace / "ran").exists()


@pytest.mark.requirement("yoi.permission-none")
async def test_without_a_table_everything_runs(workspace: Path, state: Path) -> None:
    async with Bash(dialect="yoi", workspace=workspace, state=state) as tool:
        reply = await tool.call("Bash", {"command": "mkdir d && rm -rf d && echo gone"})
    assert reply.text.endswith("\ngone\n")


def test_a_table_needs_its_default_action() -> None:
    with pytest.raises(ConfigError, match=re.escape("permissions.default_action is missing")):
        Bash(dialect="yoi", rules={"rule": []})
