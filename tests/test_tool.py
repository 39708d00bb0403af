import math
import os
import subprocess
import sys
import threading
from pathlib import Path

import anyio
import pytest

from nacre import Bash, CancelToken, ConfigError, Reply, ToolContext
from processes import descriptors, gone, tag

pytestmark = pytest.mark.anyio


def _outcome(reply: Reply) -> object:
    return (reply.details or {})["outcome"]


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"dialect": "klingon"}, "dialect 'klingon' is not known"),
        ({"sandbox": "tank"}, "sandbox='tank' is not known; use one of 'auto'"),
        (
            {"on_timeout": "explode"},
            "on_timeout='explode' is not known; use 'kill' or 'background'",
        ),
        ({"jobs": "rented"}, "jobs='rented' is not known; use 'owned' or 'detached'"),
        ({"timeout": 0}, "timeout=0 cannot be used"),
        ({"timeout": math.nan}, "timeout=nan cannot be used"),
        ({"rules": {"denny": []}}, "unknown key 'denny'"),
        ({"rules": "/no/such.yaml"}, "there is no rules file '/no/such.yaml'"),
    ],
)
def test_a_setting_that_cannot_be_used_is_named(settings: dict[str, str], sentence: str) -> None:
    with pytest.raises(ConfigError, match=sentence):
        Bash(**settings)  # pyright: ignore[reportArgumentType]


def test_a_tool_that_is_not_used_makes_no_file_and_no_process(state: Path) -> None:
    before, mine = descriptors(), set(os.listdir("/proc/self/task"))
    with Bash(state=state) as tool:
        assert [spec["name"] for spec in tool.specs()] == ["Bash", "BashOutput", "KillBash", "Jobs"]
        assert descriptors() == before
        # One of an earlier test may still be about to end.
        assert set(os.listdir("/proc/self/task")) <= mine
    assert not state.exists()


def test_no_parser_is_imported_before_the_first_script(state: Path) -> None:
    code = f"import sys; from nacre import Bash; Bash(state={str(state)!r}); print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    heavy = ("tree_sitter", "yaml", "tomllib", "nacre.syntax", "nacre.policy")
    assert [name for name in done.stdout.split() if name.startswith(heavy)] == []


async def test_a_foreground_call_leaves_no_file_but_the_journal(
    state: Path, workspace: Path
) -> None:
    async with Bash(workspace=workspace, state=state) as tool:
        await tool.call("Bash", {"command": "seq 1000 > $TMPDIR/file"})
    files = {path.name for path in state.rglob("*") if path.is_file()}
    assert files == {"journal.db", "journal.db.lock"}


def test_specs_name_the_working_directory(state: Path) -> None:
    with Bash(state=state) as tool:
        first, *_ = tool.specs(ToolContext(working_dir="/somewhere"))
    assert "Scripts start in /somewhere." in str(first["description"])
    assert "Only /somewhere can be written" in str(first["description"])


@pytest.mark.parametrize("arguments", [None, "ls", ["ls"], 3, True])
async def test_arguments_that_are_no_object_are_refused_in_words(
    tool: Bash, arguments: object
) -> None:
    reply = await tool.call("Bash", arguments)  # pyright: ignore[reportArgumentType]
    assert reply.is_error
    assert reply.text.startswith("[error: the arguments of Bash must be an object")


@pytest.mark.parametrize("tool_name", ["Bash", "BashOutput", "KillBash"])
@pytest.mark.parametrize(
    "text", [chr(0xD800), "x" * 100_000, "\0", chr(0xDCFF), "../../etc/passwd", ""]
)
async def test_no_text_of_an_agents_is_too_strange_for_an_answer(
    tool: Bash, tool_name: str, text: str
) -> None:
    tries: list[dict[str, object]] = [
        {"command": text, "background": True, "description": text},
        {"command": "true", "working_directory": text},
        {"id": text},
        {"id": text, "filter": text, "wait_for": text},
        {text: text},
    ]
    for arguments in tries:
        reply = await tool.call(tool_name, arguments)
        assert len(reply.text) < 200_000 if "command" in arguments else len(reply.text) < 500
        reply.text.encode()


async def test_a_job_with_a_strange_script_and_conversation_can_be_read(
    tool: Bash, workspace: Path
) -> None:
    context = ToolContext(working_dir=workspace, conversation="\ud800")
    started = await tool.call("Bash", {"command": "echo '\udcff'", "background": True}, context)
    job = {"id": (started.details or {})["id"]}
    ended = await tool.call("BashOutput", {**job, "wait_for": "exit"}, context)
    assert _outcome(ended) == "exited"
    for regex in ("\ud800", "("):
        refused = await tool.call("BashOutput", {**job, "filter": regex}, context)
        assert "is not a regular expression" in refused.text


async def test_a_timeout_may_kill_instead(state: Path) -> None:
    mark = tag()
    async with Bash(state=state, on_timeout="kill") as tool:
        reply = await tool.call("Bash", {"command": f"echo hi; sleep {mark}", "timeout": 0.2})
    assert reply.text == "hi\n[timed out after 0.2 s; it was ended with all it started]"
    await gone(mark)


async def test_the_hosts_timeout_holds_where_the_agent_names_none(state: Path) -> None:
    async with Bash(state=state, on_timeout="kill", timeout=0.2) as tool:
        reply = await tool.call("Bash", {"command": "sleep 20"})
        assert _outcome(reply) == "timed_out"
        reply = await tool.call("Bash", {"command": "sleep 0.5", "timeout": 20})
        assert _outcome(reply) == "exited"


async def test_only_what_is_passed_reaches_a_script(
    state: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MY_TOKEN", "hunter2")
    monkeypatch.setenv("MY_SETTING", "blue")
    async with Bash(state=state, pass_env=["MY_SETTING"]) as tool:
        reply = await tool.call("Bash", {"command": 'echo "$MY_SETTING" ${MY_TOKEN:+leaked}'})
    assert reply.text == "blue"


async def test_rules_may_be_a_file_an_object_or_several(
    state: Path, workspace: Path, tmp_path: Path
) -> None:
    file = tmp_path / "rules.toml"
    file.write_text("[permissions]\ndeny = ['Bash(true one:*)']\n")
    more = {"ask": ["Bash(true two:*)"]}
    for rules, outcomes in (
        (None, ["exited", "exited"]),
        (file, ["denied", "exited"]),
        (str(file), ["denied", "exited"]),
        (more, ["exited", "denied"]),
        ([file, more], ["denied", "denied"]),
    ):
        async with Bash(workspace=workspace, state=state, rules=rules) as tool:
            replies = [await tool.call("Bash", {"command": f"true {n}"}) for n in ("one", "two")]
        assert [_outcome(reply) for reply in replies] == outcomes


async def test_a_projects_rules_hold_in_its_workspace(state: Path, workspace: Path) -> None:
    (workspace / "nacre.toml").write_text("[permissions]\ndeny = ['Bash(true:*)']\n")
    async with Bash(workspace=workspace, state=state, rules={"allow": ["Bash"]}) as tool:
        reply = await tool.call("Bash", {"command": "true"})
    assert _outcome(reply) == "denied"
    assert f"{workspace}/nacre.toml:2" in reply.text


async def test_a_denial_says_why_which_part_what_else_and_by_which_rule(tool: Bash) -> None:
    reply = await tool.call("Bash", {"command": "cd src &&\ngit push --force"})
    reason, part, instead, rule = reply.text.splitlines()
    assert reply.is_error
    assert reason.startswith("[denied: ")
    assert part == "[part: git push --force]"
    assert instead.startswith("[instead: ")
    assert rule == "[rule: hazards.git-push]"


async def test_one_tool_serves_many_conversations_from_many_places(
    tool: Bash, tmp_path: Path
) -> None:
    folders = [tmp_path / str(number) for number in range(8)]
    replies: dict[Path, str] = {}

    async def ask(folder: Path) -> None:
        context = ToolContext(working_dir=folder, conversation=folder.name)
        replies[folder] = (await tool.call("Bash", {"command": "pwd"}, context)).text

    async with anyio.create_task_group() as tasks:
        for folder in folders:
            folder.mkdir()
            tasks.start_soon(ask, folder)
    assert replies == {folder: str(folder) for folder in folders}


async def test_a_working_directory_may_be_relative_to_the_workspace(
    tool: Bash, workspace: Path
) -> None:
    (workspace / "a" / "b").mkdir(parents=True)
    reply = await tool.call(
        "Bash", {"command": "pwd", "working_directory": "b"}, ToolContext(working_dir="a")
    )
    assert reply.text == str(workspace / "a" / "b")


def test_call_sync_works_from_several_threads(state: Path) -> None:
    replies: list[str] = []
    with Bash(state=state) as tool:

        def work(number: int) -> None:
            reply = tool.call_sync("Bash", {"command": f"sleep 0.1; echo {number}"})
            replies.append(reply.text)

        workers = [threading.Thread(target=work, args=(number,)) for number in range(8)]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
    assert sorted(replies) == [str(number) for number in range(8)]


async def test_call_sync_inside_an_event_loop_says_what_to_do(tool: Bash) -> None:
    with pytest.raises(ConfigError, match="await call"):
        tool.call_sync("Bash", {"command": "true"})


def test_jobs_of_call_sync_outlive_its_event_loop(state: Path) -> None:
    with Bash(state=state) as tool:
        reply = tool.call_sync("Bash", {"command": "sleep 0.3; echo hi", "background": True})
        job = (reply.details or {})["id"]
        assert tool.call_sync("BashOutput", {"id": job, "wait_for": "hi"}).text.startswith("hi\n")


async def test_closing_twice_is_no_error_and_ends_every_job(state: Path) -> None:
    mark = tag()
    tool = Bash(state=state)
    await tool.call("Bash", {"command": f"setsid sleep {mark} & sleep {mark}", "background": True})
    await tool.aclose()
    await tool.aclose()
    tool.close()
    await gone(mark)
    with pytest.raises(ConfigError, match="this tool was closed"):
        await tool.call("Bash", {"command": "true"})


async def test_a_broken_database_is_told_once_and_does_not_stop_the_work(
    tool: Bash, state: Path
) -> None:
    state.mkdir()
    (state / "nacre.db").write_bytes(b"no database" * 100)
    reply = await tool.call("Jobs", {})
    first, second = reply.text.splitlines()
    assert first.startswith("[note: the job database is broken")
    assert second == "[no jobs]"
    assert (await tool.call("Jobs", {})).text == "[no jobs]"


async def test_a_token_cancels_every_call_it_was_given_to(tool: Bash, workspace: Path) -> None:
    token = CancelToken()
    context = ToolContext(working_dir=workspace, cancel=token)
    outcomes: list[object] = []

    async def run(number: int) -> None:
        script = f"touch started{number}; sleep 60"
        outcomes.append(_outcome(await tool.call("Bash", {"command": script}, context)))

    async with anyio.create_task_group() as tasks:
        for number in range(5):
            tasks.start_soon(run, number)
        with anyio.fail_after(20):
            while len(list(workspace.iterdir())) < 5:
                await anyio.sleep(0.01)
        token.cancel()
    assert outcomes == ["stopped"] * 5
    assert repr(token) == "<nacre.CancelToken: cancelled>"


async def test_a_wait_can_be_cancelled_by_a_token(tool: Bash, workspace: Path) -> None:
    token = CancelToken()
    started = await tool.call("Bash", {"command": "sleep 60", "background": True})
    context = ToolContext(working_dir=workspace, cancel=token)
    wait = {"id": (started.details or {})["id"], "wait_for": {"exit": True}, "timeout": 600}

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(tool.call, "BashOutput", wait, context)
        await anyio.sleep(0.1)
        token.cancel()
        tasks.cancel_scope.deadline = anyio.current_time() + 5
    assert not tasks.cancel_scope.cancelled_caught


@pytest.mark.parametrize("error", [ZeroDivisionError, BlockingIOError])
async def test_an_error_in_a_listener_ends_the_script_and_is_raised(
    tool: Bash, workspace: Path, error: type[Exception]
) -> None:
    mark = tag()

    def broken(_: bytes) -> None:
        raise error

    with pytest.raises(error):
        await tool.call(
            "Bash",
            {"command": f"echo hi; sleep {mark}"},
            ToolContext(working_dir=workspace),
            on_output=broken,
        )
    await gone(mark)
