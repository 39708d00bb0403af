"""Two thousand mixed calls, some of them killed, end with nothing left over."""

import gc
import random
from datetime import timedelta
from pathlib import Path

import anyio
import pytest

from nacre import Bash, CancelToken, ToolContext
from processes import descriptors, gone, journal_open, kill_all, no_more_descriptors, tag, threads

pytestmark = pytest.mark.anyio
_CALLS = 2000
_AT_ONCE = 25
_NO_GRACE = timedelta(0)


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.mark.timeout(300)
async def test_a_soak_of_mixed_calls_leaves_no_process_descriptor_thread_or_file(
    state: Path, workspace: Path
) -> None:
    mark = tag()
    outcomes: dict[str, int] = {}
    try:
        async with Bash(state=state, workspace=workspace) as tool:
            await _call(tool, workspace, mark, random.Random(1), outcomes)  # noqa: S311
            # The ledger's thread and the claim on the spill folder stay once they are there.
            await tool.call("Jobs", {})
            for _ in range(4):  # as many spares wait by then as ever will
                await tool.call("Bash", {"command": "seq 20000"})
            await journal_open(state)
            before = descriptors(), threads()
            await _many(tool, workspace, mark, outcomes)
            await _end_jobs(tool)
            await gone(mark)
            # The tokens of cancelled calls hang in reference cycles of their cancellation.
            gc.collect()
            await no_more_descriptors(before[0])
            assert threads() <= before[1]
        assert list((state / "spills").iterdir()) == []
    finally:
        kill_all(mark)
    assert set(outcomes) == {"exited", "signaled", "running", "stopped", "cancelled"}
    assert sum(outcomes.values()) > _CALLS


async def _many(tool: Bash, workspace: Path, mark: str, outcomes: dict[str, int]) -> None:
    limiter = anyio.CapacityLimiter(_AT_ONCE)

    async def one(number: int) -> None:
        async with limiter:
            await _call(tool, workspace, mark, random.Random(number), outcomes)  # noqa: S311

    async with anyio.create_task_group() as tasks:
        for number in range(_CALLS):
            tasks.start_soon(one, number)


async def _call(
    tool: Bash, workspace: Path, mark: str, chance: random.Random, outcomes: dict[str, int]
) -> None:
    script = chance.choice(
        [
            "true",
            "exit 3",
            "kill -9 $$",
            f"sleep {mark} & echo left",
            f"setsid sleep {mark} & disown; echo left",
            f"(sleep {mark} &); exit 1",
            f"trap '' TERM; sleep {mark}",
            "seq 20000",
            "head -c 300000 /dev/zero",
            f"echo job; sleep {mark}",
        ]
    )
    token = CancelToken()
    context = ToolContext(working_dir=workspace, cancel=token, conversation=str(chance.random()))
    timeout = 0.05 + chance.random() / 5
    name = "cancelled"
    with anyio.move_on_after(chance.choice([0.02, 5, 5, 5])):
        async with anyio.create_task_group() as tasks:
            if chance.random() < 0.2:
                tasks.start_soon(_cancel_soon, token, chance.random() / 20)
            reply = await tool.call("Bash", {"command": script, "timeout": timeout}, context)
            name = str((reply.details or {})["outcome"])
            if name == "running" and chance.random() < 0.5:
                job = {"id": (reply.details or {})["id"]}
                await tool.call("KillBash", job, context)
            tasks.cancel_scope.cancel()
    outcomes[name] = outcomes.get(name, 0) + 1


async def _cancel_soon(token: CancelToken, seconds: float) -> None:
    await anyio.sleep(seconds)
    token.cancel()


async def _end_jobs(tool: Bash) -> None:
    """End what became a job and was not ended on the way, in every conversation."""
    jobs = tool._engine._jobs
    for job in await jobs.jobs(None):
        await jobs.stop(job.id, None, _NO_GRACE)
