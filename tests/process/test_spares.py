"""A shell that was started before its script is known is that script's, once, and nobody else's."""

import os
import signal
from collections.abc import AsyncGenerator
from dataclasses import replace
from pathlib import Path

import anyio
import pytest

from hosts import finish, start_host
from nacre import Bash, ToolContext
from nacre.model.call import Streams
from nacre.process.ahead import Ahead, Place
from nacre.process.events import ShellExited
from nacre.process.link import Link
from nacre.process.spares import may_tell
from nacre.process.spawn import send_ahead
from process.runs import launch, linked
from processes import (
    COME_SECONDS,
    GONE_SECONDS,
    alive,
    descriptors,
    journal_open,
    no_more_descriptors,
)

pytestmark = pytest.mark.anyio
_BLANK = "nacre: a shell without a script as yet"
_LOOKS = 20


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(
    params=["landlock", pytest.param("bubblewrap", marks=pytest.mark.needs("bubblewrap"))]
)
async def spared(
    request: pytest.FixtureRequest, workspace: Path, state: Path
) -> AsyncGenerator[Bash]:
    async with Bash(workspace=workspace, state=state, sandbox=str(request.param), spares=1) as tool:
        yield tool


async def _say(tool: Bash, script: str, folder: Path | None = None) -> str:
    context = ToolContext(working_dir=folder) if folder else None
    return (await tool.call("Bash", {"command": script}, context)).text


def _status(pid: int, field: str) -> list[str]:
    try:
        text = Path(f"/proc/{pid}/status").read_text("ascii", "replace")
    except OSError:
        return ["0"]
    return text.partition(f"\n{field}:")[2].partition("\n")[0].split() or ["0"]


def _descends(pid: int, ancestor: int) -> bool:
    while pid > 1 and pid != ancestor:
        pid = int(_status(pid, "PPid")[0])
    return pid == ancestor


def _spares(host: int) -> list[int]:
    return [pid for pid in alive(_BLANK) if _descends(pid, host)]


async def _one(host: int = 0, other_than: int = 0) -> int:
    """The spare that waits, or soon will; what is only tried out is gone in a moment."""
    seen: dict[int, int] = {}
    with anyio.fail_after(COME_SECONDS):
        while max(seen.values(), default=0) < _LOOKS:
            found = set(_spares(host or os.getpid())) - {other_than}
            seen = {pid: seen.get(pid, 0) + 1 for pid in found}
            await anyio.sleep(0.005)
    [pid] = seen
    return pid


async def _end_of(pid: int) -> None:
    with anyio.fail_after(GONE_SECONDS):
        while pid in alive(_BLANK):
            await anyio.sleep(0.005)


async def _warm(tool: Bash, folder: Path | None = None) -> int:
    for _ in range(2):
        await _say(tool, "true", folder)
    return await _one()


async def test_from_the_second_call_on_a_spare_waits_and_is_the_next_scripts(spared: Bash) -> None:
    await _say(spared, "true")
    assert _spares(os.getpid()) == []
    await _say(spared, "true")
    first = await _one()
    inner = _status(first, "NSpid")[-1]
    assert await _say(spared, "echo $$") == inner
    second = await _one(other_than=first)
    inner = _status(second, "NSpid")[-1]
    assert await _say(spared, "echo $$") == inner


async def test_none_waits_where_none_is_to(workspace: Path, state: Path) -> None:
    async with Bash(workspace=workspace, state=state, sandbox="landlock", spares=0) as tool:
        for _ in range(5):
            await _say(tool, "true")
        assert _spares(os.getpid()) == []


async def test_a_spare_ends_with_its_tool(spared: Bash) -> None:
    pid = await _warm(spared)
    await spared.aclose()
    await _end_of(pid)


async def test_a_spare_ends_with_its_host(state: Path) -> None:
    host = start_host(
        """
        import sys
        from nacre import Bash
        tool = Bash(sandbox="landlock", spares=1)
        for _ in range(3):
            tool.call_sync("Bash", {"command": "true"})
        print("done", flush=True)
        sys.stdin.read()
        """,
        state,
    )
    try:
        assert host.stdout is not None
        assert host.stdout.readline() == b"done\n"
        pid = await _one(host.pid)
        host.kill()
        await _end_of(pid)
    finally:
        finish(host)


def test_a_process_that_the_host_forked_leaves_the_hosts_spare_alone(state: Path) -> None:
    host = start_host(
        """
        import os
        from nacre import Bash
        tool = Bash(sandbox="landlock", spares=1)
        def say(word):
            return tool.call_sync("Bash", {"command": f"echo {word}"}).text
        for _ in range(3):
            say("ready")
        worker = os.fork()
        if worker == 0:
            said = [say("child") for _ in range(4)]
            os._exit(said != ["child"] * 4)
        print(os.waitpid(worker, 0)[1], *(say("parent") for _ in range(4)), flush=True)
        """,
        state,
    )
    try:
        assert host.stdout is not None
        assert host.stdout.readline() == b"0 parent parent parent parent\n"
    finally:
        finish(host)


async def test_a_spare_in_a_folder_that_was_replaced_is_not_used(
    spared: Bash, workspace: Path
) -> None:
    folder = workspace / "sub"
    folder.mkdir()
    await _warm(spared, folder)
    folder.rename(workspace / "old")
    folder.mkdir()
    (folder / "new").touch()
    assert await _say(spared, "ls; pwd -P", folder) == f"new\n{folder}"


async def test_a_folder_that_is_gone_is_told(spared: Bash, workspace: Path) -> None:
    folder = workspace / "sub"
    folder.mkdir()
    await _warm(spared, folder)
    folder.rename(workspace / "old")
    assert "does not exist" in await _say(spared, "ls", folder)


@pytest.mark.parametrize("number", [signal.SIGSTOP, signal.SIGKILL, signal.SIGTERM])
async def test_a_spare_that_was_stopped_or_ended_costs_no_call(spared: Bash, number: int) -> None:
    pid = await _warm(spared)
    os.kill(pid, number)
    if number != signal.SIGSTOP:
        await _end_of(pid)
    with anyio.fail_after(COME_SECONDS):
        assert await _say(spared, "echo on; exit 3") == "on\n[exit code 3]"


async def test_another_script_cannot_speak_or_act_through_a_spare(
    spared: Bash, workspace: Path
) -> None:
    pid = await _warm(spared)
    # Who is not confined may: what follows fails for its confinement, and for nothing else.
    os.close(os.open(f"/proc/{pid}/mem", os.O_RDWR))
    attack = rf"""
        spare=/proc/{_status(pid, "NSpid")[-1]}
        grep -qs '{_BLANK}' $spare/cmdline && echo found
        : >>$spare/mem && echo opened
        for file in $spare/fd/*; do
          {{ echo 'a[$(touch {workspace}/owned)]' >>$file; }} 2>/dev/null && echo spoke
          {{ echo 'touch {workspace}/owned' >>$file; }} 2>/dev/null
        done"""
    said = (await _say(spared, attack)).splitlines()
    assert "found" in said
    assert "spoke" in said
    assert "opened" not in said
    assert await _say(spared, "echo mine; exit 3") == "mine\n[exit code 3]"
    assert not (workspace / "owned").exists()


async def test_many_calls_leave_nothing_but_one_spare(spared: Bash, state: Path) -> None:
    pid = await _warm(spared)
    await journal_open(state)
    before = descriptors()
    for number in range(60):
        assert await _say(spared, f"echo {number}") == f"{number}"
    pid = await _one(other_than=pid)
    assert _spares(os.getpid()) == [pid]
    await no_more_descriptors(before)


async def test_calls_at_once_have_a_shell_each(spared: Bash) -> None:
    await _warm(spared)
    said: list[str] = []

    async def one(number: int) -> None:
        said.append(await _say(spared, f"sleep 0.1; echo {number}"))

    async with anyio.create_task_group() as tasks:
        for number in range(20):
            tasks.start_soon(one, number)
    assert sorted(map(int, said)) == list(range(20))


async def test_a_script_may_become_a_job_in_a_spare(spared: Bash) -> None:
    await _warm(spared)
    script = {"command": "echo begun; sleep 0.3; echo end; exit 4", "timeout": 0.1}
    job = (await spared.call("Bash", script)).details or {}
    wanted = {"id": job["id"], "wait_for": {"exit": True}}
    ended = await spared.call("BashOutput", wanted)
    assert ended.text.startswith("end\n")
    assert (ended.details or {})["exit_code"] == 4


async def test_a_spare_whose_time_is_up_ends_and_its_script_has_a_shell_all_the_same() -> None:
    with linked() as link:
        ahead = _ahead(link, ttl=2.0)
        pid = await _one()
        await _end_of(pid)
        assert ahead.begin("echo later; exit 3", Place("/"))
        assert await _told(ahead) == ("later\n", 3)


async def test_a_script_that_comes_before_its_spare_is_there_has_a_shell() -> None:
    with linked() as link:
        ahead = _ahead(link)
        assert ahead.begin("echo soon; exit 3", Place("/"))
        assert await _told(ahead) == ("soon\n", 3)


async def test_a_bash_that_is_none_has_no_spares(tmp_path: Path) -> None:
    wrapped = tmp_path / "bash"
    wrapped.write_text('#!/bin/bash\nexec /bin/bash "$@"\n', "utf-8")
    wrapped.chmod(0o755)
    with linked() as link:
        first, second = (_ahead(link, executable=str(wrapped)) for _ in range(2))
        for ahead in (first, second):
            assert ahead.begin("echo $0; exit 3", Place("/"))
            assert await _told(ahead) == ("/bin/bash\n", 3)
        assert _spares(os.getpid()) == []


def _ahead(link: Link, *, ttl: float = 60.0, executable: str = "/bin/bash") -> Ahead:
    return send_ahead(link, replace(launch(""), executable=executable), Streams.MERGED, ttl)


async def _told(ahead: Ahead) -> tuple[str, int]:
    """What it says, and its exit code."""
    process = ahead.process
    status: int | None = None
    with anyio.fail_after(COME_SECONDS):
        while status is None:
            await anyio.wait_readable(process.fileno())
            ended = [each for each in process.events() if isinstance(each, ShellExited)]
            status = ended[0].status if ended else None
    said = os.read(process.pipes[0], 1 << 16).decode()
    ahead.close()
    return said, os.waitstatus_to_exitcode(status)


@pytest.mark.parametrize(
    "script",
    [
        "ps aux", "cat /proc/self/status", "pgrep bash", "set", "set | grep BASH", "x=$(set)",
        "declare -p", "typeset -p x", "declare", "compgen -v", "echo ${!BASH*}",
        "echo $BASH_EXECUTION_STRING", "echo ${PIPESTATUS[@]}",
    ],
)  # fmt: skip
def test_a_script_that_might_tell_has_a_shell_of_its_own(script: str) -> None:
    assert may_tell(script)


@pytest.mark.parametrize(
    "script",
    [
        "true", "set -euo pipefail\nmake", "declare -A seen; seen[a]=1", "git status && npm test",
        "local x=1", "export PATH=/bin", "grep -r proc .", "if then", "set -x; echo a",
    ],
)  # fmt: skip
def test_a_script_that_cannot_tell_has_a_spare(script: str) -> None:
    assert not may_tell(script)
