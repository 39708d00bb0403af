"""What goes wrong with an engine or a container is an outcome with a sentence, never a hang."""

import hashlib
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path

import anyio
import pytest

from containers.seen import kill, made, names, none_left, remove, runs
from engines import Engine
from nacre import Bash, ToolContext
from nacre.model.reply import Reply
from nacre.process.porter.whose import may_live, owner_here
from processes import alive

pytestmark = pytest.mark.anyio

_HOST = """
import sys, anyio
from nacre import Bash, ToolContext
async def main():
    tool = Bash(workspace=sys.argv[1], state=sys.argv[2], sandbox="container", image=sys.argv[3],
                idle_timeout=float(sys.argv[4]), jobs=sys.argv[5])
    await tool.call("Bash", {"command": "touch begun; sleep 600"})
anyio.run(main)
"""


def _outcome(reply: Reply) -> object:
    return (reply.details or {}).get("outcome")


async def _begun(workspace: Path) -> None:
    with anyio.fail_after(20):
        while not (workspace / "begun").exists():
            await anyio.sleep(0.02)


def _tool(engine: Engine, workspace: Path, state: Path, image: str | None = None) -> Bash:
    return Bash(workspace=workspace, state=state, sandbox="container", image=image or engine.image)


@pytest.fixture(autouse=True)
def _engine_is_named(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("engine", "own_engine"):
        if name in request.fixturenames:
            monkeypatch.setenv("DOCKER_HOST", request.getfixturevalue(name).host)


async def test_an_image_that_is_missing_is_named(
    engine: Engine, workspace: Path, state: Path
) -> None:
    async with _tool(engine, workspace, state, "no/such:image") as tool:
        reply = await tool.call("Bash", {"command": "echo hi"})
    assert _outcome(reply) == "unstarted"
    assert "there is no image 'no/such:image'" in reply.text


async def test_an_image_without_bash_is_named(engine: Engine, workspace: Path, state: Path) -> None:
    async with _tool(engine, workspace, state, engine.bashless) as tool:
        reply = await tool.call("Bash", {"command": "echo hi"})
    assert _outcome(reply) == "unstarted"
    assert "has no bash" in reply.text
    none_left(engine, 5)


async def test_no_image_is_a_sentence(engine: Engine, workspace: Path, state: Path) -> None:
    async with Bash(workspace=workspace, state=state, sandbox="container") as tool:
        reply = await tool.call("Bash", {"command": "echo hi"})
    assert _outcome(reply) == "unstarted"
    assert "needs an image" in reply.text
    assert names(engine) == []


async def test_an_engine_that_does_not_answer_is_named(
    workspace: Path, state: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DOCKER_HOST", f"unix://{workspace}/none.sock")
    async with Bash(workspace=workspace, state=state, sandbox="container", image="any") as tool:
        reply = await tool.call("Bash", {"command": "echo hi"})
    assert _outcome(reply) == "unstarted"
    assert f"no engine answers at unix://{workspace}/none.sock" in reply.text
    assert "DOCKER_HOST" in reply.text


async def test_a_container_that_ends_mid_call_loses_the_call_and_the_next_has_another(
    engine: Engine, workspace: Path, state: Path
) -> None:
    replies: list[Reply] = []
    async with _tool(engine, workspace, state) as tool:

        async def run() -> None:
            script = {"command": "echo before; touch begun; sleep 600"}
            replies.append(await tool.call("Bash", script))

        with anyio.fail_after(30):
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(run)
                await _begun(workspace)
                kill(engine, names(engine)[0])
        assert _outcome(replies[0]) == "lost"
        assert "before" in replies[0].text
        assert "the container ended" in replies[0].text
        again = await tool.call("Bash", {"command": "echo again"})
        assert again.text == "again"
    none_left(engine, 5)


async def test_an_engine_that_dies_mid_call_loses_the_call_and_is_named_after_that(
    own_engine: Engine, workspace: Path, state: Path
) -> None:
    replies: list[Reply] = []
    async with _tool(own_engine, workspace, state) as tool:

        async def run() -> None:
            replies.append(await tool.call("Bash", {"command": "touch begun; sleep 600"}))

        with anyio.fail_after(60):
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(run)
                await _begun(workspace)
                await anyio.to_thread.run_sync(own_engine.kill)
            after = await tool.call("Bash", {"command": "echo hi"})
    assert _outcome(replies[0]) == "lost"
    assert _outcome(after) == "unstarted"
    assert "no engine answers" in after.text


async def test_a_socket_that_vanishes_does_no_harm_to_what_runs(
    own_engine: Engine, workspace: Path, state: Path
) -> None:
    path = Path(own_engine.host.removeprefix("unix://"))
    aside = path.with_name("aside.sock")
    async with _tool(own_engine, workspace, state) as tool:
        assert (await tool.call("Bash", {"command": "echo hi"})).text == "hi"
        path.rename(aside)
        try:
            # Its resident is there; another conversation would need a container of its own.
            assert (await tool.call("Bash", {"command": "echo still"})).text == "still"
            other = await tool.call(
                "Bash", {"command": "echo hi"}, ToolContext(working_dir=".", conversation="other")
            )
        finally:
            aside.rename(path)
    assert _outcome(other) == "unstarted"
    assert "no engine answers" in other.text


async def test_an_engine_that_hangs_is_not_waited_for_long(
    own_engine: Engine, workspace: Path, state: Path
) -> None:
    async with _tool(own_engine, workspace, state) as tool:
        assert (await tool.call("Bash", {"command": "echo hi"})).text == "hi"
        with own_engine.frozen(), anyio.fail_after(30):
            reply = await tool.call(
                "Bash",
                {"command": "touch begun"},
                ToolContext(working_dir=".", conversation="other"),
            )
        assert _outcome(reply) == "unstarted"
        assert "no engine answers" in reply.text
        assert (await tool.call("Bash", {"command": "echo still"})).text == "still"
    assert not (workspace / "begun").exists()


async def test_a_disk_that_is_full_is_the_scripts_to_tell(contained: Bash) -> None:
    script = "mkdir d; echo begun; echo much > /dev/full; echo $?"
    reply = await contained.call("Bash", {"command": script})
    assert _outcome(reply) == "exited"
    assert "No space left on device" in reply.text
    assert reply.text.splitlines()[-1] == "1"


async def test_a_script_that_kills_everything_it_can_loses_itself_only(
    contained: Bash, workspace: Path
) -> None:
    with anyio.fail_after(30):
        reply = await contained.call("Bash", {"command": "touch begun; kill -9 -1; sleep 600"})
        assert (workspace / "begun").exists()
        assert _outcome(reply) in {"lost", "signaled"}
        assert (await contained.call("Bash", {"command": "echo after"})).text == "after"


async def test_a_script_that_ends_who_attends_to_it_is_lost_and_ended(
    contained: Bash, workspace: Path
) -> None:
    script = "while :; do echo beat >> beats; sleep 0.05; done & kill -9 $PPID; sleep 600"
    with anyio.fail_after(20):
        reply = await contained.call("Bash", {"command": script})
    assert _outcome(reply) == "lost"
    assert "ended the shell in the container that attended to it" in reply.text
    said = (workspace / "beats").stat().st_size
    assert (await contained.call("Bash", {"command": "sleep 0.2; echo after"})).text == "after"
    assert (workspace / "beats").stat().st_size == said


async def test_a_resident_that_a_script_stopped_loses_the_next_call_and_no_other(
    contained: Bash, workspace: Path
) -> None:
    script = "read -r _ _ _ resident _ </proc/$PPID/stat; kill -STOP $resident; echo stopped"
    assert (await contained.call("Bash", {"command": script})).text == "stopped"
    with anyio.fail_after(30):
        reply = await contained.call("Bash", {"command": "touch begun"})
    assert _outcome(reply) == "lost"
    assert "does not answer" in reply.text
    assert not (workspace / "begun").exists()
    assert (await contained.call("Bash", {"command": "echo after"})).text == "after"
    assert not (workspace / "begun").exists()


async def test_memory_that_runs_out_is_told_as_the_limit_it_is(
    engine: Engine, opened: Callable[..., Bash]
) -> None:
    if engine.name == "rootless-podman":
        pytest.skip("this engine has no limits")
    async with opened(limits=["memory=64M"]) as tool:
        reply = await tool.call("Bash", {"command": "x=$(printf '%*s' 200000000 ''); echo $?"})
    assert "limit was reached for the memory of the container: no more than 64 MiB" in reply.text


async def test_what_outlives_its_resident_is_ended_by_another(
    contained: Bash, workspace: Path
) -> None:
    # The parent of the script's parent is its resident.
    script = (
        "read -r _ _ _ steward _ </proc/$$/stat; read -r _ _ _ resident _ </proc/$steward/stat;"
        " (trap '' TERM; while :; do echo beat >> beats; sleep 0.05; done) & disown;"
        " until [ -s beats ]; do sleep 0.01; done; kill -9 $resident $steward; sleep 600"
    )
    reply = await contained.call("Bash", {"command": script, "timeout": 2})
    beats = workspace / "beats"
    assert _outcome(reply) in {"lost", "running", "timed_out"}
    if _outcome(reply) == "running":
        await contained.call("KillBash", {"id": (reply.details or {})["id"]})
    with anyio.fail_after(15):
        while True:
            before = beats.stat().st_size
            await anyio.sleep(0.3)
            if beats.stat().st_size == before:
                break


@pytest.mark.parametrize("jobs", ["owned", "detached"])
async def test_what_sheds_its_mark_is_ended_too(
    engine: Engine, workspace: Path, jobs: str, opened: Callable[..., Bash]
) -> None:
    daemon = "(ulimit -x 7; while :; do echo beat >> beats; sleep 0.02; done) & "
    script = f"{daemon} until [ -s beats ]; do sleep 0.01; done; echo end"
    async with opened(idle_timeout=2, jobs=jobs) as tool:
        assert (await tool.call("Bash", {"command": script})).text == "end"
        said = (workspace / "beats").stat().st_size
        assert (await tool.call("Bash", {"command": "sleep 0.2; echo after"})).text == "after"
        assert (workspace / "beats").stat().st_size == said
    none_left(engine, 20)


async def test_two_hosts_of_a_conversation_share_a_container_and_leave_each_other_alone(
    engine: Engine, workspace: Path, opened: Callable[..., Bash]
) -> None:
    kept = partial(opened, idle_timeout=2, jobs="detached")
    async with kept() as one, kept() as other:
        await one.call("Bash", {"command": "echo mine > /tmp/mine"})
        script = "cat /tmp/mine; until [ -e go ]; do sleep 0.01; done; echo end"
        job = await one.call("Bash", {"command": script, "background": True})
        for _ in range(5):
            assert (await other.call("Bash", {"command": "cat /tmp/mine"})).text == "mine"
        (workspace / "go").touch()
        ended = await other.call(
            "BashOutput", {"id": (job.details or {})["id"], "wait_for": {"exit": True}}
        )
        assert ended.text.startswith("mine\nend")
        assert len(names(engine)) == 1
    none_left(engine, 20)


@pytest.mark.parametrize("jobs", ["owned", "detached"])
async def test_nothing_is_left_of_a_host_that_was_killed(
    engine: Engine, workspace: Path, state: Path, jobs: str
) -> None:
    words = [sys.executable, "-c", _HOST, workspace, state, engine.image, "2", jobs]
    with subprocess.Popen(words) as host:  # noqa: ASYNC220 (it is started, and waits for nothing)
        await _begun(workspace)
        host.kill()
    # Owned, it ends with its host; kept, when it has been idle.
    none_left(engine, 20)


async def test_what_a_killed_porter_left_ends_by_itself_or_is_removed_by_the_next(
    engine: Engine, workspace: Path, state: Path
) -> None:
    words = [sys.executable, "-c", _HOST, workspace, state, engine.image, "600", "owned"]
    with subprocess.Popen(words) as host:  # noqa: ASYNC220 (it is started, and waits for nothing)
        await _begun(workspace)
        [left] = names(engine)
        for pid in alive("process.porter.porter import main; main(int(sys.argv[1]), "):
            if _parent(pid) == host.pid:
                os.kill(pid, signal.SIGKILL)
        host.kill()
    foreign = names(engine)
    assert foreign == [left]
    async with _tool(engine, workspace, state) as tool:
        assert (await tool.call("Bash", {"command": "echo hi"})).text == "hi"
        with anyio.fail_after(10):
            while left in names(engine):
                await anyio.sleep(0.05)
    none_left(engine, 5)


def _parent(pid: int) -> int:
    try:
        return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
    except OSError:
        return 0


async def test_strays_of_others_and_what_is_kept_are_left_alone(
    engine: Engine, state: Path, opened: Callable[..., Bash]
) -> None:
    mine = hashlib.sha256(os.fsencode(os.path.realpath(state))).hexdigest()[:16]
    here, gone = owner_here(), f"{owner_here().rpartition(' ')[0].rpartition(' ')[0]} 4194303 1"
    assert not may_live(gone)
    labels = {"dev.nacre": "1", "dev.nacre.state": mine, "dev.nacre.kept": "no"}
    others = [
        made(engine, labels={**labels, "dev.nacre.owner": here}),
        made(engine, labels={**labels, "dev.nacre.owner": "elsewhere 1 1"}),
        made(engine, labels={**labels, "dev.nacre.owner": gone, "dev.nacre.kept": "yes"}),
        made(engine, labels={**labels, "dev.nacre.owner": gone, "dev.nacre.state": "0" * 16}),
        made(engine, labels={"dev.nacre.state": mine, "dev.nacre.owner": gone}),
    ]
    stray = made(engine, labels={**labels, "dev.nacre.owner": gone})
    try:
        async with opened() as tool:
            assert (await tool.call("Bash", {"command": "echo hi"})).text == "hi"
            with anyio.fail_after(10):
                while runs(engine, stray):
                    await anyio.sleep(0.05)
        assert [runs(engine, each) for each in others] == [True] * len(others)
    finally:
        for each in (*others, stray):
            remove(engine, each)


async def test_a_script_in_the_background_that_ends_at_once_is_a_job_that_ended(
    contained: Bash,
) -> None:
    for number in range(30):
        started = await contained.call(
            "Bash", {"command": f"echo {number}; exit 7", "background": True}
        )
        job = (started.details or {})["id"]
        ended = await contained.call("BashOutput", {"id": job, "wait_for": {"exit": True}})
        assert (_outcome(ended), ended.text.splitlines()[0]) == ("exited", str(number))
        assert (ended.details or {})["exit_code"] == 7


async def test_a_container_that_its_user_removes_stays_removed(
    engine: Engine, workspace: Path, contained: Bash
) -> None:
    script = {"command": "touch begun; sleep 600", "background": True}
    job = (await contained.call("Bash", script)).details or {}
    await _begun(workspace)
    remove(engine, names(engine)[0])
    ended = await contained.call("BashOutput", {"id": job["id"], "wait_for": {"exit": True}})
    assert _outcome(ended) == "lost"
    # Another one is made meanwhile, which takes longer.
    other = ToolContext(working_dir="/workspace", conversation="other")
    assert (await contained.call("Bash", {"command": "echo hi"}, other)).text == "hi"
    assert len(names(engine)) == 1


async def test_what_ends_every_resident_is_ended_with_its_container(contained: Bash) -> None:
    flood = "setsid bash -c 'while :; do kill -9 -1; done' & sleep 600"
    with anyio.fail_after(60):
        assert _outcome(await contained.call("Bash", {"command": flood})) in {"lost", "signaled"}
        while (await contained.call("Bash", {"command": "echo after"})).text != "after":
            await anyio.sleep(0.1)


async def test_silence_is_not_death_in_a_container_that_soon_is_idle(
    opened: Callable[..., Bash],
) -> None:
    async with opened(idle_timeout=2) as tool:
        reply = await tool.call("Bash", {"command": "sleep 12; echo end"})
    assert reply.text == "end"


async def test_input_full_of_quotes_is_read_in_time(contained: Bash) -> None:
    quotes = "it's\n" * 400_000
    with anyio.fail_after(30):
        reply = await contained.call("Bash", {"command": f": <<'END'\n{quotes}END\necho end"})
    assert reply.text == "end"


async def test_a_container_that_is_idle_ends_and_the_next_call_has_another(
    engine: Engine, opened: Callable[..., Bash]
) -> None:
    async with opened(idle_timeout=1) as tool:
        await tool.call("Bash", {"command": "touch /tmp/mine"})
        with anyio.fail_after(15):
            while names(engine):
                await anyio.sleep(0.1)
        reply = await tool.call("Bash", {"command": "ls /tmp"})
    assert _outcome(reply) == "exited"
    assert "mine" not in reply.text


async def test_no_process_is_left_here_when_a_tool_is_closed(
    engine: Engine, workspace: Path, state: Path
) -> None:
    async with _tool(engine, workspace, state) as tool:
        await tool.call("Bash", {"command": "sleep 600", "background": True})
        [porter] = [pid for pid in alive("nacre.process.porter") if _parent(pid) == os.getpid()]
        [stand_in] = [pid for pid in alive("nacre-stand-in") if _parent(pid) == porter]
    none_left(engine, 5)
    assert not {porter, stand_in} & {*alive("nacre.process.porter"), *alive("nacre-stand-in")}
