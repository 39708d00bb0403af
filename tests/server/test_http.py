"""Several clients over HTTP, who know nothing of each other; and those who may not come in."""

import json
import os
import socket
from collections.abc import Generator
from pathlib import Path

import anyio
import httpx2
import pytest
from mcp.shared.exceptions import MCPError
from mcp.types import TextResourceContents

from hosts import nacre
from nacre.engine.grants import GRANTS, Grants
from nacre.server.stdio import MOST_BYTES
from nacre.server.tools import DETAILS
from processes import alive, gone, tag
from server.answers import Asked, text_of
from server.conftest import MODERN, HttpServer, Serve

pytestmark = pytest.mark.anyio

_JSON = {"accept": "application/json, text/event-stream", "content-type": "application/json"}
_HELLO = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-11-25",
        "capabilities": {},
        "clientInfo": {"name": "test", "version": "0"},
    },
}
_TOKEN = "a token that nobody guesses"  # noqa: S105 (of these tests alone)
_NAME = {"nacre-client": "a name that nobody guesses"}


def _job(result: object) -> str:
    return str(getattr(result, "meta")[DETAILS]["id"])  # noqa: B009 (its type is the SDK's)


async def test_two_clients_see_nothing_of_each_others_jobs(
    http_server: HttpServer, mode: str
) -> None:
    mark = tag()
    script = f"echo secret-{mark}; sleep {mark}"
    async with (
        http_server.client(mode, headers=_NAME) as one,
        http_server.client(mode, headers={"nacre-client": "another long name"}) as two,
    ):
        job = _job(await one.call_tool("Bash", {"command": script, "background": True}))
        own = await one.call_tool("BashOutput", {"id": job, "wait_for": "secret"})
        assert f"secret-{mark}" in text_of(own)
        for tool in ("BashOutput", "KillBash"):
            other = await two.call_tool(tool, {"id": job})
            assert other.is_error
            assert mark not in text_of(other)
        assert text_of(await two.call_tool("Jobs", {})) == "[no jobs]"
        assert (await two.list_resources()).resources == []
        with pytest.raises(MCPError):
            await two.read_resource(f"nacre://jobs/{job}/output")
        assert alive(mark)
        await one.call_tool("KillBash", {"id": job})
    await gone(mark)


@pytest.mark.needs("bubblewrap")
async def test_a_script_of_one_client_finds_nothing_of_anothers(
    http_server: HttpServer, mode: str
) -> None:
    """Neither its processes, nor its temporary files, nor what the server keeps of it."""
    mark = tag()
    state = http_server.state
    look = (
        f"grep -lar secret-{mark} /tmp {state} 2>/dev/null; ls {state};"
        f" cat /proc/[0-9]*/cmdline | tr '\\0' ' ' | grep -o 'sl[e]ep {mark}'; echo looked"
    )
    async with (
        http_server.client(mode, headers=_NAME) as one,
        http_server.client(mode, headers={"nacre-client": "another long name"}) as two,
    ):
        script = f"echo secret-{mark} | tee /tmp/{mark}; sleep {mark}"
        job = _job(await one.call_tool("Bash", {"command": script, "background": True}))
        await one.call_tool("BashOutput", {"id": job, "wait_for": "secret"})
        here = await one.call_tool("Bash", {"command": f"cat /tmp/{mark}"})
        assert f"secret-{mark}" in text_of(here)
        assert any(mark in each.read_text("utf-8", "replace") for each in state.rglob("*.out"))
        found = text_of(await two.call_tool("Bash", {"command": look}))
        await one.call_tool("KillBash", {"id": job})
    assert "looked" in found
    assert f"/tmp/{mark}" not in found
    assert f"sleep {mark}\n" not in found
    assert f"{state}/" not in found


async def test_a_grant_of_one_client_is_not_anothers(
    serve: Serve, tmp_path: Path, mode: str
) -> None:
    rules = tmp_path / "rules.toml"
    rules.write_text('[permissions]\nask = ["Bash(touch:*)"]\n')
    server = serve("--rules", str(rules))
    first, second = Asked(["yes, always"]), Asked(["no"])
    async with (
        server.client(mode, asks=first, headers=_NAME) as one,
        server.client(mode, asks=second, headers={"nacre-client": "another long name"}) as two,
    ):
        for _ in range(2):
            assert not (await one.call_tool("Bash", {"command": "touch one"})).is_error
        assert (await two.call_tool("Bash", {"command": "touch one"})).is_error
    assert (len(first.questions), len(second.questions)) == (1, 1)
    grants = Grants(server.state / GRANTS)
    assert [grant.rule for grant in grants.all()] == ["Bash(touch one)"]
    grants.close()


async def test_a_client_without_a_name_finds_its_job_by_its_id_alone(
    http_server: HttpServer,
) -> None:
    mark = tag()
    async with http_server.client(MODERN) as one, http_server.client(MODERN) as two:
        job = _job(
            await one.call_tool("Bash", {"command": f"echo on; sleep {mark}", "background": True})
        )
        assert len(job) >= 32
        assert text_of(await one.call_tool("Jobs", {})) == "[no jobs]"
        assert text_of(await two.call_tool("Jobs", {})) == "[no jobs]"
        assert (await two.list_resources()).resources == []
        told = await one.call_tool("BashOutput", {"id": job, "wait_for": "on"})
        assert text_of(told).startswith("on")
        (part,) = (await one.read_resource(f"nacre://jobs/{job}/output")).contents
        assert isinstance(part, TextResourceContents)
        assert part.text == "on\n"
        await one.call_tool("KillBash", {"id": job})
    await gone(mark)


async def test_a_client_without_a_name_is_not_offered_what_cannot_be_remembered(
    serve: Serve, tmp_path: Path
) -> None:
    rules = tmp_path / "rules.toml"
    rules.write_text('[permissions]\nask = ["Bash(touch:*)"]\n')
    server = serve("--rules", str(rules))
    asked = Asked(["yes, always", "no"])
    async with server.client(MODERN, asks=asked) as client:
        assert not (await client.call_tool("Bash", {"command": "touch one"})).is_error
        assert (await client.call_tool("Bash", {"command": "touch one"})).is_error
    assert asked.choices == [["yes, once", "no"]] * 2


async def test_a_name_that_others_could_guess_is_refused(http_server: HttpServer) -> None:
    async with http_server.client(MODERN, headers={"nacre-client": "me"}) as client:
        with pytest.raises(MCPError, match="which others could guess"):
            await client.call_tool("Bash", {"command": "true"})


async def test_a_session_that_is_ended_takes_its_jobs_along(http_server: HttpServer) -> None:
    mark = tag()
    async with http_server.client("legacy") as client:
        await client.call_tool("Bash", {"command": f"sleep {mark}", "background": True})
        assert alive(mark)
    await gone(mark, within=5)


async def test_a_client_that_hangs_up_ends_its_call(http_server: HttpServer, mode: str) -> None:
    mark = tag()
    async with http_server.client(mode) as client, anyio.create_task_group() as tasks:
        tasks.start_soon(client.call_tool, "Bash", {"command": f"sleep {mark}"})
        with anyio.fail_after(20):
            while not alive(mark):
                await anyio.sleep(0.01)
        tasks.cancel_scope.cancel()
    await gone(mark, within=5)


async def test_a_connection_that_breaks_ends_the_call_too(http_server: HttpServer) -> None:
    """In the handshake era as well: nothing is kept for those who come back."""
    mark = tag()
    async with httpx2.AsyncClient(headers=_JSON) as http:
        hello = await http.post(http_server.url, json=_HELLO)
    session = hello.headers["mcp-session-id"]
    body = json.dumps(
        {
            "jsonrpc": "2.0",
            "id": 2,
            "method": "tools/call",
            "params": {"name": "Bash", "arguments": {"command": f"sleep {mark}"}},
        }
    )
    address = httpx2.URL(http_server.url)
    with socket.create_connection((address.host, address.port or 80)) as connection:
        head = (
            f"POST /mcp HTTP/1.1\r\nHost: {address.host}:{address.port}\r\n"
            f"Accept: {_JSON['accept']}\r\nContent-Type: application/json\r\n"
            f"Mcp-Session-Id: {session}\r\nContent-Length: {len(body)}\r\n\r\n"
        )
        connection.sendall((head + body).encode())
        with anyio.fail_after(20):
            while not alive(mark):
                await anyio.sleep(0.01)
    await gone(mark, within=5)


async def test_two_hundred_calls_of_ten_clients_are_each_answered(
    http_server: HttpServer, mode: str
) -> None:
    answers: dict[int, str] = {}

    async def one(number: int) -> None:
        headers = {"nacre-client": f"a long name with number {number}"}
        async with http_server.client(mode, headers=headers) as client:

            async def call(at: int) -> None:
                result = await client.call_tool("Bash", {"command": f"echo {at}"})
                answers[at] = text_of(result)

            async with anyio.create_task_group() as tasks:
                for at in range(number * 20, number * 20 + 20):
                    tasks.start_soon(call, at)

    async with anyio.create_task_group() as tasks:
        for number in range(10):
            tasks.start_soon(one, number)
    assert answers == {number: str(number) for number in range(200)}


async def test_a_server_that_is_told_to_end_leaves_nothing(serve: Serve, mode: str) -> None:
    server, mark = serve(), tag()
    async with server.client(mode, headers=_NAME) as client:
        await client.call_tool("Bash", {"command": f"sleep {mark}", "background": True})
        assert alive(mark)
        server.process.terminate()
        await gone(mark, within=10)
    assert server.process.wait(timeout=10) == 0


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"host": "evil.example"}, 421),
        ({"host": "evil.example:80"}, 421),
        ({"host": "127.0.0.1.evil.example"}, 421),
        ({"host": "127.0.0.1:80@evil.example"}, 421),
        ({"host": ""}, 421),
        ({"origin": "http://evil.example"}, 403),
        ({"origin": "null"}, 403),
        ({"origin": "http://127.0.0.1.evil.example:8000"}, 403),
        ({"origin": "file://127.0.0.1"}, 403),
        ({"origin": "http://localhost:5000"}, 200),
        ({"host": "localhost:1"}, 200),
        ({"host": "[::1]:80"}, 200),
    ],
)
async def test_requests_that_are_not_meant_for_this_server_are_refused(
    http_server: HttpServer, headers: dict[str, str], status: int
) -> None:
    async with httpx2.AsyncClient() as http:
        for modern in (False, True):
            version = {"mcp-protocol-version": MODERN} if modern else {}
            answer = await http.post(
                http_server.url, json=_HELLO, headers={**_JSON, **version, **headers}
            )
            if status != 200:
                assert answer.status_code == status
                assert answer.json()["error"]["message"]
            elif not modern:
                assert answer.status_code == 200


@pytest.mark.parametrize(
    ("given", "status"),
    [
        (None, 401),
        ("Bearer wrong", 401),
        (f"Basic {_TOKEN}", 401),
        (f"Bearer {_TOKEN[:-1]}", 401),
        (f"Bearer {_TOKEN}x", 401),
        ("Bearer \xff", 401),
        (f"Bearer {_TOKEN}", 200),
        (f"bearer  {_TOKEN}", 200),
    ],
)
async def test_only_who_knows_the_token_comes_in(
    token_server: HttpServer, given: str | None, status: int
) -> None:
    headers = [(name.encode(), value.encode()) for name, value in _JSON.items()]
    if given is not None:
        headers.append((b"authorization", given.encode("latin-1")))
    async with httpx2.AsyncClient() as http:
        answer = await http.post(token_server.url, json=_HELLO, headers=headers)
    assert answer.status_code == status
    if status == 401:
        assert answer.headers["www-authenticate"] == "Bearer"


async def test_no_script_reads_the_file_of_the_token(token_server: HttpServer) -> None:
    file = token_server.workspace.parents[1] / "token"
    inside = token_server.workspace / "visible"
    inside.write_text("seen\n")
    headers = {"authorization": f"Bearer {_TOKEN}"}
    async with token_server.client("legacy", headers=headers) as client:
        result = await client.call_tool("Bash", {"command": f"cat {inside} {file}"})
    assert text_of(result).startswith("seen")
    assert _TOKEN not in text_of(result)


async def test_two_headers_that_say_who_it_is_are_refused(http_server: HttpServer) -> None:
    for name in ("authorization", "nacre-client"):
        headers = [*((k.encode(), v.encode()) for k, v in _JSON.items())]
        headers += [(name.encode(), b"a" * 20), (name.encode(), b"b" * 20)]
        async with httpx2.AsyncClient() as http:
            answer = await http.post(http_server.url, json=_HELLO, headers=headers)
        assert answer.status_code == 400


async def test_no_script_inherits_the_token(serve: Serve) -> None:
    server = serve("--dialect", "yoi", NACRE_MCP_TOKEN=_TOKEN, NACRE_TEST_PASSED="as it is")
    headers = {"authorization": f"Bearer {_TOKEN}"}
    async with server.client("legacy", headers=headers) as client:
        result = await client.call_tool("Bash", {"command": "env | grep ^NACRE_; echo looked"})
    assert "NACRE_TEST_PASSED=as it is" in text_of(result)
    assert "looked" in text_of(result)
    assert "TOKEN" not in text_of(result)


@pytest.fixture(scope="module")
def token_server(tmp_path_factory: pytest.TempPathFactory) -> Generator[HttpServer]:
    folder = tmp_path_factory.mktemp("token")
    (folder / "token").write_text(f"{_TOKEN}\n")
    server = HttpServer(("--token-file", str(folder / "token")), folder / "server", {})
    yield server
    server.end()


@pytest.mark.parametrize(
    ("words", "variables", "said"),
    [
        (["--http", "0.0.0.0:0"], {}, "so a token is needed"),
        (["--http", "[::]:0"], {}, "so a token is needed"),
        (["--http", "192.0.2.1:0"], {"NACRE_MCP_TOKEN": _TOKEN}, "cannot listen at 192.0.2.1:0"),
        (["--http", "127.0.0.1:0"], {"NACRE_MCP_TOKEN": "short"}, "which others could guess"),
        (["--http", "8000"], {}, "is no HOST:PORT"),
        (["--http", "127.0.0.1:99999"], {}, "is no HOST:PORT"),
        (["--http", "127.0.0.1:0", "--token-file", "/nonexistent"], {}, "cannot be read"),
        (["--allow-host", "fish"], {}, "go with --http"),
        (["--http", "127.0.0.1:0", "--allow-host", "http://x/"], {}, "is no name of a host"),
        (["--http", "127.0.0.1:0", "--conversation", "x"], {}, "--http serves many"),
        (["--http", "127.0.0.1:0", "--output-dir", "x"], {}, "--http serves many"),
        (["--http", "[::1"], {}, "is no HOST:PORT"),
        (["--workspace", "/nonexistent"], {}, "is no folder"),
        (["--sandbox", "fish"], {}, "fish"),
        (["--dialect", "fish"], {}, "dialect 'fish' is not known"),
    ],
)
def test_settings_that_cannot_be_used_are_said_at_the_start(
    state: Path, words: list[str], variables: dict[str, str], said: str
) -> None:
    done = nacre("mcp", *words, state=state, variables=variables)
    assert done.code == 1
    assert said in done.err


@pytest.mark.parametrize(
    ("body", "statuses"),
    [
        (b"{", {400}),
        (b"[" * 100_000, {400}),
        (b"\xff", {400}),
        (b"[]", {400}),
        (b'{"jsonrpc": "2.0", "id": 1, "method": 7}', {400}),
        (b'"' + b"x" * MOST_BYTES + b'"', {413}),
    ],
    ids=["cut", "deep", "bytes", "list", "method", "long"],
)
async def test_what_is_no_message_is_refused_and_forgotten(
    http_server: HttpServer, mode: str, body: bytes, statuses: set[int]
) -> None:
    version = {"mcp-protocol-version": MODERN} if mode == MODERN else {}
    async with httpx2.AsyncClient() as http:
        answer = await http.post(http_server.url, content=body, headers={**_JSON, **version})
    assert answer.status_code in statuses
    async with http_server.client(mode, headers=_NAME) as client:
        assert text_of(await client.call_tool("Bash", {"command": "echo on"})) == "on"


async def test_a_session_that_is_not_known_is_not_found(http_server: HttpServer) -> None:
    async with httpx2.AsyncClient() as http:
        answer = await http.post(
            http_server.url, json=_HELLO, headers={**_JSON, "mcp-session-id": "made up"}
        )
    assert answer.status_code == 404


async def test_a_server_keeps_no_descriptor_of_those_who_left(
    http_server: HttpServer, mode: str
) -> None:
    async def visit() -> None:
        async with http_server.client(mode) as client:
            await client.call_tool("Bash", {"command": "true"})

    await visit()
    before = _descriptors(http_server)
    for _ in range(5):
        await visit()
    with anyio.fail_after(10):
        while _descriptors(http_server) > before + 2:
            await anyio.sleep(0.02)


def _descriptors(server: HttpServer) -> int:
    return len(os.listdir(f"/proc/{server.process.pid}/fd"))
