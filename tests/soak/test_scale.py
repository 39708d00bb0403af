"""Very many calls, jobs and hosts: each is there for itself, and nothing is left of any."""

import json
import os
import subprocess
import sys
from pathlib import Path

import anyio
import pytest

from hosts import nacre
from nacre import Bash
from nacre.engine.assemble import Settings, open_jobs
from nacre.engine.chain import JOURNAL, fields_of, read_journal
from nacre.engine.proof import prove
from nacre.engine.record import JobFiles
from nacre.engine.store import JobRow, Store
from nacre.model.job import Job
from nacre.model.outcome import Exited
from processes import (
    COME_SECONDS,
    alive,
    descriptors,
    gone,
    gone_blocking,
    journal_open,
    kill_all,
    no_more_descriptors,
    tag,
    threads,
)

pytestmark = [pytest.mark.anyio, pytest.mark.timeout(240)]
_FORKING = Path(__file__).with_name("forking.py")
_CALLS, _LIVE, _ENDED, _HOSTS = 1000, 1000, 10_000, 50


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.mark.parametrize(
    "sandbox", ["landlock", pytest.param("bubblewrap", marks=pytest.mark.needs("bubblewrap"))]
)
async def test_a_thousand_calls_at_once_all_run_and_leave_nothing(
    state: Path, workspace: Path, sandbox: str
) -> None:
    """Half of them leave a daemon behind."""
    mark = tag()
    said: list[str] = []
    try:
        async with Bash(state=state, workspace=workspace, sandbox=sandbox) as tool:
            for _ in range(4):  # as many spares wait by then as ever will
                await tool.call("Bash", {"command": "true"})
            await journal_open(state)
            before, files = (descriptors(), threads()), _files(state)

            async def call(number: int) -> None:
                daemon = f"setsid sleep {mark} & " if number % 2 else ""
                reply = await tool.call("Bash", {"command": f"{daemon}sleep 0.5; echo {number}"})
                said.append(reply.text)

            async with anyio.create_task_group() as tasks:
                for number in range(_CALLS):
                    tasks.start_soon(call, number)
            await gone(f"sleep\0{mark}")
            await no_more_descriptors(before[0])
            assert threads() <= before[1]
            assert _files(state) == files
    finally:
        kill_all(f"sleep\0{mark}")
    assert sorted(map(int, said)) == list(range(_CALLS))
    assert list(workspace.iterdir()) == []


async def test_a_thousand_jobs_beside_ten_thousand_that_have_ended_are_told_and_ended_each(
    state: Path, workspace: Path
) -> None:
    mark = tag()
    (state / "jobs").mkdir(parents=True)
    ids: list[str] = []
    try:
        async with Bash(state=state, workspace=workspace, sandbox="none") as tool:
            for number in range(_LIVE):
                script = f"echo job {number}; exec sleep {mark}"
                reply = await tool.call("Bash", {"command": script, "background": True})
                ids.append(str((reply.details or {})["id"]))
            _remember(state)
            with anyio.fail_after(COME_SECONDS):  # the last may be about to be executed
                while len(alive(f"sleep\0{mark}")) < _LIVE:
                    await anyio.sleep(0.05)
            for number in (0, 500, 999):
                told = await tool.call("BashOutput", {"id": ids[number]})
                assert told.text.splitlines()[0] == f"job {number}"
            ended = await tool.call("KillBash", {"id": ids[500]})
            assert (ended.details or {})["outcome"] == "stopped"
            listed = nacre("jobs", "--running", state=state).out.splitlines()[1:]
            assert [line.split()[0] for line in listed] == [*ids[:500], *ids[501:]]
            assert len((await tool.jobs()).jobs) == _LIVE + _ENDED
        gone_blocking(f"sleep\0{mark}")
    finally:
        kill_all(f"sleep\0{mark}")
    assert nacre("jobs", "--running", state=state).err == "no jobs\n"


def test_fifty_hosts_share_a_state_directory_and_lose_nothing(state: Path) -> None:
    (state / "workspace").mkdir(parents=True)
    each = 4
    words = (str(state), str(_HOSTS), str(each))
    done = subprocess.run(
        [sys.executable, str(_FORKING), *words], check=False, capture_output=True, timeout=200
    )
    assert (done.returncode, done.stderr) == (0, b"")
    assert list(map(json.loads, done.stdout.split())) == [2 * each] * _HOSTS
    assert [job.outcome for job in anyio.run(_jobs, state)] == [Exited(0)] * _HOSTS * each
    assert prove(state / JOURNAL).broken is None
    known = {fields_of(entry)["call"] for entry in read_journal(state / JOURNAL)}
    assert len(known) == 3 * each * _HOSTS


async def _jobs(state: Path) -> tuple[Job, ...]:
    jobs = open_jobs(Settings(state=state))
    try:
        return await jobs.jobs(None)
    finally:
        jobs.close()


def _remember(state: Path) -> None:
    """Add jobs that have ended, in the same conversation."""
    store = Store(state / "nacre.db")
    for number in range(_ENDED):
        row = JobRow(
            id=f"past{number}", conversation="default", script="true", description="", cwd="/",
            detached=False, pid=1, mark=1, place="elsewhere", born=1, streams=1, started=1.0,
            ended=2.0, outcome="exited", number=0, said=0,
        )  # fmt: skip
        record, outputs = JobFiles(state / "jobs", row.id, 1).create()
        for file in (record, *outputs):
            os.close(file)
        store.insert(row)
    store.close()


def _files(state: Path) -> set[Path]:
    return set(state.rglob("*"))
