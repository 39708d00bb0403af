"""NacreWorkspaceBackend against the framework's own suite for backends, and what that does not ask."""

import os
import shutil
import threading
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path

import anyio
import anyio.to_thread
import pytest
from pydantic_ai import Agent, ModelMessage, ModelResponse, RunContext
from pydantic_ai.messages import TextPart, ToolCallPart
from pydantic_ai.models.function import AgentInfo, FunctionModel
from pydantic_ai.workspaces import (
    Workspace,
    WorkspaceBackend,
    WorkspaceError,
    WorkspaceOutputLimitError,
    WorkspaceRef,
    WorkspaceTimeoutError,
    WorkspaceUnavailableError,
)
from pydantic_ai.workspaces.conformance import WorkspaceBackendSuite

from nacre import Bash, Consent, Question
from nacre.adapters.pydantic_ai import NacreWorkspaceBackend
from processes import alive, gone, tag

pytestmark = pytest.mark.anyio


@pytest.fixture
def anyio_backend() -> str:
    """What the framework's agents run on; files.py, below this, is tested on trio as well."""
    return "asyncio"


@pytest.fixture
def backend(tool: Bash, workspace: Path) -> NacreWorkspaceBackend:
    return NacreWorkspaceBackend(tool, workspace)


class TestTheFrameworksOwnSuite(WorkspaceBackendSuite):
    @pytest.fixture
    def backend(self, tool: Bash, workspace: Path) -> NacreWorkspaceBackend:
        return NacreWorkspaceBackend(tool, workspace)

    @pytest.fixture
    def fresh_backend(self, tool: Bash, workspace: Path) -> Callable[[], WorkspaceBackend]:
        (workspace / "fresh").mkdir()
        return lambda: NacreWorkspaceBackend(tool, workspace / "fresh")

    @pytest.fixture
    def attach_backend(self, tool: Bash) -> Callable[[WorkspaceRef], WorkspaceBackend]:
        return lambda ref: NacreWorkspaceBackend(tool, ref.id)

    @pytest.fixture
    def destroy_environment(self) -> Callable[[WorkspaceBackend], Awaitable[None]]:
        async def destroy(backend: WorkspaceBackend) -> None:
            await anyio.to_thread.run_sync(shutil.rmtree, await backend.working_dir())

        return destroy

    async def test_concurrent_first_use_shares_one_environment(
        self, fresh_backend: Callable[[], WorkspaceBackend] | None
    ) -> None:
        """The rule without `ref is None`: a folder is there before its backend, and so is its ref."""
        assert fresh_backend
        backend = fresh_backend()
        ref = backend.ref
        assert ref
        async with anyio.create_task_group() as group:
            for name in "abcde":
                group.start_soon(Workspace(backend).write_bytes, name, name.encode())
        found = {each.name: each.read_text() for each in Path(ref.id).iterdir()}
        assert (found, backend.ref) == ({name: name for name in "abcde"}, ref)

    async def test_background_child_does_not_hold_up_completed_command(
        self,
        backend: WorkspaceBackend,
        has_real_posix_shell: bool,  # noqa: FBT001 (the framework's fixture)
        can_detect_exit_with_inherited_output_pipes: bool,  # noqa: FBT001 (the framework's fixture)
    ) -> None:
        """A child ends with its command here, so its last word, which is waited for, is said for it."""

        async def speak_for_the_child() -> None:
            folder = Path(await backend.working_dir())
            while not (found := list(folder.glob(".*/release"))):
                await anyio.sleep(0.01)
            found[0].with_name("finished").touch()

        async with anyio.create_task_group() as group:
            group.start_soon(speak_for_the_child)
            await super().test_background_child_does_not_hold_up_completed_command(
                backend, has_real_posix_shell, can_detect_exit_with_inherited_output_pipes
            )


async def test_an_agents_own_tools_reach_the_workspace(backend: NacreWorkspaceBackend) -> None:
    def model(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        del info
        if len(messages) == 1:
            return ModelResponse([ToolCallPart("count", {"path": "notes"})])
        return ModelResponse([TextPart(str(messages[-1].parts[0].content))])  # pyright: ignore[reportAttributeAccessIssue, reportUnknownMemberType, reportUnknownArgumentType] (a tool's return)

    agent = Agent(FunctionModel(model))

    @agent.tool
    async def count(ctx: RunContext, path: str) -> str:
        await ctx.workspace.write_text(path, "one\ntwo\n")
        return (await ctx.workspace.run(["wc", "-l", path])).stdout

    done = await agent.run("count", workspace=backend)
    assert done.output == "2 notes\n"


async def test_what_a_command_started_ends_with_it(backend: NacreWorkspaceBackend) -> None:
    mark = tag()
    result = await backend.run(["bash", "-c", f"setsid sleep {mark} & echo started"])
    assert (result.exit_code, result.stdout) == (0, "started\n")
    await gone(mark)


async def test_a_command_whose_time_is_up_tells_what_it_said(
    backend: NacreWorkspaceBackend,
) -> None:
    mark = tag()
    with pytest.raises(WorkspaceTimeoutError, match=r"after 0\.5 s") as caught:
        await backend.run(["bash", "-c", f"echo out; echo err >&2; sleep {mark}"], timeout=0.5)
    assert (caught.value.stdout, caught.value.stderr) == ("out\n", "err\n")
    await gone(mark)


async def test_a_command_that_never_stops_talking_is_ended(backend: NacreWorkspaceBackend) -> None:
    mark = tag()
    with anyio.fail_after(60), pytest.raises(WorkspaceOutputLimitError) as caught:
        await backend.run(["yes", mark])
    assert (caught.value.limit, len(caught.value.stdout)) == (10 * 1024 * 1024, 64 * 1024)
    await gone(mark)


async def test_a_command_that_a_guard_refuses_has_exit_code_126_and_the_reason(
    backend: NacreWorkspaceBackend,
) -> None:
    for command in (["sudo", "true"], ["A=1", "sudo", "true"]):
        result = await backend.run(command)
        assert (result.exit_code, result.stdout) == (126, "")
        assert result.stderr.startswith("nacre: denied: The script would run something as another")


async def test_a_file_operation_that_a_guard_refuses_is_a_permission_error(
    backend: NacreWorkspaceBackend,
) -> None:
    with pytest.raises(PermissionError, match="secrets"):
        await backend.read_bytes("/etc/shadow")
    with pytest.raises(PermissionError):
        await backend.write_bytes("/etc/nacre-was-here", b"")
    assert not os.path.exists("/etc/nacre-was-here")


async def test_the_tools_own_approver_is_asked_about_a_command(
    workspace: Path, state: Path
) -> None:
    asked: list[tuple[str, str]] = []

    def approve(question: Question) -> Consent:
        asked.append((question.script, question.conversation))
        return Consent.ONCE if "yes" in question.script else Consent.NO

    rules = {"ask": ["Bash(touch:*)"]}
    async with Bash(workspace=workspace, state=state, rules=rules, approver=approve) as tool:
        backend = NacreWorkspaceBackend(tool, workspace, conversation="ours")
        codes = [(await backend.run(["touch", name])).exit_code for name in ("yes", "no")]
    assert (codes, os.listdir(workspace)) == ([0, 126], ["yes"])
    assert asked == [("touch yes", "ours"), ("touch no", "ours")]


async def test_a_confinement_for_the_backend_alone_holds(tool: Bash, workspace: Path) -> None:
    backend = NacreWorkspaceBackend(tool, workspace, confinement="read-only")
    with pytest.raises(PermissionError):
        await backend.write_bytes(str(workspace / "file"), b"")
    assert (await backend.run(["touch", "file"])).exit_code == 1
    assert os.listdir(workspace) == []


async def test_secrets_of_the_host_are_not_in_what_a_command_says(
    workspace: Path, state: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SERVICE_API_KEY", "q9w8e7r6t5z4u3i2o1p0")
    async with Bash(workspace=workspace, state=state) as tool:
        backend = NacreWorkspaceBackend(tool, workspace)
        (workspace / "leak").write_text("q9w8e7r6t5z4u3i2o1p0")
        assert "q9w8e7r6" not in (await backend.run(["cat", "leak"])).stdout
        # The bytes of a file are what an edit starts from.
        assert await backend.read_bytes(str(workspace / "leak")) == b"q9w8e7r6t5z4u3i2o1p0"


@pytest.mark.parametrize(
    ("command", "settings", "error"),
    [
        ([], {}, ValueError),
        (["echo", "a\0b"], {}, ValueError),
        (["echo", "\ud800"], {}, ValueError),
        (["echo", 1], {}, TypeError),
        (["true"], {"timeout": 0}, ValueError),
        (["true"], {"timeout": float("nan")}, ValueError),
        (["true"], {"timeout": float("inf")}, ValueError),
        (["true"], {"env": {"A=B": ""}}, ValueError),
        (["true"], {"env": {"": ""}}, ValueError),
        (["true"], {"env": {"A": "\0"}}, ValueError),
        (["true"], {"env": {"A": "x" * 200_000}}, WorkspaceError),
    ],
)
async def test_what_cannot_be_run_is_refused(
    backend: NacreWorkspaceBackend,
    command: list[str],
    settings: Mapping[str, object],
    error: type[Exception],
) -> None:
    with pytest.raises(error):
        await backend.run(command, **settings)  # pyright: ignore[reportArgumentType] (that is the point)


async def test_odd_commands_are_answered(backend: NacreWorkspaceBackend) -> None:
    commands = ([""], ["-x"], ["--"], ["no\nsuch"], ["true", "x" * 200_000], ["/"])
    codes = [(await backend.run(command)).exit_code for command in commands]
    assert codes == [127, 127, 127, 127, 126, 126]
    assert (await backend.run(["true"], timeout=10**400)).exit_code == 0
    assert (await backend.run(["sh", "-c", "kill -9 $$"])).exit_code == 128 + 9


async def test_names_that_are_no_text_go_from_the_listing_to_a_command(
    backend: NacreWorkspaceBackend, workspace: Path
) -> None:
    (workspace / os.fsdecode(b"\xff\n'")).write_bytes(b"found")
    [entry] = await backend.list_dir(str(workspace))
    assert (entry.name, entry.size) == (os.fsdecode(b"\xff\n'"), 5)
    assert (await backend.stat(entry.path)).name == entry.name
    assert await backend.read_bytes(entry.path) == b"found"
    assert (await backend.run(["cat", entry.path])).stdout == "found"
    await backend.remove(entry.path)
    assert not await backend.exists(entry.path)


async def test_a_path_must_be_absolute(backend: NacreWorkspaceBackend) -> None:
    for path in ("file", "", "../file", "-rf"):
        with pytest.raises(ValueError, match="is not absolute"):
            await backend.read_bytes(path)
        with pytest.raises(ValueError, match="is not absolute"):
            await backend.remove(path)


async def test_a_file_that_is_too_large_is_not_handed_over(
    backend: NacreWorkspaceBackend, workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("nacre.adapters.pydantic_ai_workspace._MOST_OF_A_FILE", 1000)
    (workspace / "huge").write_bytes(bytes(1000))
    assert len(await backend.read_bytes(str(workspace / "huge"))) == 1000
    os.truncate(workspace / "huge", 1 << 40)
    with pytest.raises(OSError, match="more than 1000 bytes"):
        await backend.read_bytes(str(workspace / "huge"))


async def test_writes_of_one_file_take_turns_by_whatever_name(workspace: Path, state: Path) -> None:
    (workspace / "alias").symlink_to("file")
    asked: list[str] = []
    first_asked, answered = anyio.Event(), anyio.Event()

    async def approve(question: Question) -> Consent:
        asked.append(question.script.rpartition("/")[2])
        if asked == ["file"]:
            first_asked.set()
            await answered.wait()
        return Consent.ONCE

    rules = {"default": "ask"}
    async with Bash(workspace=workspace, state=state, rules=rules, approver=approve) as tool:
        backend = NacreWorkspaceBackend(tool, workspace)
        with anyio.fail_after(60):
            async with anyio.create_task_group() as group:
                group.start_soon(backend.write_bytes, f"{workspace}/file", b"first")
                await first_asked.wait()
                group.start_soon(backend.write_bytes, f"{workspace}/alias", b"second")
                for number in range(3):
                    await backend.write_bytes(f"{workspace}/other-{number}", b"")
                answered.set()
    assert asked == ["file", "other-0", "other-1", "other-2", "alias"]
    assert (workspace / "file").read_bytes() == b"second"


async def test_two_event_loops_use_a_backend_at_once(
    backend: NacreWorkspaceBackend, workspace: Path
) -> None:
    path = str(workspace / "file")
    start = threading.Barrier(2)

    async def write() -> None:
        await backend.run(["true"])
        start.wait(20)
        with anyio.fail_after(20):
            for _ in range(10):
                await backend.write_bytes(path, b"x")
                assert await backend.read_bytes(path) in {b"x", b""}  # they take no turns

    async with anyio.create_task_group() as group:
        for _ in range(2):
            group.start_soon(anyio.to_thread.run_sync, lambda: anyio.run(write))


async def test_removal_spares_the_working_directory_however_it_is_named(
    backend: NacreWorkspaceBackend, workspace: Path
) -> None:
    (workspace / "file").touch()
    (workspace / "up").symlink_to(workspace.parent)
    for name in (".", "./", "..", "up/workspace", "up/workspace/"):
        with pytest.raises(ValueError, match="it stays"):
            await backend.remove(f"{workspace}/{name}")
    await backend.remove(f"{workspace}/up")
    assert os.listdir(workspace) == ["file"]


async def test_a_folder_that_leads_elsewhere_is_no_longer_the_workspace(
    tool: Bash, workspace: Path
) -> None:
    for name in ("one", "two"):
        (workspace / name).mkdir()
    link = workspace / "link"
    link.symlink_to("one")
    backend = NacreWorkspaceBackend(tool, link)
    assert await backend.working_dir() == str(workspace / "one")
    link.unlink()
    link.symlink_to("two")
    with pytest.raises(WorkspaceUnavailableError, match="leads to"):
        await backend.run(["touch", "file"])
    assert not list(workspace.glob("*/file"))


async def test_a_tool_that_was_closed_is_an_unavailable_workspace(
    backend: NacreWorkspaceBackend, tool: Bash, workspace: Path
) -> None:
    await tool.aclose()
    with pytest.raises(WorkspaceUnavailableError, match="closed"):
        await backend.run(["true"])
    with pytest.raises(WorkspaceUnavailableError, match="closed"):
        await backend.exists(str(workspace))


async def test_a_tool_that_is_closed_meanwhile_ends_the_command(
    backend: NacreWorkspaceBackend, tool: Bash
) -> None:
    mark = tag()
    async with anyio.create_task_group() as group:

        async def run() -> None:
            with pytest.raises(WorkspaceError, match="stopped"):
                await backend.run(["sleep", mark])

        group.start_soon(run)
        with anyio.fail_after(20):
            while not alive(mark):
                await anyio.sleep(0.01)
        await tool.aclose()
    await gone(mark)
