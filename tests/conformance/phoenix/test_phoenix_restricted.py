"""Restricted mode, and hosts that cannot have it: REQ-BASH-008 and 009."""

import json
import logging
import os
import socket
import subprocess
import sys
from collections.abc import AsyncGenerator, Generator
from pathlib import Path

import pytest

from nacre import Bash, Reply, ToolContext
from nacre.sandbox.rights import Fs, Net, Scope, rights
from processes import tag

WITHOUT = Path(__file__).parents[2] / "sandbox" / "without.py"


@pytest.fixture
async def tool(workspace: Path, state: Path) -> AsyncGenerator[Bash]:
    (workspace / "file").write_text("as it was")
    async with Bash(dialect="phoenix", workspace=workspace, state=state) as tool:
        yield tool


def restricted(workspace: Path) -> ToolContext:
    return ToolContext(working_dir=workspace, confinement="read-only")


async def call(tool: Bash, command: str, workspace: Path) -> Reply:
    return await tool.call("bash", {"command": command}, restricted(workspace))


@pytest.mark.requirement("phoenix.restricted-read-only", "phoenix.restricted-kernel-error")
@pytest.mark.parametrize(
    "command",
    [
        "echo a > new",
        "echo a >> file",
        ": > file",
        "mkdir new",
        "rm file",
        "mv file new",
        "ln file new",
        "ln -s file new",
        "mkfifo new",
        "cp file new",
        "touch $HOME/new-of-phoenix",
        "touch /dev/shm/new-of-phoenix",
    ],
)
async def test_writing_fails_in_the_kernel_s_words(
    tool: Bash, command: str, workspace: Path
) -> None:
    reply = await call(tool, command, workspace)
    assert reply.is_error
    assert reply.text.startswith("[command failed: exit code 1]\n")
    assert "Permission denied" in reply.text
    assert {path.name: path.read_text() for path in workspace.iterdir()} == {"file": "as it was"}


@pytest.mark.requirement("phoenix.restricted-unbypassed")
@pytest.mark.parametrize(
    "command",
    [
        "env -i /bin/sh -c 'echo a > new'",
        'python3 -c \'open("new", "w")\'',
        "unshare -r touch new",
        "nohup setsid bash -c 'touch new' & wait",
        "exec 3<> new",
        "d\\d if=/dev/zero of=new count=1",
    ],
)
async def test_no_clever_command_gets_around_it(tool: Bash, command: str, workspace: Path) -> None:
    await call(tool, command, workspace)
    assert [path.name for path in workspace.iterdir()] == ["file"]


async def test_reading_and_the_null_device_still_work(tool: Bash, workspace: Path) -> None:
    reply = await call(tool, "cat file; echo a > /dev/null; cat /etc/passwd | wc -l", workspace)
    assert not reply.is_error
    assert reply.text.startswith("as it was")


@pytest.mark.requirement("phoenix.restricted-mode", "phoenix.unrestricted-mode")
async def test_only_the_conversation_that_is_restricted_is_held(
    tool: Bash, workspace: Path, state: Path
) -> None:
    assert (await call(tool, "touch held", workspace)).is_error
    free = await tool.call("bash", {"command": "touch free"}, ToolContext(working_dir=workspace))
    assert not free.is_error
    async with Bash(
        dialect="phoenix", workspace=workspace, state=state, confinement="read-only"
    ) as whole:
        assert (await whole.call("bash", {"command": "touch held"})).is_error
    assert {path.name for path in workspace.iterdir()} == {"file", "free"}


@pytest.mark.requirement("phoenix.restricted-connect", "phoenix.restricted-bind")
async def test_no_tcp_is_connected_or_bound(tool: Bash, workspace: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        connect = f"exec 3<>/dev/tcp/127.0.0.1/{server.getsockname()[1]}"
        free = await tool.call("bash", {"command": connect})
        assert (free.text, free.is_error) == ("", False)
        held = await call(tool, connect, workspace)
        assert held.is_error
        assert "Operation not permitted" in held.text
    bind = "python3 -c 'import socket; socket.create_server((\"127.0.0.1\", 0))'"
    assert not (await tool.call("bash", {"command": bind})).is_error
    held = await call(tool, bind, workspace)
    assert held.is_error
    assert "Operation not permitted" in held.text


@pytest.fixture
def outside() -> Generator[int]:
    """A process that no call started."""
    with subprocess.Popen(["sleep", tag()]) as process:
        yield process.pid
        process.kill()


@pytest.mark.requirement("phoenix.restricted-signals")
async def test_nothing_outside_is_signalled(tool: Bash, workspace: Path, outside: int) -> None:
    reply = await call(tool, f"kill -9 {outside} {os.getpid()}", workspace)
    assert reply.is_error
    assert reply.text.count("Operation not permitted") == 2
    assert "sleep" in Path(f"/proc/{outside}/cmdline").read_text()
    own = await call(tool, f"sleep {tag()} & kill $!; wait; echo ended", workspace)
    assert own.text.endswith("ended\n")


@pytest.mark.requirement(
    "phoenix.restricted-memory", "phoenix.restricted-cpu", "phoenix.restricted-processes"
)
async def test_memory_processor_time_and_processes_are_limited(tool: Bash, workspace: Path) -> None:
    # That of the processor time comes a moment after the start.
    script = "until [ $(ulimit -t) = 900 ]; do :; done; ulimit -d; ulimit -t; ulimit -u"
    memory, cpu, processes = (await call(tool, script, workspace)).text.split()
    assert (memory, cpu) == (str(4 * 1024 * 1024), "900")
    assert processes.isdecimal()
    free = await tool.call("bash", {"command": "ulimit -d; ulimit -t"})
    assert free.text.split() != [memory, cpu]


@pytest.mark.requirement("phoenix.restricted-description")
def test_the_description_explains_what_is_blocked(workspace: Path, state: Path) -> None:
    with Bash(dialect="phoenix", workspace=workspace, state=state) as tool:
        (free,) = tool.specs(ToolContext(working_dir=workspace))
        (held,) = tool.specs(restricted(workspace))
    with Bash(dialect="phoenix", workspace=workspace, state=state, confinement="read-only") as tool:
        assert tool.specs(ToolContext(working_dir=workspace)) == [held]
    assert "Restricted" not in str(free["description"])
    for part in (
        "Restricted mode: the kernel (Landlock) confines every command.",
        "(EACCES, EPERM)",
        "Nothing can be written but /dev/null, /dev/zero and /dev/full.",
        "There is no network.",
        "do not retry it, and do not look for a way around.",
        "Processes outside of the sandbox cannot be signalled, but the background processes that",
        "4096 MiB of memory for each process, 900 seconds of CPU time for each process, 512 ",
    ):
        assert part in str(held["description"])


@pytest.mark.requirement("phoenix.restricted-no-retry", "phoenix.restricted-no-workaround")
async def test_what_was_blocked_is_run_once_and_nowhere_else(tool: Bash, workspace: Path) -> None:
    pieces: list[bytes] = []
    command = {"command": "echo once; touch new"}
    reply = await tool.call("bash", command, restricted(workspace), on_output=pieces.append)
    assert b"".join(pieces).decode() == ("once\ntouch: cannot touch 'new': Permission denied\n")
    assert reply.text == f"[command failed: exit code 1]\n{b''.join(pieces).decode()}"
    assert not (workspace / "new").exists()


@pytest.mark.requirement(
    "phoenix.kernel-5-13", "phoenix.kernel-6-7", "phoenix.kernel-6-10", "phoenix.kernel-6-12"
)
def test_each_kernel_holds_what_the_matrix_says() -> None:
    oldest, tcp, ioctl, scoped = (rights(abi) for abi in (1, 4, 5, 6))
    assert oldest.fs & Fs.WRITE_FILE
    assert not oldest.net
    assert tcp.net & Net.CONNECT_TCP
    assert tcp.net & Net.BIND_TCP
    assert not tcp.fs & Fs.IOCTL_DEV
    assert ioctl.fs & Fs.IOCTL_DEV
    assert not ioctl.scope
    assert scoped.scope & Scope.SIGNAL
    assert scoped.scope & Scope.ABSTRACT_UNIX_SOCKET


_HOST = """
import json, logging, sys
from nacre import Bash, ToolContext
logging.basicConfig(format="%(levelname)s %(message)s")
workspace, state = sys.argv[1:]
tool = Bash(dialect="phoenix", workspace=workspace, state=state)
print("made", file=sys.stderr, flush=True)
held = ToolContext(working_dir=workspace, confinement="read-only")
free = ToolContext(working_dir=workspace)
def call(command, context, mode="default"):
    reply = tool.call_sync("bash", {"command": command, "mode": mode}, context)
    return {"text": reply.text, "is_error": reply.is_error}
print(json.dumps({
    "described": tool.specs(free)[0]["description"],
    "free": call("echo free", free),
    "held": call("touch held", held),
    "held in the background": call("touch held", held, "background"),
    "dangerous": call("git add -A", free),
}))
tool.close()
"""


@pytest.mark.requirement(
    "phoenix.absent-detected",
    "phoenix.absent-disables",
    "phoenix.absent-warning",
    "phoenix.absent-still-checks",
    "phoenix.absent-said",
    "phoenix.absent-refused",
)
def test_without_landlock_only_restricted_mode_is_gone(workspace: Path, state: Path) -> None:
    done = subprocess.run(
        [
            *(sys.executable, str(WITHOUT), "landlock"),
            *(sys.executable, "-c", _HOST, str(workspace), str(state)),
        ],
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    warned, made, _ = done.stderr.partition("made")
    assert made
    assert warned.startswith("WARNING scripts cannot be confined to read-only here")
    said = json.loads(done.stdout)
    assert "Restricted mode is not available: " in said["described"]
    assert "Commands run in Unrestricted mode only on this host" in said["described"]
    assert said["free"] == {"text": "free\n", "is_error": False}
    for which in ("held", "held in the background"):
        assert said[which]["is_error"]
        assert said[which]["text"].startswith("Restricted mode is not available: ")
        assert "requires Landlock: Linux 5.13 or newer" in said[which]["text"]
    assert said["dangerous"]["text"].startswith("permission denied: blind git add")
    assert list(workspace.iterdir()) == []


@pytest.mark.requirement("phoenix.not-linux")
def test_where_there_is_no_linux_it_says_so_and_runs_unrestricted(
    workspace: Path,
    state: Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    with monkeypatch.context() as elsewhere, caplog.at_level(logging.WARNING):
        elsewhere.setattr(sys, "platform", "darwin")
        tool = Bash(dialect="phoenix", workspace=workspace, state=state)
    with tool:
        (spec,) = tool.specs(ToolContext(working_dir=workspace))
        assert "Restricted mode is not available: Landlock requires Linux." in str(
            spec["description"]
        )
        assert "Landlock requires Linux" in caplog.text
        assert tool.call_sync("bash", {"command": "echo free"}).text == "free\n"


def test_the_description_claims_nothing_where_nothing_holds(workspace: Path, state: Path) -> None:
    for sandbox, claims in (("none", False), (None, True)):
        with Bash(
            dialect="phoenix",
            workspace=workspace,
            state=state,
            confinement="read-only",
            sandbox=sandbox,
        ) as tool:
            assert ("Restricted mode" in str(tool.specs()[0]["description"])) is claims
