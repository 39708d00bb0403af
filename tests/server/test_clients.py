"""Clients come, are kept apart, and are forgotten."""

from pathlib import Path

import anyio
import pytest

from nacre import Bash, ToolContext
from nacre.model.call import Run
from nacre.model.transcript import Limit
from nacre.server.clients import Client, Clients, TooManyClientsError
from processes import alive, gone, tag

pytestmark = pytest.mark.anyio


@pytest.fixture(params=["asyncio", "trio"])
def anyio_backend(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def _clients(workspace: Path, state: Path, *, idle: float = 60.0, most: int = 10) -> Clients:
    context = ToolContext(working_dir=workspace)
    return Clients(
        lambda: Bash(workspace=workspace, state=state), context, idle_seconds=idle, most=most
    )


async def _start(client: Client, mark: str) -> None:
    run = Run(script=f"sleep {mark}", limit=Limit(head=10, tail=10), background=True)
    await client.bash.carry_out(run, client.context)


async def test_a_client_that_is_not_heard_of_is_forgotten_with_its_jobs(
    workspace: Path, state: Path
) -> None:
    """Not so one that holds a stream open, or that waits for an answer."""
    left, stranger, there, waiting = tag(), tag(), tag(), tag()
    async with _clients(workspace, state, idle=0.3).open() as clients:
        async with clients.visit("left") as client:
            await _start(client, left)
        async with clients.visit(None) as client:
            await _start(client, stranger)
        async with clients.visit("there") as client:
            await _start(client, there)
        with clients.present("there"):
            async with clients.visit("waiting") as client:
                await _start(client, waiting)
                await gone(left, within=10)
                await gone(stranger, within=10)
                assert alive(there)
                assert alive(waiting)
        await gone(there, within=10)
        await gone(waiting, within=10)


async def test_one_client_too_many_is_told_to_come_later(workspace: Path, state: Path) -> None:
    async with _clients(workspace, state, most=2).open() as clients:
        async with clients.visit("one"), clients.visit(None):
            with pytest.raises(TooManyClientsError, match="2 clients are served already"):
                async with clients.visit("two"):
                    raise AssertionError
            with pytest.raises(TooManyClientsError):
                async with clients.visit(None):
                    raise AssertionError
            async with clients.visit("one"):
                pass
        async with clients.visit("two"):
            pass


async def test_who_is_longest_away_makes_room_unless_its_jobs_run(
    workspace: Path, state: Path
) -> None:
    mark = tag()
    async with _clients(workspace, state, most=2).open() as clients:
        async with clients.visit("busy") as busy:
            await _start(busy, mark)
        async with clients.visit("idle") as idle:
            pass
        async with clients.visit("new"):
            pass
        assert alive(mark)
        async with clients.visit("busy") as again:
            assert again is busy
        async with clients.visit("idle") as other:
            assert other is not idle
    await gone(mark)


async def test_a_stranger_is_known_by_its_job_and_by_nothing_else(
    workspace: Path, state: Path
) -> None:
    mark = tag()
    async with _clients(workspace, state).open() as clients:
        async with clients.visit(None) as first:
            await _start(first, mark)
        (job,) = first.jobs
        async with clients.visit(None, ["x", 7, None, job]) as again:
            assert again is first
        async with clients.visit(None, [job[:-1], [job]]) as other:
            assert other is not first
        async with clients.visit("named", [job]) as named:
            assert named is not first
    await gone(mark)


async def test_a_stranger_whose_call_is_given_up_leaves_nothing(
    workspace: Path, state: Path
) -> None:
    mark = tag()
    async with _clients(workspace, state).open() as clients:
        with anyio.CancelScope() as scope:
            async with clients.visit(None) as client:
                await _start(client, mark)
                scope.cancel()
                await anyio.sleep_forever()
        await gone(mark)
