"""A job's output, read by range."""

import base64

import pytest
from mcp import Client
from mcp.shared.exceptions import MCPError
from mcp.types import BlobResourceContents, TextResourceContents

from nacre.server.tools import DETAILS
from server.conftest import Connect

pytestmark = pytest.mark.anyio


async def _job(client: Client, script: str) -> str:
    """The id of a job that has ended."""
    started = await client.call_tool("Bash", {"command": script, "background": True})
    assert started.meta is not None
    job = str(started.meta[DETAILS]["id"])
    await client.call_tool("BashOutput", {"id": job, "wait_for": {"exit": True}})
    return job


async def _read(client: Client, uri: str) -> TextResourceContents | BlobResourceContents:
    (found,) = (await client.read_resource(uri)).contents
    return found


async def test_jobs_are_listed_as_resources_and_read_by_range(connect: Connect) -> None:
    async with connect() as client:
        job = await _job(client, "echo 0123456789")
        (listed,) = (await client.list_resources()).resources
        assert (listed.uri, listed.size) == (f"nacre://jobs/{job}/output", 11)
        whole = await _read(client, listed.uri)
        part = await _read(client, f"{listed.uri}?start=3&length=4")
        beyond = await _read(client, f"{listed.uri}?start=4000")
        templates = (await client.list_resource_templates()).resource_templates
    assert isinstance(whole, TextResourceContents)
    assert whole.text == "0123456789\n"
    assert isinstance(part, TextResourceContents)
    assert (part.text, part.meta) == (
        "3456",
        {"nacre/start": 3, "nacre/end": 7, "nacre/kept": 11, "nacre/running": False},
    )
    assert isinstance(beyond, TextResourceContents)
    assert beyond.text == ""
    assert "nacre://jobs/{id}/output{?start,length}" in [each.uri_template for each in templates]


async def test_a_reader_that_goes_on_where_a_range_ended_misses_nothing(connect: Connect) -> None:
    said = "aä€😀" * 40
    async with connect() as client:
        job = await _job(client, f"printf %s {said}")
        told, at = "", 0
        while at < len(said.encode()):
            part = await _read(client, f"nacre://jobs/{job}/output?start={at}&length=7")
            assert isinstance(part, TextResourceContents)
            assert part.meta is not None
            assert part.meta["nacre/end"] > at
            told, at = told + part.text, part.meta["nacre/end"]
    assert told == said


async def test_what_is_no_text_comes_as_bytes(connect: Connect) -> None:
    async with connect() as client:
        job = await _job(client, r"printf '\xff\x00\xfe'")
        part = await _read(client, f"nacre://jobs/{job}/output")
    assert isinstance(part, BlobResourceContents)
    assert base64.b64decode(part.blob) == b"\xff\x00\xfe"


async def test_a_secret_is_not_shown_whole_or_in_pieces(connect: Connect) -> None:
    secret = "ghp_" + "k3Jd82hGq0" * 4
    async with connect() as client:
        job = await _job(client, f"printf 'x {secret[:20]}%s y' {secret[20:]}")
        whole = await _read(client, f"nacre://jobs/{job}/output")
        parts = [
            await _read(client, f"nacre://jobs/{job}/output?start={at}&length=9")
            for at in range(0, 50, 9)
        ]
    assert isinstance(whole, TextResourceContents)
    assert secret[4:] not in whole.text
    for part in parts:
        assert isinstance(part, TextResourceContents)
        assert not any(secret[at : at + 6] in part.text for at in range(4, len(secret) - 6))


@pytest.mark.parametrize(
    "uri",
    [
        "nacre://jobs/nothing/output",
        "nacre://jobs/{job}/errors",
        "nacre://jobs/{job}/fish",
        "nacre://jobs/{job}",
        "nacre://jobs//output",
        "nacre://jobs/{job}/output/",
        "nacre://jobs/{job}/output?start=-1",
        "nacre://jobs/{job}/output?start=1e3",
        "nacre://jobs/{job}/output?length=99999999999999999999999999",
        "nacre://jobs/{job}/output?begin=1",
        "nacre://jobs/..%2F..%2Fjournal.db/output",
        "file:///etc/passwd",
        "nacre://[/output",
        "",
    ],
)
async def test_an_address_that_leads_nowhere_is_an_error(connect: Connect, uri: str) -> None:
    async with connect() as client:
        job = await _job(client, "echo 1")
        with pytest.raises(MCPError):
            await client.read_resource(uri.replace("{job}", job))
        assert (await client.list_resources()).resources
