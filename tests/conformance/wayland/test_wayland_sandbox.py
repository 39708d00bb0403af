"""What holds a command, what it can touch, and what becomes of it where nothing can hold it."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from nacre import Bash
from nacre.model.outcome import Exited

ROOT = Path(__file__).parents[3]
WITHOUT = str(ROOT / "tests" / "sandbox" / "without.py")
UNHELD = (
    "Failed to execute command: sandbox child execution failed: sandbox UNAVAILABLE and unsandboxed"
    " execution is not permitted — refusing to run with host permissions. Install bubblewrap"
    " (Linux), set WAYLAND_SANDBOX=docker, or explicitly opt in with WAYLAND_ALLOW_NO_SANDBOX=1 to"
    " accept running with NO isolation."
)
RAN = "Exit code: 0\nSTDOUT:\n\nSTDERR:\n"
HOST = """
import json, logging, os, sys
from nacre import Bash
logging.basicConfig(level=logging.WARNING)
with Bash(dialect="wayland", workspace=sys.argv[1], state=sys.argv[2]) as tool:
    reply = tool.call_sync("Bash", {"command": "touch ran"})
print(json.dumps([reply.text, reply.is_error, reply.details]))
"""


def said(tool: Bash, command: str) -> str:
    """What a command prints, on both streams."""
    text = tool.call_sync("Bash", {"command": command}).text
    return text.partition("STDOUT:\n")[2].replace("\nSTDERR:\n", "")


@pytest.mark.needs("bubblewrap")
@pytest.mark.requirement("wayland.sandboxed", "wayland.table-sandbox")
async def test_every_command_is_held_by_bubblewrap(wayland: Bash) -> None:
    ran = await wayland.run("true")
    assert ran.result.outcome == Exited(0)
    assert "mount" in ran.result.enforcement.by["write"]
    assert ran.result.enforcement.missing == ()


@pytest.mark.needs("bubblewrap")
@pytest.mark.requirement("wayland.namespaces")
def test_it_has_namespaces_of_its_own(wayland: Bash) -> None:
    for name in ("pid", "mnt", "net", "ipc"):
        link = f"/proc/self/ns/{name}"
        assert said(wayland, f"readlink {link}").strip() not in {"", os.readlink(link)}


@pytest.mark.needs("bubblewrap")
@pytest.mark.requirement("wayland.syscalls", "wayland.table-syscalls")
def test_a_filter_of_system_calls_is_applied(wayland: Bash) -> None:
    assert said(wayland, "grep ^Seccomp: /proc/self/status").split() == ["Seccomp:", "2"]
    assert "denied" not in said(wayland, "bash -c 'exit 0' && python3 -c 'print(1)'")


@pytest.mark.needs("bubblewrap")
@pytest.mark.requirement("wayland.filesystem-writes", "wayland.table-filesystem")
def test_the_workspace_is_there_and_can_be_written(wayland: Bash, workspace: Path) -> None:
    (workspace / "given").write_text("g")
    assert said(wayland, "pwd; cat given; echo made > file") == f"{workspace}\ng"
    assert (workspace / "file").read_text() == "made\n"


@pytest.mark.needs("bubblewrap")
@pytest.mark.requirement("wayland.filesystem-rest")
def test_the_rest_can_be_read_and_not_written_and_tmp_is_private(
    wayland: Bash, tmp_path: Path
) -> None:
    assert said(wayland, "head -c 5 /etc/passwd") == "root:"
    assert "Read-only file system" in said(wayland, "touch /etc/nacre-test")
    mine = f"/tmp/{tmp_path.name}-private"
    assert said(wayland, f"touch {mine} && ls {mine}").strip() == mine
    assert not os.path.exists(mine)


def host(workspace: Path, state: Path, *words: str, **variables: str) -> tuple[list[object], str]:
    """What a host of its own is answered, and what its log says."""
    done = subprocess.run(
        [*words, sys.executable, "-c", HOST, str(workspace), str(state)],
        env={**os.environ, **variables},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr.decode()
    return json.loads(done.stdout), done.stderr.decode()


@pytest.mark.needs("namespace")
@pytest.mark.requirement("wayland.fail-closed")
def test_where_bubblewrap_is_not_to_be_had_nothing_runs(workspace: Path, state: Path) -> None:
    without = (sys.executable, "-I", WITHOUT, "bubblewrap")
    answer, _ = host(workspace, state, *without)
    assert answer == [UNHELD, True, {"exit_code": None}]
    assert not (workspace / "ran").exists()


@pytest.mark.needs("namespace")
@pytest.mark.requirement("wayland.fail-open-by-choice")
@pytest.mark.parametrize("value", ["1", "True"])
def test_unless_the_host_allows_to_go_without(workspace: Path, state: Path, value: str) -> None:
    without = (sys.executable, "-I", WITHOUT, "bubblewrap")
    answer, log = host(workspace, state, *without, WAYLAND_ALLOW_NO_SANDBOX=value)
    assert answer == [RAN, False, {"exit_code": 0}]
    assert (workspace / "ran").exists()
    assert "go without" in log


@pytest.mark.needs("bubblewrap")
async def test_that_changes_nothing_where_there_is_bubblewrap(
    monkeypatch: pytest.MonkeyPatch, opened: Callable[..., Bash]
) -> None:
    monkeypatch.setenv("WAYLAND_ALLOW_NO_SANDBOX", "1")
    ran = await opened().run("true")
    assert "mount" in ran.result.enforcement.by["write"]


@pytest.mark.requirement("wayland.sandbox-none")
@pytest.mark.parametrize("value", ["", "0", "yes"])
def test_no_sandbox_by_name_needs_a_second_variable(
    monkeypatch: pytest.MonkeyPatch, opened: Callable[..., Bash], workspace: Path, value: str
) -> None:
    monkeypatch.setenv("WAYLAND_SANDBOX", "none")
    monkeypatch.setenv("WAYLAND_ALLOW_NO_SANDBOX", value)
    reply = opened().call_sync("Bash", {"command": "touch ran"})
    assert (reply.text, reply.is_error) == (UNHELD, True)
    assert not (workspace / "ran").exists()


@pytest.mark.requirement("wayland.sandbox-none-allowed")
async def test_with_both_variables_nothing_holds_a_command_and_the_network_is_the_hosts(
    monkeypatch: pytest.MonkeyPatch, opened: Callable[..., Bash]
) -> None:
    monkeypatch.setenv("WAYLAND_SANDBOX", "none")
    monkeypatch.setenv("WAYLAND_ALLOW_NO_SANDBOX", "TRUE")
    ran = await opened().run("readlink /proc/self/ns/net; false # curl x")
    assert ran.reply.text == (
        f"Exit code: 1\nSTDOUT:\n{os.readlink('/proc/self/ns/net')}\n\nSTDERR:\n"
    )
    assert "write" not in ran.result.enforcement.by


@pytest.mark.parametrize("allowed", ["", "1"])
def test_a_container_that_is_not_to_be_had_is_replaced_by_nothing(
    monkeypatch: pytest.MonkeyPatch, opened: Callable[..., Bash], allowed: str
) -> None:
    monkeypatch.setenv("WAYLAND_SANDBOX", "docker")
    monkeypatch.setenv("WAYLAND_ALLOW_NO_SANDBOX", allowed)
    assert opened().call_sync("Bash", {"command": "true"}).text == UNHELD


@pytest.mark.needs("bubblewrap")
@pytest.mark.parametrize("value", ["bwrap", "None", "", "anything"])
async def test_any_other_name_is_not_heeded(
    monkeypatch: pytest.MonkeyPatch, opened: Callable[..., Bash], value: str
) -> None:
    monkeypatch.setenv("WAYLAND_SANDBOX", value)
    ran = await opened().run("true")
    assert "mount" in ran.result.enforcement.by["write"]


def test_what_the_host_gives_wins_over_its_variables(
    monkeypatch: pytest.MonkeyPatch, opened: Callable[..., Bash]
) -> None:
    monkeypatch.setenv("WAYLAND_SANDBOX", "none")
    assert opened(sandbox="none").call_sync("Bash", {"command": "true"}).text == RAN


async def test_what_is_refused_is_refused_before_the_sandbox_is(
    monkeypatch: pytest.MonkeyPatch, workspace: Path, state: Path
) -> None:
    monkeypatch.setenv("WAYLAND_SANDBOX", "none")
    async with Bash(dialect="wayland", workspace=workspace, state=state) as tool:
        listed = await tool.call("Bash", {"command": "env"})
        other = await tool.call("Bash", {"command": "true"})
    assert listed.text.startswith("Refused: command pattern matches")
    assert "sandbox UNAVAILABLE" in other.text
