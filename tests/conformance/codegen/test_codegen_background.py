"""Background mode: shells that go on, who can see them, what they keep, how they end."""

import os
import re
import signal
from pathlib import Path

import anyio
import pytest

from conformance.codegen.shells import completed, look, run, start, until
from hosts import finish, start_host
from nacre import Bash, Reply, ToolContext
from processes import alive, gone, tag

pytestmark = pytest.mark.anyio

UUID = r"[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}"
TIME = r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ"
CAP = 1024 * 1024


async def kill(tool: Bash, shell_id: str) -> Reply:
    return await tool.call("KillShell", {"shell_id": shell_id})


@pytest.mark.requirement(
    "codegen.background-returns",
    "codegen.background-reply",
    "codegen.background-uuid",
    "codegen.background-goes-on",
    "codegen.background-flag",
)
async def test_a_shell_gets_an_id_of_its_own_and_goes_on(codegen: Bash) -> None:
    seconds = tag()
    command = f"sleep {seconds}"
    replies = [await run(codegen, command, run_in_background=True) for _ in range(2)]
    found = [
        re.fullmatch(f"shell_id: ({UUID})\nstarted in background: {command}\n", reply.text)
        for reply in replies
    ]
    ids = {match[1] for match in found if match}
    assert len(ids) == 2
    assert all(reply.details == {"exit_code": None} and not reply.is_error for reply in replies)
    for shell in ids:
        assert "\nstatus: running\n" in (await look(codegen, shell)).text
    assert len(alive(seconds)) == 2


@pytest.mark.requirement("codegen.background-denylist-first")
async def test_the_list_is_looked_at_before_a_shell_is_made(codegen: Bash, state: Path) -> None:
    reply = await run(codegen, "> made; sudo id", run_in_background=True)
    assert reply.text == 'command rejected: command uses denylisted token "sudo"'
    assert reply.is_error
    assert (await run(codegen, "ls")).text == ""
    assert list(state.glob("jobs/*")) == []


@pytest.mark.requirement("codegen.poll")
async def test_a_poll_tells_everything_from_the_start_each_time(codegen: Bash) -> None:
    command = "echo out; printf err >&2; until [ -e go ]; do sleep 0.01; done; exit 3"
    shell = await start(codegen, command)
    expected = (
        f"command: {re.escape(command)}\nstatus: running\nstarted: {TIME}\n\n"
        "--- stdout \\(4 bytes\\) ---\nout\n--- stderr \\(3 bytes\\) ---\nerr\n"
    )
    first = await until(codegen, shell, "err\n")
    assert re.fullmatch(expected, first.text)
    assert (first.is_error, first.details) == (False, {"exit_code": None})
    await run(codegen, "touch go")
    last = await completed(codegen, shell)
    assert last.text == first.text.replace("running", "completed (exit 3)")
    assert last.details == {"exit_code": 3}
    assert (await look(codegen, shell)).text == last.text


async def test_a_silent_shell_has_two_empty_sections(codegen: Bash) -> None:
    reply = await completed(codegen, await start(codegen, "true"))
    assert reply.text.endswith("\n\n--- stdout (0 bytes) ---\n--- stderr (0 bytes) ---\n")


@pytest.mark.requirement("codegen.background-buffers")
async def test_the_first_mebibyte_of_each_stream_is_kept(codegen: Bash) -> None:
    letters = "head -c {} /dev/zero | tr '\\0' {}"
    exactly, more = letters.format(CAP, "x"), letters.format(CAP + 1, "y")
    reply = await completed(codegen, await start(codegen, f"{exactly}; {more} >&2; echo z >&2"))
    _, _, streams = reply.text.partition("\n\n")
    assert streams == (
        f"--- stdout ({CAP} bytes) ---\n{'x' * CAP}\n"
        f"--- stderr ({CAP} bytes) [TRUNCATED] ---\n{'y' * CAP}\n"
    )


async def test_a_shell_that_still_runs_tells_that_it_said_too_much(codegen: Bash) -> None:
    shell = await start(codegen, f"head -c {CAP - 1} /dev/zero; printf 'éé'; sleep {tag()}")
    reply = await until(codegen, shell, "[TRUNCATED]")
    assert f"--- stdout ({CAP - 1} bytes) [TRUNCATED] ---\n" in reply.text


@pytest.mark.requirement("codegen.background-group")
async def test_a_shell_is_killed_with_all_it_started(codegen: Bash) -> None:
    seconds = tag()
    command = f"trap '' TERM; sleep {seconds} & setsid sleep {seconds} & echo up; wait"
    shell = await start(codegen, command)
    await until(codegen, shell, "up\n")
    assert not (await kill(codegen, shell)).is_error
    await gone(seconds)


@pytest.mark.requirement("codegen.kill")
async def test_a_killed_shell_is_forgotten(codegen: Bash) -> None:
    shell = await start(codegen, f"sleep {tag()}")
    reply = await kill(codegen, shell)
    assert reply == Reply(text=f"killed: {shell}\n", details={"exit_code": None})
    unknown = Reply(text=f"unknown shell_id: {shell}", is_error=True, details={"exit_code": None})
    assert await look(codegen, shell) == unknown
    assert await kill(codegen, shell) == unknown


async def test_a_shell_that_has_ended_stays_readable_until_it_is_killed(codegen: Bash) -> None:
    shell = await start(codegen, "echo done")
    await completed(codegen, shell)
    assert "\ndone\n" in (await look(codegen, shell)).text
    assert (await kill(codegen, shell)).text == f"killed: {shell}\n"
    assert (await look(codegen, shell)).text == f"unknown shell_id: {shell}"


@pytest.mark.parametrize("name", ["BashOutput", "KillShell"])
async def test_a_shell_id_must_be_given_and_be_known(codegen: Bash, name: str) -> None:
    for value in (None, "", 7, True, ["a"], {"a": 1}):
        reply = await codegen.call(name, {"shell_id": value})
        assert (reply.text, reply.is_error) == ("shell_id is required", True)
    for value in ("nope", "../../etc/passwd", "x" * 100_000, "a\0b"):
        reply = await codegen.call(name, {"shell_id": value})
        assert (reply.text, reply.is_error) == (f"unknown shell_id: {value}", True)
    assert (await codegen.call(name, {"shell_id": "\ud800"})).text == "unknown shell_id: \ufffd"


async def test_a_shell_that_a_signal_ended_has_no_exit_code(codegen: Bash) -> None:
    for word in ("kill -9 $$", "kill -TERM $$"):
        reply = await completed(codegen, await start(codegen, f"echo said; {word}"))
        assert "\nstatus: completed (exit -1)\n" in reply.text
        assert "\nsaid\n" in reply.text
        assert reply.details == {"exit_code": -1}


async def test_a_shell_killed_from_outside_is_told_as_one_without_exit_code(
    codegen: Bash,
) -> None:
    seconds = tag()
    shell = await start(codegen, f"exec sleep {seconds}")
    with anyio.fail_after(10):
        while not (found := alive(seconds)):
            await anyio.sleep(0.01)
    os.kill(found[0], signal.SIGKILL)
    assert "\nstatus: completed (exit -1)\n" in (await completed(codegen, shell)).text


@pytest.mark.requirement("codegen.background-registry")
async def test_shells_are_those_of_the_workspace(workspace: Path, state: Path) -> None:
    other = workspace.parent / "other"
    other.mkdir()
    async with (
        Bash(dialect="codegen", workspace=workspace, state=state) as first,
        Bash(dialect="codegen", workspace=workspace, state=state) as second,
        Bash(dialect="codegen", workspace=other, state=state) as elsewhere,
    ):
        context = ToolContext(working_dir=workspace, conversation="one")
        arguments = {"command": "echo seen", "description": "try", "run_in_background": True}
        reply = await first.call("Bash", arguments, context)
        shell = reply.text.split()[1]
        assert "\nseen\n" in (await completed(second, shell)).text
        assert (await look(elsewhere, shell)).text == f"unknown shell_id: {shell}"
        assert (await kill(elsewhere, shell)).text == f"unknown shell_id: {shell}"
        assert (await kill(second, shell)).text == f"killed: {shell}\n"
        assert (await look(first, shell)).text == f"unknown shell_id: {shell}"


async def test_another_process_sees_the_shells_of_the_workspace(
    codegen: Bash, workspace: Path, state: Path
) -> None:
    seconds = tag()
    code = f"""
        import sys
        from nacre import Bash

        with Bash(dialect="codegen", workspace={str(workspace)!r}, state={str(state)!r}) as tool:
            reply = tool.call_sync("Bash", {{
                "command": "echo there; exec sleep $NAP",
                "description": "wait",
                "run_in_background": True,
            }})
            print(reply.text.split()[1], flush=True)
            sys.stdin.read()
    """
    host = start_host(code, state, NAP=seconds)
    try:
        assert host.stdout is not None
        shell = (await anyio.to_thread.run_sync(host.stdout.readline)).decode().strip()
        assert "\nthere\n" in (await until(codegen, shell, "\nthere\n")).text
        assert (await kill(codegen, shell)).text == f"killed: {shell}\n"
        await gone(seconds)
    finally:
        finish(host)


async def test_shells_end_with_their_tool(workspace: Path, state: Path) -> None:
    seconds = tag()
    async with Bash(dialect="codegen", workspace=workspace, state=state) as tool:
        await start(tool, f"exec sleep {seconds}")
    await gone(seconds)


async def test_a_detached_shell_survives_its_tool_and_says_nothing_more(
    codegen: Bash, workspace: Path, state: Path
) -> None:
    async with Bash(dialect="codegen", workspace=workspace, state=state, jobs="detached") as tool:
        shell = await start(tool, "until [ -e go ]; do sleep 0.01; done; echo last")
    (workspace / "go").touch()
    reply = await completed(codegen, shell)
    assert reply.text.endswith("--- stdout (5 bytes) ---\nlast\n--- stderr (0 bytes) ---\n")


async def test_a_shell_that_cannot_be_kept_is_not_started(workspace: Path, tmp_path: Path) -> None:
    state = tmp_path / "file"
    state.touch()
    async with Bash(dialect="codegen", workspace=workspace, state=state) as tool:
        reply = await run(tool, "touch made", run_in_background=True)
        assert reply.is_error
        assert reply.text.startswith("bash-bg start: the state directory ")
        asked = await look(tool, "nope")
        assert asked.is_error
        assert asked.text.startswith("bash: ")
    assert not (workspace / "made").exists()


async def test_a_workspace_is_the_same_however_it_is_spelled(
    workspace: Path, state: Path, tmp_path: Path
) -> None:
    (tmp_path / "link").symlink_to(workspace)
    spelled = [workspace, tmp_path / "link", workspace / ".." / workspace.name]
    async with Bash(dialect="codegen", workspace=workspace, state=state) as first:
        shell = await start(first, "true")
        for folder in spelled:
            async with Bash(dialect="codegen", workspace=folder, state=state) as tool:
                assert (await look(tool, shell)).text.startswith("command: true\n")
