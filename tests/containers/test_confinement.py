"""What a script in a container can do, and what it cannot; each with a sign that it began."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from containers.seen import made, names, remove, runs
from engines import Engine
from nacre import Bash, ToolContext
from nacre.model.reply import Reply

pytestmark = pytest.mark.anyio


@pytest.fixture(autouse=True)
def _engine_is_named(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DOCKER_HOST", engine.host)


async def _run(tool: Bash, script: str, conversation: str | None = None) -> Reply:
    context = ToolContext(working_dir="/workspace", conversation=conversation)
    return await tool.call("Bash", {"command": script}, context)


async def test_the_root_is_read_only_and_the_workspace_is_not(
    contained: Bash, workspace: Path
) -> None:
    reply = await _run(contained, "echo begun; echo x > made; echo y > /tmp/y; echo z > /etc/z")
    assert reply.text.startswith("begun\n")
    assert "Read-only file system" in reply.text
    assert (workspace / "made").read_text() == "x\n"


async def test_programs_can_be_made_and_run_in_the_folder_for_temporary_files(
    contained: Bash,
) -> None:
    script = 'echo "echo ran" > $TMPDIR/made; chmod +x $TMPDIR/made; /tmp/made'
    assert (await _run(contained, script)).text == "ran"


async def test_a_workspace_may_have_any_name(engine: Engine, workspace: Path, state: Path) -> None:
    folder = workspace / "a:b c=d;$(e)"
    folder.mkdir()
    async with Bash(workspace=folder, state=state, sandbox="container", image=engine.image) as tool:
        reply = await _run(tool, "pwd; touch made")
    assert reply.text == "/workspace"
    assert (folder / "made").exists()


async def test_a_name_cannot_ask_for_another_mount(
    engine: Engine, workspace: Path, state: Path, tmp_path: Path, opened: Callable[..., Bash]
) -> None:
    (tmp_path / "secret").write_text("secret\n")
    (workspace / "shown").mkdir()
    # Podman would make one text of a mount, in which commas divide.
    name = f"x,source={tmp_path},destination=/workspace/shown,"
    for folder in (workspace / name, workspace / "modules" / name):
        (folder / ".git" / "hooks").mkdir(parents=True)
        (folder / ".git" / "config").touch()
    async with opened() as tool:
        reply = await _run(tool, "echo begun; ls shown")
        assert reply.text == "begun"
    (workspace / "in,side" / ".git" / "hooks").mkdir(parents=True)
    async with Bash(
        workspace=workspace / "in,side", state=state, sandbox="container", image=engine.image
    ) as tool:
        reply = await _run(tool, "pwd")
    if engine.name == "dockerd":
        assert reply.text == "/workspace"
    else:
        assert (reply.details or {})["outcome"] == "unstarted"
        assert "podman cannot mount" in reply.text


async def test_descriptions_use_the_names_that_scripts_know(
    contained: Bash, workspace: Path
) -> None:
    text = str(contained.specs(ToolContext(working_dir=workspace / "sub"))[0]["description"])
    assert "Scripts start in /workspace/sub." in text
    assert "Only /workspace can be written" in text
    assert str(workspace) not in text


async def test_files_belong_to_whoever_runs_the_tool(contained: Bash, workspace: Path) -> None:
    await _run(contained, "touch made")
    assert (workspace / "made").stat().st_uid == os.getuid()
    reply = await _run(contained, "id -u")
    assert reply.text == str(os.getuid())


async def test_there_is_no_network_and_no_privilege(contained: Bash) -> None:
    reply = await _run(
        contained,
        "ls /sys/class/net; grep -E '^(CapEff|CapBnd|NoNewPrivs|Seccomp):' /proc/$$/status",
    )
    lines = reply.text.split()
    assert lines[0] == "lo"
    facts = dict(zip(lines[1::2], lines[2::2], strict=True))
    assert int(facts["CapEff:"], 16) == 0
    assert int(facts["CapBnd:"], 16) == 0
    assert facts["NoNewPrivs:"] == "1"
    assert facts["Seccomp:"] == "2"


async def test_nothing_of_the_hosts_environment_comes_in(
    contained: Bash, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ACME_API_KEY", "not-for-anyone-0123")
    script = "for name in ACME_API_KEY NACRE_HOUSE PATH; do [[ -v $name ]] && echo $name; done"
    assert (await _run(contained, script)).text == "PATH"


async def test_a_variable_that_is_named_comes_in(
    monkeypatch: pytest.MonkeyPatch, opened: Callable[..., Bash]
) -> None:
    monkeypatch.setenv("ACME_COLOUR", "green")
    async with opened(pass_env=["ACME_COLOUR"]) as tool:
        assert (await _run(tool, "echo $ACME_COLOUR")).text == "green"


@pytest.mark.parametrize("folder", ["/etc", "/workspace/../etc", "/"])
async def test_a_working_directory_elsewhere_is_refused_in_words(
    contained: Bash, folder: str
) -> None:
    reply = await contained.call("Bash", {"command": "echo hi", "working_directory": folder})
    assert (reply.details or {})["outcome"] == "unstarted"
    assert "is not in /workspace" in reply.text


async def test_both_names_of_a_folder_are_understood(contained: Bash, workspace: Path) -> None:
    (workspace / "sub").mkdir()
    for folder in ("sub", "/workspace/sub", str(workspace / "sub")):
        reply = await contained.call("Bash", {"command": "pwd", "working_directory": folder})
        assert reply.text == "/workspace/sub"


async def test_protected_paths_are_read_only(workspace: Path, opened: Callable[..., Bash]) -> None:
    (workspace / "memo").mkdir()
    (workspace / "memo" / "notes").write_text("mine\n")
    async with opened(protect=[workspace / "memo"]) as tool:
        reply = await _run(tool, "echo begun; cat memo/notes; echo yours > memo/notes")
    assert reply.text.startswith("begun\nmine\n")
    assert "Read-only file system" in reply.text
    assert (workspace / "memo" / "notes").read_text() == "mine\n"


async def test_what_is_protected_since_the_container_was_made_is_put_back(
    contained: Bash, workspace: Path
) -> None:
    await _run(contained, "true")
    hook = workspace / ".git" / "hooks" / "pre-commit"
    hook.parent.mkdir(parents=True)
    reply = await _run(contained, f"echo begun; echo x > {hook.relative_to(workspace)}")
    assert reply.text.startswith("begun\n")
    assert "was put back" in reply.text
    assert not hook.exists()


async def test_denied_paths_of_the_workspace_are_empty(
    workspace: Path, opened: Callable[..., Bash]
) -> None:
    (workspace / "vault").mkdir()
    (workspace / "vault" / "key").write_text("secret\n")
    (workspace / "token").write_text("secret\n")
    async with opened(deny_read=[workspace / "vault", workspace / "token"]) as tool:
        reply = await _run(tool, "echo begun; ls vault; cat vault/key token; echo x > vault/y")
    assert reply.text.startswith("begun\n")
    assert "secret" not in reply.text
    assert not (workspace / "vault" / "y").exists()


async def test_limits_hold_where_the_reply_says_so(
    engine: Engine, opened: Callable[..., Bash]
) -> None:
    async with opened(limits=["memory=64M", "processes=40", "cpus=1"]) as tool:
        reply = await _run(
            tool,
            "for file in memory/memory.limit_in_bytes memory.max pids/pids.max pids.max; do"
            " cat /sys/fs/cgroup/$file 2>/dev/null; done; true",
        )
        crowd = await _run(tool, "for i in {1..60}; do sleep 1 & done; wait")
    enforced = (reply.details or {})["enforced"]
    assert isinstance(enforced, dict)
    held = engine.name != "rootless-podman"
    for name in ("memory_limit", "process_limit", "cpu_limit"):
        assert enforced[name] == ("cgroup" if held else "none")
    if held:
        assert reply.text.split() == [str(64 << 20), "40"]
        assert "fork" in crowd.text


async def test_each_conversation_has_a_container_of_its_own(
    engine: Engine, contained: Bash
) -> None:
    await _run(contained, "touch /tmp/mine", conversation="one")
    other = await _run(contained, "ls /tmp", conversation="two")
    again = await _run(contained, "ls /tmp", conversation="one")
    assert (other.text, again.text) == ("[no output]", "mine")
    assert len(names(engine)) == 2


async def test_a_container_that_is_there_is_used_and_left_alone(
    engine: Engine, workspace: Path, state: Path
) -> None:
    name = made(engine, Binds=[f"{workspace}:/workspace:rw"])
    try:
        async with Bash(
            workspace=workspace, state=state, sandbox="container", container=name
        ) as tool:
            reply = await _run(tool, "echo hi > made; setsid sleep 600 & pwd")
            assert reply.text == "/workspace"
            assert (workspace / "made").read_text() == "hi\n"
            left = await _run(tool, "ps | grep -c '[s]leep 600'")
        assert left.text.splitlines()[0] == "1"  # its own first process, and nothing of ours
        assert runs(engine, name)
    finally:
        remove(engine, name)


async def test_a_container_with_a_network_is_refused_where_none_is_to_be_had(
    engine: Engine, workspace: Path, state: Path
) -> None:
    name = made(engine, NetworkMode="host")
    try:
        async with Bash(
            workspace=workspace, state=state, sandbox="container", container=name
        ) as tool:
            reply = await _run(tool, "echo hi")
    finally:
        remove(engine, name)
    assert (reply.details or {})["outcome"] == "unstarted"
    assert "has a network" in reply.text


async def test_a_port_and_a_file_of_the_container_can_be_waited_for(contained: Bash) -> None:
    script = "sleep 0.2; touch /tmp/made; nc -l -p 8123 & sleep 60"
    started = await contained.call("Bash", {"command": script, "background": True})
    job = (started.details or {})["id"]
    made_there = await contained.call("BashOutput", {"id": job, "wait_for": {"file": "/tmp/made"}})
    assert "[/tmp/made exists]" in made_there.text
    opened = await contained.call("BashOutput", {"id": job, "wait_for": {"port": 8123}})
    assert "8123" in opened.text
    await contained.call("KillBash", {"id": job})
