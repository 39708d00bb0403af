"""The server as a process with a client at its standard input and output."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Generator
from contextlib import suppress
from pathlib import Path

import anyio
import pytest

from hosts import nacre
from nacre.server.stdio import MOST_BYTES
from nacre.server.tools import DETAILS
from processes import alive, gone, gone_blocking, kill_all, tag
from server.answers import Asked, text_of
from server.conftest import Connect

pytestmark = pytest.mark.anyio

Process = subprocess.Popen[bytes]
_HELLO: dict[str, object] = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-11-25",
        "capabilities": {},
        "clientInfo": {"name": "test", "version": "0"},
    },
}


@pytest.fixture
def process(workspace: Path, state: Path) -> Generator[Process]:
    """A server that a test speaks to in its own words."""
    started = subprocess.Popen(
        [sys.executable, "-m", "nacre", "mcp", "--workspace", str(workspace)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={**os.environ, "NACRE_STATE": str(state)},
    )
    yield started
    started.kill()
    started.communicate()


def say(process: Process, *messages: bytes | dict[str, object]) -> None:
    assert process.stdin is not None
    for message in messages:
        line = message if isinstance(message, bytes) else json.dumps(message).encode()
        process.stdin.write(line + b"\n")
    process.stdin.flush()


def hear(process: Process) -> dict[str, dict[str, object]]:
    assert process.stdout is not None
    heard: dict[str, dict[str, object]] = json.loads(process.stdout.readline())
    return heard


def greet(process: Process) -> None:
    say(process, _HELLO)
    assert hear(process)["result"]["serverInfo"]
    say(process, {"jsonrpc": "2.0", "method": "notifications/initialized"})


def call(script: str, number: int = 2, **more: object) -> dict[str, object]:
    arguments = {"command": script, **more}
    return {
        "jsonrpc": "2.0",
        "id": number,
        "method": "tools/call",
        "params": {"name": "Bash", "arguments": arguments},
    }


def test_nothing_that_a_server_starts_holds_the_protocols_pipes(process: Process) -> None:
    """Or a client would wait for the end of a server that has ended."""
    mark = tag()
    greet(process)
    say(process, call(f"sleep {mark} & cat; echo nothing to read; wait", background=True))
    assert "was started" in str(hear(process))
    _started(mark)
    assert process.stdin is not None
    assert process.stdout is not None
    pipes = {f"pipe:[{os.fstat(each.fileno()).st_ino}]" for each in (process.stdin, process.stdout)}
    below = _descendants(process.pid)
    assert {*alive(mark)} <= below
    held = {pid: pipes & _links(pid) for pid in below}
    assert not any(held.values())
    assert _links(process.pid) >= pipes


async def test_both_eras_list_and_call(over_stdio: Connect) -> None:
    async with over_stdio("--dialect", "codegen") as client:
        names = [tool.name for tool in (await client.list_tools()).tools]
        result = await client.call_tool("Bash", {"command": "echo hi", "description": "greet"})
    assert names == ["Bash", "BashOutput", "KillShell"]
    assert "hi" in text_of(result)


async def test_a_question_crosses_the_pipes(over_stdio: Connect, workspace: Path) -> None:
    rules = workspace.parent / "rules.toml"
    rules.write_text('[permissions]\nask = ["Bash(touch:*)"]\n')
    asked = Asked(["yes, once"])
    async with over_stdio("--rules", str(rules), asks=asked) as client:
        await client.call_tool("Bash", {"command": "touch one"})
    assert (workspace / "one").exists()


async def test_two_hundred_calls_at_once_are_each_answered(over_stdio: Connect) -> None:
    answers: dict[int, str] = {}
    async with over_stdio() as client:

        async def one(number: int) -> None:
            result = await client.call_tool("Bash", {"command": f"echo {number}"})
            answers[number] = text_of(result)

        async with anyio.create_task_group() as tasks:
            for number in range(200):
                tasks.start_soon(one, number)
        pid = next(each for each in _children(os.getpid()) if b"mcp" in _words(each))
        with anyio.fail_after(10):
            while len(os.listdir(f"/proc/{pid}/fd")) > 40:
                await anyio.sleep(0.01)
    assert answers == {number: str(number) for number in range(200)}


async def test_a_client_that_hangs_up_in_the_middle_leaves_nothing(over_stdio: Connect) -> None:
    mark = tag()
    async with over_stdio() as client, anyio.create_task_group() as tasks:
        tasks.start_soon(client.call_tool, "Bash", {"command": f"sleep {mark}"})
        await _running(mark)
        await client.call_tool("Bash", {"command": f"sleep 1{mark}", "background": True})
        tasks.cancel_scope.cancel()
    await gone(mark, within=5)


async def test_detached_jobs_outlive_their_client(over_stdio: Connect, state: Path) -> None:
    mark = tag()
    try:
        async with over_stdio("--detached") as client:
            started = await client.call_tool(
                "Bash", {"command": f"sleep {mark}", "background": True}
            )
        assert started.meta is not None
        assert alive(mark)
        assert nacre("kill", started.meta[DETAILS]["id"], state=state).code == 0
        await gone(mark)
    finally:
        kill_all(mark)


def test_a_server_that_is_told_to_end_ends_with_all_it_started(process: Process) -> None:
    mark = tag()
    greet(process)
    say(process, call(f"sleep {mark}", background=True))
    assert "was started" in str(hear(process))
    process.send_signal(signal.SIGTERM)
    assert process.wait(timeout=10) == 0
    gone_blocking(mark)


def test_a_server_that_is_killed_leaves_nothing(process: Process) -> None:
    mark = tag()
    greet(process)
    say(process, call(f"sleep {mark}", background=True))
    assert "was started" in str(hear(process))
    process.kill()
    process.wait()
    gone_blocking(mark)


@pytest.mark.parametrize(
    ("line", "number", "code"),
    [
        (b"{", None, -32700),
        (b"\xff\xfe", None, -32700),
        (b'{"jsonrpc": "2.0", "id": 3, "method": "\\ud800"}', 3, -32700),
        (b"[]", None, -32600),
        (b"7", None, -32600),
        (b'{"jsonrpc": "1.0", "id": 3, "method": "ping"}', 3, -32600),
        (b'{"jsonrpc": "2.0", "id": {}, "method": "ping"}', None, -32600),
        (b"[" * 100_000, None, -32700),
        (b'{"id": "a-3", "x": "' + b"y" * (MOST_BYTES + 1) + b'"}', "a-3", -32600),
    ],
    ids=["cut", "bytes", "surrogate", "list", "number", "version", "id", "deep", "long"],
)
def test_what_is_no_message_is_answered_and_forgotten(
    process: Process, line: bytes, number: object, code: int
) -> None:
    """Under its id, if it has one: somebody waits for that."""
    greet(process)
    say(process, line)
    heard = hear(process)
    assert (heard["id"], heard["error"]["code"]) == (number, code)
    say(process, call("echo still here"))
    assert "still here" in str(hear(process))


@pytest.mark.parametrize(
    "params",
    [
        {},
        {"name": 7},
        {"name": "Bash", "arguments": []},
        {"name": "Bash", "arguments": {"command": "true"}, "_meta": 7},
    ],
)
def test_parameters_of_the_wrong_kind_are_an_error(
    process: Process, params: dict[str, object]
) -> None:
    greet(process)
    say(process, {"jsonrpc": "2.0", "id": 5, "method": "tools/call", "params": params})
    heard = hear(process)
    assert (heard["id"], heard["error"]["code"]) == (5, -32602)


def test_a_method_that_is_not_there_is_an_error(process: Process) -> None:
    greet(process)
    say(process, {"jsonrpc": "2.0", "id": 5, "method": "fish/fry"})
    assert hear(process)["error"]["code"] == -32601


def test_a_client_that_does_not_read_stops_nobody_from_ending(process: Process) -> None:
    """More than a pipe holds is on its way when the client leaves."""
    greet(process)
    for number in range(2, 40):
        say(process, call("head -c 20000 /dev/zero | tr '\\0' x", number))
    assert process.stdin is not None
    process.stdin.close()
    process.stdin = None
    assert process.wait(timeout=20) == 0


def test_a_message_may_come_in_pieces(process: Process) -> None:
    greet(process)
    line = json.dumps(call("echo in pieces")).encode() + b"\n"
    assert process.stdin is not None
    for at in range(0, len(line), 7):
        process.stdin.write(line[at : at + 7])
        process.stdin.flush()
    assert "in pieces" in str(hear(process))


def test_what_nobody_reads_stops_the_reading_and_not_the_server(process: Process) -> None:
    """A client that asks and asks, and takes nothing, costs no more memory than that."""
    greet(process)
    say(process, call("seq 60000", background=True))
    job = str(hear(process)).split("job ")[1].split()[0]
    uri = f"nacre://jobs/{job}/output?length=262144"
    ask = {"jsonrpc": "2.0", "method": "resources/read", "params": {"uri": uri}}
    before = _memory(process.pid)
    assert process.stdin is not None
    os.set_blocking(process.stdin.fileno(), False)
    asked = 0
    with suppress(BlockingIOError):
        for asked in range(1, 20_000):
            os.write(process.stdin.fileno(), json.dumps({**ask, "id": asked}).encode() + b"\n")
    assert 100 < asked < 19_999
    assert _memory(process.pid) - before < 200_000
    answers = [hear(process) for _ in range(50)]
    assert all("contents" in answer["result"] for answer in answers)


@pytest.mark.parametrize("stdin", ["/dev/null", ""])
def test_an_input_that_has_ended_already_is_the_end(
    workspace: Path, state: Path, stdin: str
) -> None:
    words = f"{sys.executable} -m nacre mcp --workspace {workspace} <{stdin or '&-'}"
    done = subprocess.run(
        ["bash", "-c", words],
        check=False,
        capture_output=True,
        timeout=30,
        env={**os.environ, "NACRE_STATE": str(state)},
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


def test_messages_may_come_from_a_file(workspace: Path, state: Path) -> None:
    """And the last one may lack its end."""
    messages = workspace.parent / "messages"
    messages.write_text(json.dumps(_HELLO))
    with messages.open("rb") as file:
        done = subprocess.run(
            [sys.executable, "-m", "nacre", "mcp", "--workspace", str(workspace)],
            stdin=file,
            check=True,
            capture_output=True,
            timeout=30,
            env={**os.environ, "NACRE_STATE": str(state)},
        )
    assert json.loads(done.stdout)["result"]["serverInfo"]["name"] == "nacre"


def test_without_the_sdk_it_says_what_to_install(state: Path, tmp_path: Path) -> None:
    (tmp_path / "mcp.py").write_text("raise ModuleNotFoundError(\"No module named 'mcp'\")\n")
    done = nacre("mcp", state=state, variables={"PYTHONPATH": str(tmp_path)})
    assert done.code == 1
    assert "pip install 'nacre[mcp]'" in done.err


async def _running(mark: str) -> None:
    with anyio.fail_after(20):
        while not alive(mark):
            await anyio.sleep(0.01)


def _started(mark: str) -> None:
    deadline = time.monotonic() + 20
    while not alive(mark):
        assert time.monotonic() < deadline
        signal.sigtimedwait([], 0.01)


def _children(pid: int) -> list[int]:
    found: list[int] = []
    with suppress(OSError):
        for task in os.listdir(f"/proc/{pid}/task"):
            text = Path(f"/proc/{pid}/task/{task}/children").read_text()
            found += [int(each) for each in text.split()]
    return found


def _descendants(pid: int) -> set[int]:
    return {each for child in _children(pid) for each in (child, *_descendants(child))}


def _links(pid: int) -> set[str]:
    found: set[str] = set()
    with suppress(OSError):
        for number in os.listdir(f"/proc/{pid}/fd"):
            with suppress(OSError):
                found.add(os.readlink(f"/proc/{pid}/fd/{number}"))
    return found


def _memory(pid: int) -> int:
    """What a process has in memory, in kB."""
    return int(Path(f"/proc/{pid}/status").read_text().split("VmRSS:")[1].split()[0])


def _words(pid: int) -> bytes:
    return Path(f"/proc/{pid}/cmdline").read_bytes()
