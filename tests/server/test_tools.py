"""What a client lists, calls and gets back, in both eras of the protocol."""

import json
from functools import partial
from pathlib import Path

import anyio
import pytest
from mcp.shared.exceptions import MCPError

from nacre import Bash, ToolContext
from nacre.dialects.select import NAMES
from nacre.server.tools import DETAILS
from processes import gone, tag
from server.answers import text_of
from server.conftest import Connect

pytestmark = pytest.mark.anyio


@pytest.mark.parametrize("dialect", NAMES)
async def test_every_tool_of_a_dialect_is_listed_as_a_host_would_send_it(
    connect: Connect, workspace: Path, state: Path, dialect: str
) -> None:
    async with connect(dialect=dialect) as client:
        listed = (await client.list_tools()).tools
    with Bash(dialect=dialect, workspace=workspace, state=state) as tool:
        specs = tool.specs(ToolContext(working_dir=workspace))
    assert [
        {"name": each.name, "description": each.description, "input_schema": each.input_schema}
        for each in listed
    ] == specs


async def test_tools_say_what_they_do_to_the_world(connect: Connect) -> None:
    async with connect() as client:
        listed = {each.name: each.annotations for each in (await client.list_tools()).tools}
    hints = {
        name: (each.read_only_hint, each.destructive_hint) if each else None
        for name, each in listed.items()
    }
    assert hints == {
        "Bash": (False, True),
        "BashOutput": (True, None),
        "KillBash": (False, True),
        "Jobs": (True, None),
    }


async def test_the_text_is_the_whole_answer_and_nothing_is_structured(connect: Connect) -> None:
    async with connect() as client:
        result = await client.call_tool("Bash", {"command": "echo out; echo err >&2; exit 3"})
    assert text_of(result) == "out\nerr\n[exit code 3]"
    assert (result.is_error, result.structured_content) == (True, None)
    assert result.meta is not None
    assert result.meta[DETAILS]["exit_code"] == 3
    assert result.meta[DETAILS]["outcome"] == "exited"


@pytest.mark.parametrize(
    ("dialect", "tool", "arguments", "said"),
    [
        ("nacre", "Bash", {}, "[error: "),
        ("nacre", "Bash", {"command": 7}, "[error: "),
        ("nacre", "BashOutput", {"id": "nothing"}, "nothing"),
        ("nacre", "Bash", {"command": "a\0b"}, "NUL"),
        ("codegen", "Bash", {"command": ["ls"]}, "command"),
        ("yoi", "Bash", {"command": None}, "invalid type: null"),
    ],
)
async def test_arguments_that_do_not_fit_are_answered_in_the_dialects_words(
    connect: Connect, dialect: str, tool: str, arguments: dict[str, object], said: str
) -> None:
    async with connect(dialect=dialect) as client:
        result = await client.call_tool(tool, arguments)
    assert result.is_error
    assert said in text_of(result)


async def test_a_tool_that_is_not_there_is_an_error_of_the_protocol(connect: Connect) -> None:
    async with connect() as client:
        with pytest.raises(MCPError, match="Unknown tool: 'Fish'; there are: Bash, ") as caught:
            await client.call_tool("Fish", {"command": "true"})
        assert caught.value.error.code == -32602
        assert text_of(await client.call_tool("Bash", {"command": "echo on"})) == "on"


async def test_output_that_is_no_text_still_makes_a_message(connect: Connect) -> None:
    async with connect() as client:
        result = await client.call_tool("Bash", {"command": r"printf 'a\xff\xed\xa0\x80b\n'"})
        named = await client.call_tool("Bash", {"command": "pwd", "working_directory": "x\udce9"})
    json.dumps(result.model_dump(mode="json")).encode()
    assert text_of(result).startswith("a")
    assert named.is_error


async def test_a_refusal_says_why_and_what_to_do_instead(connect: Connect) -> None:
    async with connect() as client:
        result = await client.call_tool("Bash", {"command": "git push --force"})
    assert result.is_error
    assert "[denied: A forced push" in text_of(result)
    assert "[instead: " in text_of(result)


async def test_a_job_is_started_polled_and_ended(connect: Connect) -> None:
    mark = tag()
    async with connect() as client:
        started = await client.call_tool(
            "Bash", {"command": f"echo begun; sleep {mark}", "background": True}
        )
        assert started.meta is not None
        job = started.meta[DETAILS]["id"]
        told = await client.call_tool("BashOutput", {"id": job, "wait_for": "begun"})
        assert text_of(told).startswith("begun\n")
        listed = await client.call_tool("Jobs", {})
        assert str(job) in text_of(listed)
        assert "stopped" in text_of(await client.call_tool("KillBash", {"id": job}))
        await gone(mark)


async def test_a_client_that_leaves_leaves_nothing_running(connect: Connect) -> None:
    mark = tag()
    async with connect() as client:
        await client.call_tool("Bash", {"command": f"sleep {mark}", "background": True})
    await gone(mark)


async def test_a_long_call_sends_signs_of_life(
    connect: Connect, monkeypatch: pytest.MonkeyPatch
) -> None:
    from nacre.server import handlers
    from nacre.server.heartbeat import heartbeat

    monkeypatch.setattr(handlers, "heartbeat", partial(heartbeat, every=0.02))
    heard: list[tuple[float, str | None]] = []
    enough = anyio.Event()

    async def heard_of(progress: float, total: float | None, message: str | None) -> None:
        del total
        heard.append((progress, message))
        if len(heard) >= 3:
            enough.set()

    async with connect() as client, anyio.create_task_group() as tasks:
        with anyio.CancelScope() as scope:

            async def end() -> None:
                await enough.wait()
                scope.cancel()

            tasks.start_soon(end)
            await client.call_tool("Bash", {"command": "sleep 60"}, progress_callback=heard_of)
    times = [at for at, _ in heard]
    assert times == sorted(set(times))
    assert all(message and message.startswith("running for") for _, message in heard)


async def test_a_call_that_is_cancelled_leaves_no_process(
    connect: Connect, workspace: Path
) -> None:
    mark = tag()
    async with connect() as client, anyio.create_task_group() as tasks:

        async def call() -> None:
            await client.call_tool("Bash", {"command": f"touch here; setsid sleep {mark}; true"})

        tasks.start_soon(call)
        with anyio.fail_after(20):
            while not (workspace / "here").exists():
                await anyio.sleep(0.01)
        tasks.cancel_scope.cancel()
    await gone(mark)
