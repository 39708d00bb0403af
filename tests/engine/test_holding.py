"""What work is like under each sandbox: git, jobs, folders, devices, the network."""

import logging
import os
import socket
import subprocess
import sys
from collections.abc import Generator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import cast

import pytest

from nacre import Bash, Reply, ToolContext
from nacre.sandbox.probe import probe
from processes import tag

BACKENDS = [
    pytest.param("bubblewrap", marks=pytest.mark.needs("bubblewrap")),
    pytest.param("landlock"),
]
_GIT = {
    "GIT_CONFIG_GLOBAL": "/dev/null",
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_AUTHOR_NAME": "A",
    "GIT_AUTHOR_EMAIL": "a@example.org",
    "GIT_COMMITTER_NAME": "A",
    "GIT_COMMITTER_EMAIL": "a@example.org",
}
_IDENTITY = "".join(f"export {name}={value}; " for name, value in _GIT.items())
# As an agent works: each step must succeed, and the last line says that all did.
_WORK = (
    _IDENTITY
    + """
set -e
git status --short
echo one > one; git add one; git commit -qm one
git branch side
echo two > two; git add two; git commit -qm two
git checkout -q side; echo three > three; git add three; git commit -qm three
git rebase -q work; git log --oneline | wc -l
echo more >> one; git stash -q; git diff --quiet; git stash pop -q; git diff --stat | tail -1
git commit -qam four
git worktree add -q inside-tree work; git -C inside-tree status --short
git worktree list | wc -l; git worktree remove inside-tree
git checkout -q work; git merge -q side; git tag v1; git gc -q; git fsck --no-progress
echo all done
"""
)


@dataclass(frozen=True, kw_only=True)
class Place:
    """A workspace under a sandbox."""

    tool: Bash
    workspace: Path
    backend: str

    def bash(self, script: str, context: ToolContext | None = None, **more: object) -> Reply:
        return self.tool.call_sync("Bash", {"command": script, **more}, context)


def enforced(reply: Reply) -> Mapping[str, str]:
    assert reply.details is not None
    return cast("Mapping[str, str]", reply.details["enforced"])


def git(folder: Path, *words: str) -> None:
    subprocess.run(
        ["git", "-c", "protocol.file.allow=always", "-c", "init.defaultBranch=work", *words],
        cwd=folder,
        env={"PATH": os.environ["PATH"], **_GIT},
        check=True,
        capture_output=True,
    )


@pytest.fixture(scope="module", params=BACKENDS)
def place(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Generator[Place]:
    backend = str(request.param)
    if backend == "landlock" and not probe(bubblewrap=False).landlock:
        pytest.skip("this host has no Landlock")
    folder = Path(os.path.realpath(tmp_path_factory.mktemp(backend)))
    (folder / "workspace").mkdir()
    with Bash(workspace=folder / "workspace", state=folder / "state", sandbox=backend) as tool:
        yield Place(tool=tool, workspace=folder / "workspace", backend=backend)


def _repository(kind: str, folder: Path) -> Path:
    for name in ("plain", "super"):
        (folder / name).mkdir()
        git(folder / name, "init", "-q")
        git(folder / name, "commit", "-q", "--allow-empty", "-m", "zero")
    match kind:
        case "plain":
            return folder / "plain"
        case "linked":
            git(folder / "plain", "checkout", "-q", "-b", "other")
            git(folder / "plain", "worktree", "add", "-q", "../linked", "work")
            return folder / "linked"
        case _:
            git(folder / "super", "submodule", "add", "-q", str(folder / "plain"), "sub")
            return folder / "super/sub"


@pytest.mark.parametrize("kind", ["plain", "linked", "submodule"])
@pytest.mark.parametrize("backend", BACKENDS)
def test_git_works_in_a_repository_of_any_kind(tmp_path: Path, kind: str, backend: str) -> None:
    workspace = _repository(kind, tmp_path)
    with Bash(workspace=workspace, state=tmp_path / "state", sandbox=backend) as tool:
        reply = tool.call_sync("Bash", {"command": _WORK})
        assert reply.text.splitlines()[-1] == "all done", reply.text
        assert "[note:" not in reply.text
        assert "[sandbox:" not in reply.text
        # Everything around it stays as it is: a hook of the repository, its neighbours.
        hook = "mkdir -p $(git rev-parse --git-common-dir)/hooks;"
        hook += " echo x > $(git rev-parse --git-common-dir)/hooks/pre-commit; touch ../beside"
        tool.call_sync("Bash", {"command": hook})
    common = subprocess.run(
        ["git", "rev-parse", "--git-common-dir"], cwd=workspace, check=True, capture_output=True
    )
    folder = workspace / common.stdout.decode().strip()
    assert not (folder / "hooks/pre-commit").exists()
    assert not (workspace.parent / "beside").exists()


def test_a_hook_that_was_planted_is_reported_and_gone(place: Place) -> None:
    reply = place.bash("git init -q fresh; echo x > fresh/.git/hooks/pre-push; echo done")
    hook = place.workspace / "fresh/.git/hooks/pre-push"
    assert reply.text.startswith("done\n[note: ")
    assert f"{hook} is protected, and was put back (created)" in reply.text
    assert not hook.exists()
    assert not reply.is_error
    assert "[note:" not in place.bash("true").text


def test_a_hook_that_a_job_plants_is_undone_when_it_is_polled(place: Place) -> None:
    script = (
        "git init -q job; echo ready; until [ -e go ]; do sleep 0.02; done;"
        f" echo x > job/.git/hooks/pre-push; echo planted; sleep {tag()}"
    )
    reply = place.bash(script, background=True)
    assert reply.details is not None
    job = reply.details["id"]
    wait: dict[str, object] = {"id": job, "timeout": 20}
    place.tool.call_sync("BashOutput", {**wait, "wait_for": "ready"})
    (place.workspace / "go").touch()
    polled = place.tool.call_sync("BashOutput", {**wait, "wait_for": "planted"})
    hook = place.workspace / "job/.git/hooks/pre-push"
    assert f"{hook} is protected, and was put back" in polled.text
    assert not hook.exists()
    place.tool.call_sync("KillBash", {"id": job})


def test_what_was_stopped_is_told_in_the_reply(place: Place) -> None:
    path = Path.home() / f"nacre-{tag()}"
    reply = place.bash(f"echo x > {path}")
    assert f"[sandbox: the sandbox stopped a write to {path}: only " in reply.text
    assert reply.text.endswith("[exit code 1]")
    assert not path.exists()
    assert "[sandbox:" not in place.bash("cat absent; false").text


@pytest.mark.parametrize(
    ("script", "outcome"),
    [("true", "exited"), ("exit 3", "exited"), ("kill -9 $$", "signaled")],
)
def test_every_reply_says_what_was_enforced(place: Place, script: str, outcome: str) -> None:
    reply = place.bash(script)
    assert reply.details is not None
    assert reply.details["outcome"] == outcome
    said = enforced(reply)
    layer = "mount" if place.backend == "bubblewrap" else "landlock"
    assert said["write"].split("+")[0] == layer
    assert said["environment"] == "cleared"
    assert said["kernel_calls"] == "seccomp"


def test_a_job_says_it_when_it_is_started_and_a_denied_script_says_nothing(place: Place) -> None:
    reply = place.bash("true", background=True)
    assert enforced(reply)["privileges"] == "no_new_privs"
    assert enforced(place.bash("rm -rf /")) == {}
    assert enforced(place.bash("true", nonsense=1)) == {}


def test_a_folder_that_the_agent_names_is_not_writable_for_that(
    place: Place, tmp_path: Path
) -> None:
    place.bash("touch made", working_directory=str(tmp_path))
    place.bash("touch made", working_directory="..")
    assert not (tmp_path / "made").exists()
    assert not (place.workspace.parent / "made").exists()
    (place.workspace / "within").mkdir(exist_ok=True)
    assert not place.bash("touch made", working_directory="within").is_error
    assert (place.workspace / "within/made").exists()


def test_a_folder_that_the_host_names_can_be_seen_and_not_written(
    place: Place, tmp_path: Path
) -> None:
    (tmp_path / "file").write_text("seen")
    reply = place.bash("cat file; touch made || echo held", ToolContext(working_dir=tmp_path))
    assert "seen" in reply.text
    assert "held" in reply.text
    assert not (tmp_path / "made").exists()


def test_without_a_workspace_the_hosts_folder_is_it(place: Place, tmp_path: Path) -> None:
    with Bash(state=tmp_path / "state", sandbox=place.backend) as tool:
        (tmp_path / "here").mkdir()
        context = ToolContext(working_dir=tmp_path / "here")
        script = "touch made; touch ../beside; true"
        assert "made" not in tool.call_sync("Bash", {"command": "ls"}, context).text
        assert not tool.call_sync("Bash", {"command": script}, context).is_error
    assert [path.name for path in (tmp_path / "here").iterdir()] == ["made"]
    assert not (tmp_path / "beside").exists()


def test_read_only_permits_three_devices_and_nothing_else(place: Place) -> None:
    script = """
    for path in /dev/{null,zero,full,random,ptmx,shm/x,tty} /tmp/x $TMPDIR/x ./x $HOME/x; do
        if (: > $path) 2> /dev/null; then echo opened $path; fi
    done
    """
    context = ToolContext(working_dir=place.workspace, confinement="read-only")
    reply = place.bash(script, context)
    assert reply.text.splitlines()[:3] == [
        f"opened /dev/{name}" for name in ("null", "zero", "full")
    ]
    assert "opened" not in "".join(reply.text.splitlines()[3:])
    assert not (place.workspace / "x").exists()
    # The next call has what is usual again.
    assert not place.bash("touch usual").is_error


def test_a_confinement_that_a_call_names_holds_also_where_nothing_usually_does(
    workspace: Path, state: Path
) -> None:
    with Bash(workspace=workspace, state=state, sandbox="none") as tool:
        free = tool.call_sync("Bash", {"command": "touch free"})
        assert "write" not in enforced(free)
        context = ToolContext(working_dir=workspace, confinement="read-only")
        held = tool.call_sync("Bash", {"command": "touch held"}, context)
        assert held.is_error
        assert enforced(held)["write"] != "none"
        named = ToolContext(working_dir=workspace, confinement="open")
        assert "write" not in enforced(tool.call_sync("Bash", {"command": "touch open"}, named))
    assert sorted(path.name for path in workspace.iterdir()) == ["free", "open"]


_LISTEN = (
    "import socket; s = socket.create_server(('127.0.0.1', 0));"
    " c = socket.create_connection(s.getsockname()); s.accept()[0].send(b'x'); print(c.recv(1))"
)


def _connect(port: int) -> str:
    code = f"import socket; socket.create_connection(('127.0.0.1', {port})); print('reached')"
    return f'{sys.executable} -c "{code}"'


def test_without_a_network_a_room_has_its_own_loopback_and_landlock_has_none(
    place: Place,
) -> None:
    reply = place.bash(f'{sys.executable} -c "{_LISTEN}"')
    assert ("b'x'" in reply.text) is (place.backend == "bubblewrap")
    if place.backend == "landlock":
        assert "[sandbox: the sandbox stopped a connection to " in reply.text
    with socket.create_server(("127.0.0.1", 0)) as server:
        assert "reached" not in place.bash(_connect(server.getsockname()[1])).text


def test_with_the_hosts_network_its_loopback_is_reached(place: Place, tmp_path: Path) -> None:
    workspace = tmp_path / "workspace"
    workspace.mkdir()
    with (
        socket.create_server(("127.0.0.1", 0)) as server,
        Bash(
            workspace=workspace, state=tmp_path / "state", sandbox=place.backend, network="inherit"
        ) as tool,
    ):
        reply = tool.call_sync("Bash", {"command": _connect(server.getsockname()[1])})
        assert reply.text == "reached"
        assert {"tcp", "udp"}.isdisjoint(enforced(reply))
        unix = f"{sys.executable} -c 'import socket; socket.socket(socket.AF_UNIX)'"
        assert tool.call_sync("Bash", {"command": unix}).is_error


@pytest.mark.parametrize(
    ("protect", "deny_read", "wish"),
    [(["memo"], [], "protected"), ([], ["secret"], "unreadable")],
)
def test_what_only_a_mount_could_hold_is_refused_by_landlock_and_nothing_runs(
    tmp_path: Path, protect: list[str], deny_read: list[str], wish: str
) -> None:
    workspace = tmp_path / "workspace"
    (workspace / "memo").mkdir(parents=True)
    (workspace / "secret").touch()
    with Bash(
        workspace=workspace,
        state=tmp_path / "state",
        sandbox="landlock",
        protect=protect,
        deny_read=deny_read,
    ) as tool:
        reply = tool.call_sync("Bash", {"command": "touch ran"})
    assert reply.is_error
    assert f"is to be {wish}, and lies in" in reply.text
    assert "use sandbox='bubblewrap'" in reply.text
    assert enforced(reply) == {}
    assert not (workspace / "ran").exists()


def test_a_path_to_be_protected_is_refused_where_nothing_protects(
    workspace: Path, state: Path
) -> None:
    with Bash(workspace=workspace, state=state, sandbox="none", protect=["memo"]) as tool:
        reply = tool.call_sync("Bash", {"command": "touch ran"})
    assert "sandbox='none' protects nothing" in reply.text
    assert not (workspace / "ran").exists()


def test_that_auto_took_less_is_logged_once(
    workspace: Path,
    state: Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    if not probe(bubblewrap=False).landlock:
        pytest.skip("this host has no Landlock")

    def missing(*_: object) -> tuple[None, str]:
        return None, "bubblewrap is not installed"

    monkeypatch.setattr("nacre.sandbox.probe.probe_bwrap", missing)
    with caplog.at_level(logging.WARNING), Bash(workspace=workspace, state=state) as tool:
        for _ in range(2):
            assert enforced(tool.call_sync("Bash", {"command": "true"}))["view_of_others"] == "none"
    (line,) = [record.getMessage() for record in caplog.records if record.name == "nacre"]
    assert line.startswith("bubblewrap does not work here, so landlock holds scripts, without: ")


def test_a_folder_that_is_not_there_is_said_before_anything_runs(
    workspace: Path, state: Path, place: Place
) -> None:
    absent = workspace.parent / "absent"
    with Bash(workspace=workspace, state=state, sandbox=place.backend, write=[absent]) as tool:
        reply = tool.call_sync("Bash", {"command": "touch ran"})
        assert "there is no such folder; make it first" in reply.text
        absent.mkdir()
        assert not tool.call_sync("Bash", {"command": f"touch {absent}/ran"}).is_error
    assert not (workspace / "ran").exists()


def test_a_writable_folder_inside_another_is_no_way_out_when_it_becomes_a_link(
    tmp_path: Path,
) -> None:
    workspace, outside = tmp_path / "workspace", tmp_path / "outside"
    (workspace / "build").mkdir(parents=True)
    outside.mkdir()
    with Bash(
        workspace=workspace, state=tmp_path / "state", sandbox="landlock", write=["build"]
    ) as tool:
        tool.call_sync("Bash", {"command": f"mv build old; ln -s {outside} build"})
        reply = tool.call_sync("Bash", {"command": f"echo ran; touch {outside}/made"})
    assert reply.text.startswith("ran")
    assert not (outside / "made").exists()


@pytest.mark.parametrize("sandbox", BACKENDS)
def test_a_workspace_in_a_denied_folder_is_refused(tmp_path: Path, sandbox: str) -> None:
    workspace = tmp_path / "denied/workspace"
    workspace.mkdir(parents=True)
    denied = [tmp_path / "denied"]
    with Bash(
        workspace=workspace, state=tmp_path / "state", sandbox=sandbox, deny_read=denied
    ) as tool:
        reply = tool.call_sync("Bash", {"command": "echo ran"})
    assert "not started" in reply.text
    assert "which nobody may read" in reply.text


@pytest.mark.needs("bubblewrap")
def test_a_workspace_is_found_by_a_link_in_the_hosts_tmp(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to("real")
    with Bash(workspace=tmp_path / "link", state=tmp_path / "state", sandbox="bubblewrap") as tool:
        assert tool.call_sync("Bash", {"command": "touch made && echo ok"}).text == "ok"


@pytest.mark.needs("bubblewrap")
def test_the_private_tmp_stays_one_when_the_host_names_tmp(tmp_path: Path) -> None:
    (tmp_path / "workspace").mkdir()
    with Bash(
        workspace=tmp_path / "workspace", state=tmp_path / "state", sandbox="bubblewrap"
    ) as tool:
        context = ToolContext(working_dir="/tmp")
        assert not tool.call_sync("Bash", {"command": "mktemp"}, context).is_error
