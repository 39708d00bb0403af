"""What a container has of this machine, and what it has not, whatever a script puts in the way."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import cast

import pytest

from containers.seen import made, names, remove
from engines import Engine
from nacre import Bash, ToolContext
from nacre.container.mounted import to_mount
from nacre.errors import SandboxError
from nacre.model.launch import Mount
from nacre.model.reply import Reply

pytestmark = pytest.mark.anyio


async def _run(tool: Bash, script: str) -> Reply:
    return await tool.call("Bash", {"command": script}, ToolContext(working_dir="/workspace"))


def _enforced(reply: Reply) -> dict[str, str]:
    return cast("dict[str, str]", (reply.details or {})["enforced"])


@pytest.mark.parametrize("confinement", ["workspace", "read-only", "open"])
@pytest.mark.parametrize("link", ["memo", "memo/session"])
async def test_a_link_that_a_script_makes_shows_nothing_of_this_machine(
    workspace: Path, tmp_path: Path, opened: Callable[..., Bash], confinement: str, link: str
) -> None:
    vault = tmp_path / "vault"
    (vault / "session").mkdir(parents=True)
    (vault / "key").write_text("secret\n")
    (vault / "session" / "key").write_text("secret\n")
    (workspace / link).parent.mkdir(exist_ok=True)
    (workspace / link).symlink_to(vault)
    async with opened(confinement=confinement) as tool:
        reply = await _run(tool, f"echo begun; cat {link}/key {vault}/key memo/session/key")
    assert reply.text.startswith("begun\n")
    assert "secret" not in reply.text


async def test_a_workspace_that_a_link_leads_to_is_protected_and_denied_the_same(
    workspace: Path, tmp_path: Path, opened: Callable[..., Bash]
) -> None:
    link = tmp_path / "link"
    link.symlink_to(workspace)
    (workspace / "memo" / "session").mkdir(parents=True)
    (workspace / "plan").write_text("secret\n")
    script = "echo begun; cat plan; touch made memo/session/x"
    async with opened(workspace=link, deny_read=["plan"]) as tool:
        reply = await _run(tool, script)
        named = await tool.call("Bash", {"command": "pwd", "working_directory": str(link / "memo")})
    assert reply.text.startswith("begun\n")
    assert "secret" not in reply.text
    assert (workspace / "made").exists()
    assert not (workspace / "memo" / "session" / "x").exists()
    assert named.text == "/workspace/memo"


async def test_what_is_denied_stays_hidden_when_it_is_made_later_or_replaced(
    workspace: Path, opened: Callable[..., Bash]
) -> None:
    async with opened(deny_read=[workspace / "plan"]) as tool:
        assert (await _run(tool, "ls -A")).text == "[no output]"
        for _ in range(2):
            (workspace / "new").write_text("secret\n")
            (workspace / "new").replace(workspace / "plan")
            reply = await _run(tool, "echo begun; cat plan")
            assert reply.text.startswith("begun")
            assert "secret" not in reply.text


async def test_limits_that_are_given_hold_with_open_too(opened: Callable[..., Bash]) -> None:
    script = "cat /sys/fs/cgroup/{memory/memory.limit_in_bytes,memory.max,pids/pids.max,pids.max}"
    async with opened(confinement="open", limits=["memory=64M", "processes=40"]) as tool:
        reply = await _run(tool, f"{script} 2>/dev/null; true")
    if _enforced(reply)["memory_limit"] == "cgroup":
        assert reply.text.split() == [str(64 << 20), "40"]


async def test_a_variable_may_have_any_name(
    monkeypatch: pytest.MonkeyPatch, opened: Callable[..., Bash]
) -> None:
    ours = ["script", "session", "input", "limits", "word", "mark"]
    for name in ours:
        monkeypatch.setenv(name, f"the {name}")
    async with opened(pass_env=ours) as tool:
        reply = await _run(tool, f"for name in {' '.join(ours)}; do echo ${{!name}}; done; cat")
    assert reply.text.splitlines() == [f"the {name}" for name in ours]


async def test_of_a_container_that_somebody_made_only_what_it_holds_is_said(
    engine: Engine, workspace: Path, opened: Callable[..., Bash]
) -> None:
    (workspace / "plan").touch()
    name = made(engine, Binds=[f"{workspace}:/workspace:rw"], ReadonlyRootfs=True)
    try:
        async with opened(
            image=None, container=name, confinement="read-only", deny_read=[workspace / "plan"]
        ) as tool:
            reply = await _run(tool, "touch made && echo written")
    finally:
        remove(engine, name)
    assert reply.text == "written"
    for what in ("write", "read", "memory_limit"):
        assert _enforced(reply)[what] == "none"


async def test_a_script_of_one_conversation_is_not_in_the_container_of_another_that_is_as_idle(
    engine: Engine, opened: Callable[..., Bash]
) -> None:
    async with opened(idle_timeout=2, jobs="detached") as busy:
        started = await busy.call("Bash", {"command": "sleep 5; echo end", "background": True})
        job = (started.details or {})["id"]
        async with opened(idle_timeout=2, jobs="detached") as idle:
            assert (await idle.call("Bash", {"command": "echo hi"})).text == "hi"
            assert len(names(engine)) == 1
            ended = await busy.call("BashOutput", {"id": job, "wait_for": {"exit": True}})
    assert ended.text.startswith("end")


def test_a_mount_behind_a_link_is_refused_and_one_that_is_replaced_is_noticed(
    workspace: Path, tmp_path: Path
) -> None:
    (workspace / "kept").mkdir()
    (tmp_path / "link").symlink_to(workspace)
    with pytest.raises(SandboxError, match="is a link or lies behind one"):
        to_mount([Mount(str(tmp_path / "link"), "/workspace", writable=True)])
    gone = Mount(str(workspace / "gone"), "/workspace/gone")
    found = to_mount([Mount(str(workspace / "kept"), str(workspace / "kept")), gone])
    assert [mount.source for mount in found.mounts] == [str(workspace / "kept")]
    # Of a process that is none of ours, nothing can be told.
    found.require(os.getpid())
