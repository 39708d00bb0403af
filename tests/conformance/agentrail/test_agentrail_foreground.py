"""Commands that end within their time: the text, the details, and how much of the output."""

import json
import os
from collections.abc import Mapping
from datetime import timedelta
from pathlib import Path

import pytest

from nacre import Bash, ToolContext
from nacre.dialects.agentrail.dialect import AgentrailDialect
from nacre.model.call import Run
from nacre.model.outcome import (
    Denied,
    Exited,
    Lost,
    Outcome,
    Running,
    Signaled,
    Stopped,
    TimedOut,
    Unstarted,
)
from nacre.model.result import Result
from nacre.model.transcript import Limit, Transcript
from nacre.model.verdict import Decision, Verdict
from processes import gone, tag

MIB = 1024 * 1024


def foreground(code: int, stdout: str = "", stderr: str = "") -> Mapping[str, object]:
    return {"mode": "foreground", "exit_code": code, "stdout": stdout, "stderr": stderr}


@pytest.mark.requirement(
    "agentrail.output", "agentrail.foreground-details", "agentrail.foreground-only-if-ended"
)
async def test_output_comes_back_with_the_exit_code(agentrail: Bash) -> None:
    reply = await agentrail.call("Bash", {"command": "echo hello"})
    assert reply.text == "hello\n\n\n[exit code: 0]"
    assert reply.details == foreground(0, "hello\n")
    assert not reply.is_error


@pytest.mark.requirement("agentrail.combined-text")
async def test_the_text_has_both_streams_and_standard_error_has_a_heading(agentrail: Bash) -> None:
    reply = await agentrail.call("Bash", {"command": "echo out; echo err >&2"})
    assert reply.text == "out\n\n[stderr]\nerr\n\n\n[exit code: 0]"
    assert reply.details == foreground(0, "out\n", "err\n")


async def test_a_command_that_says_nothing_is_told_so(agentrail: Bash) -> None:
    for command in ("true", ""):
        reply = await agentrail.call("Bash", {"command": command})
        assert reply.text == "(no output)\n\n[exit code: 0]"


@pytest.mark.requirement("agentrail.nonzero-exit", "agentrail.exit-code")
@pytest.mark.parametrize(
    ("command", "code"),
    [
        ("exit 3", 3),
        ("false", 1),
        ("no-such-program-here", 127),
        ("kill -9 $$", 137),
        ("kill -TERM $$", 143),
        ("echo 'not closed", 2),
    ],
)
def test_an_exit_code_is_told_and_is_no_error(agentrail: Bash, command: str, code: int) -> None:
    reply = agentrail.call_sync("Bash", {"command": command})
    assert reply.text.endswith(f"\n\n[exit code: {code}]")
    assert reply.details is not None
    assert reply.details["exit_code"] == code
    assert not reply.is_error


@pytest.mark.requirement("agentrail.working-directory", "agentrail.example")
async def test_a_command_runs_in_the_directory_it_names(agentrail: Bash, tmp_path: Path) -> None:
    project = tmp_path / "myproject"
    project.mkdir()
    made = "git init -q && git -c user.name=a -c user.email=a@b commit -q --allow-empty -m first"
    await agentrail.call("Bash", {"command": made, "working_directory": str(project)})
    reply = await agentrail.call(
        "Bash", {"command": "git log --oneline -5; pwd", "working_directory": str(project)}
    )
    assert f" first\n{project}\n" in reply.text


@pytest.mark.requirement("agentrail.working-directory-default")
async def test_without_a_directory_it_is_the_one_of_the_process(
    state: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    async with Bash(dialect="agentrail", state=state) as tool:
        reply = await tool.call("Bash", {"command": "pwd"})
    assert reply.details == foreground(0, f"{tmp_path}\n")


async def test_the_hosts_context_names_another_directory(agentrail: Bash, tmp_path: Path) -> None:
    reply = await agentrail.call("Bash", {"command": "pwd"}, ToolContext(working_dir=tmp_path))
    assert reply.details == foreground(0, f"{tmp_path}\n")


@pytest.mark.parametrize(
    ("folder", "reason"),
    [
        ("/nope", "the working directory '/nope' does not exist"),
        ("/etc/passwd", "the working directory '/etc/passwd' is not a directory"),
        ("/\ud800", "the working directory '/\\ud800' "),
        ("/a\0b", "the working directory '/a\\x00b' "),
    ],
)
def test_a_directory_that_cannot_be_used_is_an_exit_code_with_its_reason(
    agentrail: Bash, folder: str, reason: str
) -> None:
    reply = agentrail.call_sync("Bash", {"command": "ls", "working_directory": folder})
    assert reply.details is not None
    assert (reply.details["mode"], reply.details["exit_code"]) == ("foreground", 1)
    assert str(reply.details["stderr"]).startswith(reason)
    assert reply.text == f"[stderr]\n{reply.details['stderr']}\n\n[exit code: 1]"
    assert not reply.is_error
    reply.text.encode()


async def test_the_environment_is_the_hosts(
    agentrail: Bash, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AGENTRAIL_TEST_VALUE", "here")
    reply = await agentrail.call("Bash", {"command": "echo $AGENTRAIL_TEST_VALUE; cat"})
    assert reply.details == foreground(0, "here\n")


async def test_the_call_ends_with_its_shell_and_nothing_is_left(agentrail: Bash) -> None:
    mark = tag()
    reply = await agentrail.call(
        "Bash", {"command": f"sleep {mark} & setsid sleep {mark} & echo hi"}
    )
    assert reply.details == foreground(0, "hi\n")
    await gone(mark)


@pytest.mark.requirement("agentrail.truncated")
async def test_each_stream_is_cut_after_its_first_mebibyte(agentrail: Bash) -> None:
    command = f"head -c {MIB + 1} /dev/zero | tr '\\0' x; head -c {MIB} /dev/zero | tr '\\0' y >&2"
    reply = await agentrail.call("Bash", {"command": command})
    stdout, stderr = "x" * MIB + "\n[output truncated]", "y" * MIB
    assert reply.details == foreground(0, stdout, stderr)
    assert reply.text == f"{stdout}\n[stderr]\n{stderr}\n\n[exit code: 0]"


async def test_a_cut_leaves_no_part_of_a_character(agentrail: Bash) -> None:
    command = f"head -c {MIB - 1} /dev/zero | tr '\\0' x; printf 'é and more'"
    reply = await agentrail.call("Bash", {"command": command})
    assert reply.details == foreground(0, "x" * (MIB - 1) + "\n[output truncated]")


async def test_output_is_raw_but_for_bytes_that_are_no_text(agentrail: Bash) -> None:
    reply = await agentrail.call("Bash", {"command": r"printf 'a\033[31mb\r\xff'"})
    assert reply.details == foreground(0, "a\x1b[31mb\r�")


SAID = Transcript(head=b"so far\n")
DENIED = Verdict(decision=Decision.DENY, reason="Made up.")


@pytest.mark.parametrize(
    ("outcome", "text", "code"),
    [
        (Exited(2), "so far\n\n\n[exit code: 2]", 2),
        (Signaled(15), "so far\n\n\n[exit code: 143]", 143),
        (
            TimedOut(timedelta(milliseconds=50)),
            "Process was killed after 50 ms\nso far\n\n\n[exit code: 124]",
            124,
        ),
        (Unstarted("no bash"), "[stderr]\nno bash\n\n[exit code: 1]", 1),
        (Unstarted("no sandbox", unheld=True), "no sandbox", None),
        (Denied(DENIED), 'Permission denied for tool "Bash"', None),
        (Stopped(), "Execution was aborted\nso far\n", None),
        (Lost("gone"), "The end of the process was not seen: gone\nso far\n", None),
    ],
)
def test_every_outcome_has_its_words(outcome: Outcome, text: str, code: int | None) -> None:
    call = Run(script="x", limit=Limit(head=1, tail=0))
    reply = AgentrailDialect().render(call, Result(outcome=outcome, transcript=SAID))
    assert reply.text == text
    assert reply.is_error == (code is None)
    assert (reply.details or {}).get("exit_code") == code
    json.dumps(reply.details)


def test_what_nacre_has_to_add_is_told_in_brackets() -> None:
    call = Run(script="x", limit=Limit(head=1, tail=0))
    result = Result(outcome=Exited(0), transcript=SAID, notices=("something was put back",))
    reply = AgentrailDialect().render(call, result)
    assert reply.text == "[note: something was put back]\nso far\n\n\n[exit code: 0]"


@pytest.mark.requirement("agentrail.container-no-pid")
def test_in_a_container_the_background_has_no_pid() -> None:
    call = Run(script="x", limit=Limit(head=1, tail=0))
    result = Result(
        outcome=Running("j"), transcript=SAID, errors=Transcript(head="e é".encode()[:-1])
    )
    reply = AgentrailDialect(contained=True).render(call, result)
    assert reply.text == (
        "Process moved to background (still running in sandbox)\nso far\n\n[stderr]\ne "
    )
    assert reply.details == {"mode": "background", "stdout": "so far\n", "stderr": "e "}


async def test_a_container_without_an_image_is_refused_in_words_and_nothing_runs(
    state: Path, workspace: Path
) -> None:
    async with Bash(
        dialect="agentrail", workspace=workspace, state=state, sandbox="container"
    ) as tool:
        reply = await tool.call("Bash", {"command": "touch marker"})
    assert reply.text.startswith(
        "No sandbox found for session 'default'\nsandbox='container' needs an image"
    )
    assert (reply.is_error, reply.details) == (True, None)
    assert os.listdir(workspace) == []
