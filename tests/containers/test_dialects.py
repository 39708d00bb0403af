"""The two dialects whose documents know containers, in real ones."""

from collections.abc import AsyncGenerator, Callable
from pathlib import Path

import anyio
import pytest

from containers.seen import kill, names
from engines import Engine
from nacre import Bash, CancelToken, ToolContext

pytestmark = pytest.mark.anyio

_UNHELD = "sandbox UNAVAILABLE and unsandboxed execution is not permitted"


@pytest.fixture(autouse=True)
def _engine_is_named(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DOCKER_HOST", engine.host)


@pytest.fixture
async def agentrail(engine: Engine, workspace: Path, state: Path) -> AsyncGenerator[Bash]:
    async with Bash(
        dialect="agentrail",
        workspace=workspace,
        state=state,
        sandbox="container",
        image=engine.image,
        network="deny",
    ) as tool:
        yield tool


@pytest.mark.requirement("agentrail.container-replaces", "agentrail.container-isolated")
async def test_the_same_tool_runs_its_commands_in_a_container(
    agentrail: Bash, workspace: Path
) -> None:
    [spec] = agentrail.specs()
    reply = await agentrail.call("Bash", {"command": "echo $$ > made; [ -e /workspace/made ]"})
    assert spec["name"] == "Bash"
    assert reply.text == "(no output)\n\n[exit code: 0]"
    # Few processes were started in there; here, that number is long gone.
    assert int((workspace / "made").read_text()) < 100


@pytest.mark.requirement("agentrail.container-workspace")
async def test_commands_start_in_the_workspace_and_nowhere_else(
    agentrail: Bash, workspace: Path
) -> None:
    (workspace / "sub").mkdir()
    usual = await agentrail.call("Bash", {"command": "pwd"})
    given = {"command": "pwd", "working_directory": "/workspace/sub"}
    below = await agentrail.call("Bash", given)
    elsewhere = await agentrail.call("Bash", {"command": "pwd", "working_directory": "/etc"})
    assert usual.text == "/workspace\n\n\n[exit code: 0]"
    assert below.text == "/workspace/sub\n\n\n[exit code: 0]"
    assert (elsewhere.details or {})["exit_code"] == 1
    assert "the working directory '/etc' is not in /workspace" in elsewhere.text


@pytest.mark.requirement("agentrail.container-memo")
async def test_memos_of_session_and_user_can_be_read_and_not_written(
    agentrail: Bash, workspace: Path
) -> None:
    paths = ("memo/session/NOTES.md", "memo/user/USER.md")
    for path in paths:
        (workspace / path).parent.mkdir(parents=True)
        (workspace / path).write_text("mine\n")
    for path in paths:
        script = f"cat /workspace/{path}; echo yours > /workspace/{path}; rm -r /workspace/memo"
        reply = await agentrail.call("Bash", {"command": script})
        details = reply.details or {}
        assert details["stdout"] == "mine\n"
        assert "Read-only file system" in str(details["stderr"])
    assert [(workspace / path).read_text() for path in paths] == ["mine\n", "mine\n"]


async def test_memos_are_read_only_in_every_dialect(
    workspace: Path, opened: Callable[..., Bash]
) -> None:
    for name in ("session", "user"):
        (workspace / "memo" / name).mkdir(parents=True)
    script = "touch memo/made; touch memo/session/x; touch memo/user/x"
    async with opened() as tool:
        reply = await tool.call("Bash", {"command": script})
    assert reply.text.count("Read-only file system") == 2
    assert [each.name for each in (workspace / "memo").rglob("*") if each.is_file()] == ["made"]


@pytest.mark.requirement("agentrail.container-unchecked")
async def test_a_dangerous_command_is_not_refused(
    agentrail: Bash, workspace: Path, state: Path
) -> None:
    dangerous = {"command": "echo begun; insmod /nonexistent.ko"}
    async with Bash(
        dialect="agentrail", workspace=workspace, state=state, sandbox="none"
    ) as outside:
        refused = await outside.call("Bash", dangerous)
    reply = await agentrail.call("Bash", dangerous)
    assert (refused.is_error, refused.details) == (True, None)
    assert (reply.details or {})["stdout"] == "begun\n"
    assert (reply.details or {})["exit_code"] != 0


async def test_the_background_goes_on_in_the_sandbox_and_has_no_pid(
    agentrail: Bash, workspace: Path
) -> None:
    script = "echo before; until [ -e go ]; do sleep 0.01; done; touch went"
    reply = await agentrail.call("Bash", {"command": script, "timeout": 2000})
    assert reply.text == "Process moved to background (still running in sandbox)\nbefore\n"
    assert reply.details == {"mode": "background", "stdout": "before\n", "stderr": ""}
    (workspace / "go").touch()
    with anyio.fail_after(10):
        while not (workspace / "went").exists():
            await anyio.sleep(0.02)


async def test_its_errors_are_those_of_the_variant(
    agentrail: Bash, workspace: Path, state: Path
) -> None:
    token = CancelToken()

    def listen(data: bytes) -> None:
        del data
        token.cancel()

    context = ToolContext(working_dir="/workspace", cancel=token)
    aborted = await agentrail.call(
        "Bash", {"command": "echo begun; sleep 60"}, context, on_output=listen
    )
    assert (aborted.text, aborted.is_error) == ("Sandbox command aborted\nbegun\n", True)
    unstarted = await agentrail.call(
        "Bash", {"command": "true", "working_directory": "/workspace/none", "timeout": 0}
    )
    assert unstarted.text.startswith("Failed to start background command\n")
    async with Bash(
        dialect="agentrail", workspace=workspace, state=state, sandbox="container", image="no/such"
    ) as other:
        context = ToolContext(working_dir="/workspace", conversation="talk")
        missing = await other.call("Bash", {"command": "true"}, context)
    assert missing.text.startswith("No sandbox found for session 'talk'\nthere is no image")
    assert (missing.is_error, missing.details) == (True, None)


async def test_a_container_that_ends_is_an_error_and_no_exit_code(
    agentrail: Bash, engine: Engine
) -> None:
    def listen(data: bytes) -> None:
        del data
        kill(engine, names(engine)[0])

    with anyio.fail_after(30):
        reply = await agentrail.call("Bash", {"command": "echo begun; sleep 60"}, on_output=listen)
    assert (reply.is_error, reply.details) == (True, None)
    assert "begun" in reply.text
    assert "the container ended" in reply.text


@pytest.mark.requirement("wayland.sandbox-docker")
async def test_wayland_uses_a_container_where_its_variable_says_so(
    engine: Engine, workspace: Path, state: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WAYLAND_SANDBOX", "docker")
    script = {"command": "pwd; echo x > made; ls /sys/class/net; touch /etc/y"}
    async with Bash(
        dialect="wayland", workspace=workspace, state=state, image=engine.image
    ) as tool:
        reply = await tool.call("Bash", script)
    assert "/workspace\nlo\n" in reply.text
    assert "Read-only file system" in reply.text
    assert (workspace / "made").exists()


@pytest.mark.parametrize("image", [None, "no/such:image"])
async def test_wayland_fails_closed_where_no_container_is_to_be_had(
    workspace: Path, state: Path, monkeypatch: pytest.MonkeyPatch, image: str | None
) -> None:
    monkeypatch.setenv("WAYLAND_SANDBOX", "docker")
    monkeypatch.setenv("WAYLAND_ALLOW_NO_SANDBOX", "1")
    async with Bash(dialect="wayland", workspace=workspace, state=state, image=image) as tool:
        reply = await tool.call("Bash", {"command": "touch made"})
    assert _UNHELD in reply.text
    assert not (workspace / "made").exists()
