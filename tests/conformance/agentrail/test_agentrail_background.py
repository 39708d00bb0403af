"""Commands that outlive their time, and calls that are cancelled."""

import os
import time
from collections.abc import Callable
from pathlib import Path

import anyio
import pytest

from nacre import Bash, CancelToken, Reply, ToolContext
from processes import alive, gone, tag

Make = Callable[..., Bash]


def pid_of(reply: Reply) -> int:
    assert reply.details is not None
    assert reply.details["mode"] == "background"
    pid = reply.details["pid"]
    assert isinstance(pid, int)
    return pid


async def appears(path: Path) -> None:
    with anyio.fail_after(10):
        while not path.exists():
            await anyio.sleep(0.01)


@pytest.mark.requirement(
    "agentrail.timeout",
    "agentrail.union",
    "agentrail.background-details",
    "agentrail.partial-output",
    "agentrail.pid",
)
async def test_at_the_timeout_a_command_goes_on_in_the_background(agentrail: Bash) -> None:
    mark = tag()
    command = f"echo out; echo err >&2; sleep {mark}"
    began = time.monotonic()
    reply = await agentrail.call("Bash", {"command": command, "timeout": 300})
    assert 0.3 <= time.monotonic() - began < 10
    pid = pid_of(reply)
    assert reply.text == (f"Process is running in background (pid: {pid})\nout\n\n[stderr]\nerr\n")
    assert reply.details == {"mode": "background", "pid": pid, "stdout": "out\n", "stderr": "err\n"}
    assert not reply.is_error
    assert pid in alive(mark)


@pytest.mark.requirement("agentrail.timeout-zero")
async def test_a_timeout_of_nothing_is_the_background_at_once(
    agentrail: Bash, workspace: Path
) -> None:
    mark = tag()
    command = f"echo out; touch begun; sleep {mark}"
    reply = await agentrail.call("Bash", {"command": command, "timeout": 0})
    pid = pid_of(reply)
    assert reply.text == f"Process is running in background (pid: {pid})"
    assert reply.details == {"mode": "background", "pid": pid, "stdout": "", "stderr": ""}
    await appears(workspace / "begun")
    assert alive(mark)


async def test_what_goes_on_is_never_killed_and_comes_to_its_end(
    agentrail: Bash, workspace: Path
) -> None:
    os.mkfifo(workspace / "go")
    command = "echo begun; read line < go; echo $line > done"
    reply = await agentrail.call("Bash", {"command": command, "timeout": 200})
    assert pid_of(reply)
    await agentrail.call("Bash", {"command": "echo finished > go"})
    await appears(workspace / "done")


async def test_a_later_call_can_end_it_by_its_pid(agentrail: Bash) -> None:
    mark = tag()
    reply = await agentrail.call("Bash", {"command": f"exec sleep {mark}", "timeout": 0})
    ended = await agentrail.call("Bash", {"command": f"kill {pid_of(reply)}"})
    assert ended.text == "(no output)\n\n[exit code: 0]"
    await gone(mark)


async def test_the_background_ends_with_the_tool(make: Make) -> None:
    mark = tag()
    async with make() as tool:
        await tool.call("Bash", {"command": f"setsid sleep {mark} & sleep {mark}", "timeout": 0})
    assert alive(mark) == []


def test_partial_output_is_cut_like_any_other(agentrail: Bash) -> None:
    command = f"head -c 1048577 /dev/zero | tr '\\0' x; sleep {tag()}"
    reply = agentrail.call_sync("Bash", {"command": command, "timeout": 1500})
    assert reply.details is not None
    assert reply.details["stdout"] == "x" * 1048576 + "\n[output truncated]"


async def test_a_host_may_have_commands_killed_instead(make: Make) -> None:
    mark = tag()
    async with make(on_timeout="kill") as tool:
        reply = await tool.call("Bash", {"command": f"echo out; sleep {mark}", "timeout": 300})
        assert reply.text == "Process was killed after 300 ms\nout\n\n\n[exit code: 124]"
        assert reply.details == {
            "mode": "foreground", "exit_code": 124, "stdout": "out\n", "stderr": "",
        }  # fmt: skip
        await gone(mark)


async def test_a_hosts_own_timeout_holds_where_the_agent_names_none(make: Make) -> None:
    async with make(timeout=0.2) as tool:
        reply = await tool.call("Bash", {"command": f"sleep {tag()}"})
        assert pid_of(reply)
        named = await tool.call("Bash", {"command": "sleep 0.4; echo hi", "timeout": 20_000})
        assert named.text == "hi\n\n\n[exit code: 0]"


async def test_a_cancelled_call_says_so_and_leaves_nothing(
    agentrail: Bash, workspace: Path
) -> None:
    mark, token = tag(), CancelToken()
    replies: list[Reply] = []

    async def call() -> None:
        command = f"echo out; touch begun; setsid sleep {mark} & sleep {mark}"
        context = ToolContext(working_dir=workspace, cancel=token)
        replies.append(await agentrail.call("Bash", {"command": command}, context))

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(call)
        await appears(workspace / "begun")
        token.cancel()
    [reply] = replies
    assert reply.text == "Execution was aborted\nout\n"
    assert (reply.is_error, reply.details) == (True, None)
    await gone(mark)
