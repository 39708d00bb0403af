"""When the time of a command is up, or nobody wants its answer any more."""

from collections.abc import Awaitable, Callable
from datetime import timedelta
from pathlib import Path

import anyio
import pytest

from nacre import Bash, CancelToken, Reply, ToolContext
from nacre.dialects.yoi.dialect import YoiDialect
from nacre.model.call import OnTimeout, Run
from processes import alive, gone, tag

Ask = Callable[..., Awaitable[Reply]]


def seconds(timeout: object) -> tuple[float, bool]:
    """The time a command gets, and whether the agent chose it."""
    run = YoiDialect().parse("Bash", {"command": "ls", "timeout": timeout}, OnTimeout.KILL)
    assert isinstance(run, Run)
    assert run.timeout is not None
    return run.timeout / timedelta(seconds=1), run.timed


@pytest.mark.requirement("yoi.default-timeout", "yoi.most-timeout", "yoi.least-timeout")
def test_a_timeout_is_between_one_and_six_hundred_seconds_and_usually_120() -> None:
    assert seconds(None) == (120, False)
    assert [seconds(each) for each in (0, 1, 2, 600, 601, 10**9, (1 << 64) - 1)] == [
        (1, True),
        (1, True),
        (2, True),
        (600, True),
        (600, True),
        (600, True),
        (600, True),
    ]


@pytest.mark.requirement("yoi.timeout-summary", "yoi.timeout-silent", "yoi.timeout-kills")
async def test_a_command_whose_time_is_up_is_ended_with_all_it_started(
    ask: Ask, output: Path
) -> None:
    mark = tag()
    command = f"setsid sleep {mark} & sleep {mark}"
    with anyio.fail_after(5):
        reply = await ask(command, timeout=1)
    summary = f"$ {command} (timed out after 1s)"
    assert reply == Reply(
        text=summary, details={"summary": summary, "content": None, "kind": "output"}
    )
    assert list(output.iterdir()) == []
    await gone(mark)


@pytest.mark.requirement("yoi.timeout-partial")
async def test_what_was_said_before_the_time_was_up_is_saved_and_shown(
    ask: Ask, output: Path
) -> None:
    reply = await ask("seq 90; echo half; sleep 60", timeout=0)
    (log,) = output.iterdir()
    whole = [*map(str, range(1, 91)), "half"]
    assert log.read_text().splitlines() == whole
    shown = "".join(f"{line}\n" for line in whole[-80:])
    summary = "$ seq 90; echo half; sleep 60 (timed out after 1s)"
    assert not reply.is_error
    assert reply.text == f"{summary}\n[partial output before timeout — full at {log}]\n{shown}"


async def test_jobs_that_outlast_the_time_are_a_timeout(ask: Ask, output: Path) -> None:
    mark = tag()
    reply = await ask(f"sleep {mark} & printf now", timeout=1)
    (log,) = output.iterdir()
    assert log.read_text() == "now"
    header = f"[partial output before timeout — full at {log}]"
    assert reply.text == f"$ sleep {mark} & printf now (timed out after 1s)\n{header}\nnow"
    await gone(mark)


@pytest.mark.requirement("yoi.cancel")
async def test_a_call_that_is_cancelled_says_so_and_leaves_nothing(
    yoi: Bash, workspace: Path
) -> None:
    token, mark = CancelToken(), tag()
    context = ToolContext(working_dir=workspace, cancel=token)
    replies: list[Reply] = []

    async def call() -> None:
        command = f"echo half; sleep {mark}"
        replies.append(await yoi.call("Bash", {"command": command}, context))

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(call)
        with anyio.fail_after(20):
            while not alive(f"sleep\0{mark}"):
                await anyio.sleep(0.01)
            token.cancel()
    assert replies[0].text == f"$ echo half; sleep {mark} (cancelled)\nhalf\n"
    await gone(mark)


@pytest.mark.requirement("yoi.dropped")
async def test_a_caller_that_goes_away_leaves_no_process_and_no_file(
    yoi: Bash, output: Path
) -> None:
    mark = tag()
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(yoi.call, "Bash", {"command": f"seq 9999; sleep {mark}"})
        with anyio.fail_after(20):
            while not alive(f"sleep\0{mark}"):
                await anyio.sleep(0.01)
        tasks.cancel_scope.cancel()
    await gone(mark)
    assert list(output.iterdir()) == []


async def test_a_host_that_wants_jobs_is_told_of_the_one_it_got(
    workspace: Path, state: Path
) -> None:
    mark = tag()
    async with Bash(
        dialect="yoi", workspace=workspace, state=state, on_timeout="background"
    ) as tool:
        reply = await tool.call("Bash", {"command": f"echo half; sleep {mark}", "timeout": 1})
        first, header, half = reply.text.splitlines()
        assert first.startswith(f"$ echo half; sleep {mark} (still running as job ")
        assert header.startswith("[output so far — full at ")
        assert half == "half"
    await gone(mark)
