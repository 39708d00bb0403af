"""Foreground mode: where and how a command runs, what comes back, and what is left of it."""

import time
from pathlib import Path

import anyio
import pytest

from conformance.codegen.shells import run
from nacre import Bash, CancelToken, Reply, ToolContext
from processes import alive, gone, tag

pytestmark = pytest.mark.anyio

CAP = 100 * 1024


@pytest.mark.requirement("codegen.foreground-blocks")
async def test_a_call_returns_when_its_command_has_ended(codegen: Bash, workspace: Path) -> None:
    reply = await run(codegen, "sleep 0.3; echo end > file; echo said")
    assert reply.text == "said\n"
    assert (workspace / "file").read_text() == "end\n"


@pytest.mark.requirement("codegen.workspace-root")
async def test_a_command_starts_in_the_workspace(codegen: Bash, workspace: Path) -> None:
    (workspace / "marker.txt").touch()
    assert (await run(codegen, "cd /; pwd")).text == "/\n"
    assert (await run(codegen, "pwd; ls")).text == f"{workspace}\nmarker.txt\n"


@pytest.mark.requirement("codegen.stdin-closed")
async def test_there_is_nothing_to_read(codegen: Bash) -> None:
    reply = await run(codegen, "cat; read -r line || echo none; readlink /proc/self/fd/0")
    assert reply.text == "none\n/dev/null\n"


@pytest.mark.requirement("codegen.environment-inherited")
async def test_the_variables_of_the_host_are_passed(
    codegen: Bash, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SERVICE_API_TOKEN", "kept as it is")
    assert (await run(codegen, "echo $SERVICE_API_TOKEN")).text == "kept as it is\n"


@pytest.mark.requirement("codegen.merged")
async def test_both_streams_come_in_their_real_order(codegen: Bash) -> None:
    reply = await run(codegen, "echo 1; echo 2 >&2; echo 3; echo 4 >&2; echo 5")
    assert reply.text == "1\n2\n3\n4\n5\n"


@pytest.mark.requirement("codegen.exit-line")
async def test_the_last_line_tells_an_exit_that_is_not_zero(codegen: Bash) -> None:
    for command, text, code in (
        ("exit 7", "exit: 7\n", 7),
        ("echo said; exit 1", "said\nexit: 1\n", 1),
        ("printf said; exit 255", "said\nexit: 255\n", 255),
        ("kill -9 $$", "exit: -1\n", -1),
        ("printf said; kill -TERM $$", "said\nexit: -1\n", -1),
        ("if", "bash: -c: line 2: syntax error: unexpected end of file\nexit: 2\n", 2),
    ):
        reply = await run(codegen, command)
        assert (reply.text.replace("line 1:", "line 2:"), reply.is_error) == (text, False)
        assert reply.details == {"exit_code": code}


@pytest.mark.requirement("codegen.no-exit-line")
async def test_a_success_is_its_output_and_nothing_else(codegen: Bash) -> None:
    said = {"true": "", "echo hi": "hi\n", "printf hi": "hi\n", "echo; echo": "\n\n"}
    for command, text in said.items():
        reply = await run(codegen, command)
        assert reply == Reply(text=text, details={"exit_code": 0})


async def test_output_is_not_cleaned_and_what_is_no_text_is_replaced(codegen: Bash) -> None:
    reply = await run(codegen, r"printf '\033[31mred\033[0m\r1%%\r2%%\n\377\303'")
    assert reply.text == "\033[31mred\033[0m\r1%\r2%\n\ufffd\ufffd\n"


@pytest.mark.requirement("codegen.capped")
async def test_the_first_100_kib_are_shown_and_the_rest_is_counted(codegen: Bash) -> None:
    for command, shown, elided in (
        (f"head -c {CAP} /dev/zero | tr '\\0' x", CAP, 0),
        (f"head -c {CAP + 1} /dev/zero | tr '\\0' x", CAP, 1),
        (f"head -c {2 * CAP} /dev/zero | tr '\\0' x >&2; exit 3", CAP, CAP),
        (f"head -c {CAP - 1} /dev/zero | tr '\\0' x; printf 'éé'", CAP - 1, 4),
    ):
        reply = await run(codegen, command)
        cut = f"... (output truncated, {elided} bytes elided)\n" if elided else ""
        last = "exit: 3\n" if "exit" in command else ""
        assert reply.text == f"{'x' * shown}\n{cut}{last}"


@pytest.mark.requirement("codegen.timeout-marker", "codegen.timeout-exit-124", "codegen.example")
async def test_a_timeout_is_told_after_the_partial_output(codegen: Bash) -> None:
    began = time.monotonic()
    reply = await run(
        codegen, "echo some stdout; echo some stderr interleaved >&2; sleep 60", timeout=2
    )
    assert 1.9 < time.monotonic() - began < 5
    assert reply == Reply(
        text="some stdout\nsome stderr interleaved\nbash: timed out after 2s\nexit: 124\n",
        details={"exit_code": 124},
    )


@pytest.mark.requirement("codegen.group-killed", "codegen.children-killed")
async def test_nothing_survives_a_timeout(codegen: Bash) -> None:
    seconds = tag()
    began = time.monotonic()
    command = (
        f"trap '' TERM; sleep {seconds} & nohup sleep {seconds} & setsid sleep {seconds} & "
        f"(setsid bash -c 'sleep {seconds} & disown' &); printf up; wait"
    )
    reply = await run(codegen, command, timeout=1)
    assert reply.text == "up\nbash: timed out after 1s\nexit: 124\n"
    assert time.monotonic() - began < 5
    await gone(seconds)


@pytest.mark.requirement("codegen.pipes-drain")
async def test_what_is_in_the_pipe_at_the_end_comes_along(codegen: Bash) -> None:
    numbers = "".join(f"{n}\n" for n in range(1, 10_001))
    reply = await run(codegen, "seq 10000; exec sleep 60", timeout=1)
    assert reply.text == f"{numbers}bash: timed out after 1s\nexit: 124\n"
    reply = await run(codegen, "(sleep 0.5; echo late) & echo now")
    assert reply.text == "now\nlate\n"


async def test_what_a_command_leaves_behind_is_ended_two_seconds_later(codegen: Bash) -> None:
    seconds = tag()
    began = time.monotonic()
    reply = await run(codegen, f"sleep {seconds} & echo here")
    assert 1.9 < time.monotonic() - began < 5
    assert reply == Reply(text="here\n", details={"exit_code": 0})
    await gone(seconds)


async def test_a_cancelled_call_is_told_so_and_leaves_nothing(
    codegen: Bash, workspace: Path
) -> None:
    seconds, cancel = tag(), CancelToken()
    replies: list[Reply] = []

    async def call() -> None:
        arguments = {"command": f"sleep {seconds}", "description": "wait"}
        context = ToolContext(working_dir=workspace, cancel=cancel)
        replies.append(await codegen.call("Bash", arguments, context))

    with anyio.fail_after(10):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(call)
            while not alive(seconds):
                await anyio.sleep(0.01)
            cancel.cancel()
    expected = Reply(text="bash: context canceled", is_error=True, details={"exit_code": None})
    assert replies == [expected]
    await gone(seconds)


async def test_a_command_that_cannot_be_started_is_an_error(codegen: Bash, workspace: Path) -> None:
    workspace.rmdir()
    sentence = f"the working directory {str(workspace)!r} does not exist"
    for more, prefix in (({}, "bash"), ({"run_in_background": True}, "bash-bg start")):
        reply = await run(codegen, "true", **more)
        assert (reply.text, reply.is_error) == (f"{prefix}: {sentence}", True)
    assert (await run(codegen, "a\0b")).text.startswith("bash: the script holds a NUL character")


async def test_a_host_may_set_another_timeout_and_what_becomes_of_it(
    workspace: Path, state: Path
) -> None:
    async with Bash(
        dialect="codegen", workspace=workspace, state=state, timeout=0.3, on_timeout="background"
    ) as tool:
        reply = await run(tool, "printf first; sleep 0.6; echo second")
        head, shell, tail = reply.text.partition("shell_id: ")
        assert head == "first\nbash: still running after 0.3s\n"
        assert tail.endswith("\nmoved to background: printf first; sleep 0.6; echo second\n")
        assert (shell, reply.is_error) == ("shell_id: ", False)
