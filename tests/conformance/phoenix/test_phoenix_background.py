"""Background processes: REQ-BASH-003."""

import re
import sys
from collections.abc import AsyncGenerator, Generator
from dataclasses import dataclass
from pathlib import Path

import anyio
import pytest

from hosts import finish, start_host
from nacre import Bash, Reply, ToolContext
from processes import alive, gone, kill_all, tag

SHAPE = re.compile(
    r"<pid>(\d+)</pid>\n<output_file>(/.+)</output_file>\n"
    r"<reminder>To stop: (kill -9 -(\d+))</reminder>"
)


@dataclass(frozen=True, kw_only=True)
class Started:
    """What a reply says of a background process."""

    pid: int
    file: Path
    stop: str

    async def ended(self) -> str:
        """Its output, once the last line of it is there."""
        with anyio.fail_after(10):
            while not self.file.read_text().endswith("]"):
                await anyio.sleep(0.01)
        return self.file.read_text()


def started(text: str) -> Started:
    found = SHAPE.fullmatch(text)
    assert found
    assert found[1] == found[4]
    return Started(pid=int(found[1]), file=Path(found[2]), stop=found[3])


@pytest.fixture
def mark() -> Generator[str]:
    mark = tag()
    yield mark
    kill_all(mark)


@pytest.fixture
async def tool(workspace: Path, state: Path) -> AsyncGenerator[Bash]:
    async with Bash(dialect="phoenix", workspace=workspace, state=state) as tool:
        yield tool


async def start(tool: Bash, command: str, context: ToolContext | None = None) -> Reply:
    return await tool.call("bash", {"command": command, "mode": "background"}, context)


@pytest.mark.requirement("phoenix.background-at-once", "phoenix.background-pid")
async def test_the_reply_comes_at_once_and_names_the_process(tool: Bash, mark: str) -> None:
    with anyio.fail_after(10):
        reply = await start(tool, f"exec sleep {mark}")
    assert not reply.is_error
    assert reply.details == {
        "success": True,
        "command": f"exec sleep {mark}",
        "display": f"exec sleep {mark}",
    }
    process = started(reply.text)
    with anyio.fail_after(10):
        while alive(f"sleep\0{mark}") != [process.pid]:
            await anyio.sleep(0.01)
    stat = Path(f"/proc/{process.pid}/stat").read_text().rpartition(")")[2].split()
    assert (stat[2], stat[3]) == (str(process.pid), str(process.pid)), "group and session"


@pytest.mark.requirement("phoenix.background-output-file")
async def test_the_file_has_what_both_streams_said(tool: Bash, state: Path) -> None:
    process = started((await start(tool, "echo out; echo err >&2")).text)
    assert (await process.ended()).startswith("out\nerr\n")
    assert process.file.is_relative_to(state)
    assert re.fullmatch(r"phoenix-bg-[0-9a-f-]{36}\.\w+", process.file.name)


@pytest.mark.requirement("phoenix.background-completion")
@pytest.mark.parametrize(
    ("command", "code"), [("true", 0), ("exit 7", 7), ("kill -9 $$", -1), ("(exit 3) && true", 3)]
)
async def test_the_end_is_appended_to_the_file(tool: Bash, command: str, code: int) -> None:
    process = started((await start(tool, f"echo said; {command}")).text)
    line = f"[background process completed with exit code {code}]"
    assert await process.ended() == f"said\n\n{line}"


@pytest.mark.requirement("phoenix.background-kill")
@pytest.mark.parametrize("confinement", [None, "read-only"])
async def test_a_later_call_kills_the_group_and_the_end_is_still_written(
    tool: Bash, workspace: Path, mark: str, confinement: str | None
) -> None:
    context = ToolContext(working_dir=workspace, confinement=confinement)
    reply = await start(tool, f"echo up; sleep {mark} & sleep {mark}; true", context)
    process = started(reply.text)
    assert process.stop == f"kill -9 -{process.pid}"
    killed = await tool.call("bash", {"command": process.stop}, context)
    assert (killed.text, killed.is_error) == ("", False)
    await gone(mark)
    assert (await process.ended()).endswith("\n[background process completed with exit code -1]")


async def test_a_restricted_process_writes_nothing_but_what_it_says(
    tool: Bash, workspace: Path
) -> None:
    context = ToolContext(working_dir=workspace, confinement="read-only")
    process = started((await start(tool, "touch here; echo $?", context)).text)
    assert (await process.ended()).startswith("touch: cannot touch 'here': Permission denied\n1\n")
    assert not (workspace / "here").exists()


@pytest.mark.requirement("phoenix.background-detached")
@pytest.mark.parametrize("confinement", ["open", "read-only"])
async def test_it_survives_its_tool_and_its_host_and_can_still_be_killed(
    state: Path, workspace: Path, mark: str, confinement: str
) -> None:
    context = ToolContext(working_dir=workspace, confinement=confinement)
    async with Bash(dialect="phoenix", workspace=workspace, state=state) as tool:
        first = started((await start(tool, f"sleep {mark}; true", context)).text)
    host = start_host(
        f"""
        import sys
        from nacre import Bash
        tool = Bash(dialect="phoenix", workspace={str(workspace)!r}, confinement="{confinement}")
        reply = tool.call_sync("bash", {{"command": "sleep {mark}; :", "mode": "background"}})
        print(reply.text.replace("\\n", "|"), flush=True)
        sys.stdin.read()
        """,
        state,
    )
    try:
        assert host.stdout
        second = started(host.stdout.readline().decode().strip().replace("|", "\n"))
    finally:
        finish(host)
    with anyio.fail_after(10):
        while len(alive(f"sleep\0{mark}")) < 2:
            await anyio.sleep(0.01)
    async with Bash(dialect="phoenix", workspace=workspace, state=state) as tool:
        for process in (first, second):
            assert not (await tool.call("bash", {"command": process.stop}, context)).is_error
    await gone(mark)
    for process in (first, second):
        assert await process.ended() == "\n[background process completed with exit code -1]"


async def test_it_has_no_terminal_and_no_input(tool: Bash) -> None:
    process = started((await start(tool, "test -t 0 || wc -c; ps -o tty= -p $$ | tr -d ' '")).text)
    assert (await process.ended()).startswith("0\n?\n")


async def test_the_safety_checks_come_before_the_mode(tool: Bash, state: Path) -> None:
    reply = await start(tool, "git add -A")
    assert reply.is_error
    assert reply.text.startswith("permission denied: blind git add")
    assert list(state.rglob("phoenix-bg-*")) == []


async def test_it_is_found_by_the_command_line(tool: Bash, state: Path) -> None:
    process = started((await start(tool, "echo told")).text)
    await process.ended()
    words = [sys.executable, "-m", "nacre", "logs", process.file.stem]
    done = await anyio.run_process(words, env={"NACRE_STATE": str(state), "PATH": "/usr/bin:/bin"})
    assert done.stdout.startswith(b"told\n")
