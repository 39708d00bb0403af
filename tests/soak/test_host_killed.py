"""SIGKILL of the host, at any moment, leaves a true database and no orphan."""

import random
import signal
import sqlite3
import subprocess
import sys
from pathlib import Path

import anyio
import pytest

from nacre.engine.assemble import Settings, open_jobs
from nacre.model.job import Job
from nacre.model.outcome import Running
from processes import gone_blocking, kill_all, tag

pytestmark = pytest.mark.anyio
_HOST = Path(__file__).with_name("host.py")
_MOMENTS = 50


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.mark.timeout(240)
async def test_killing_the_host_at_fifty_random_moments_leaves_no_orphan_and_true_states(
    state: Path, workspace: Path
) -> None:
    mark = tag()
    moments = random.Random(20)  # noqa: S311
    try:
        for moment in range(_MOMENTS):
            sandbox = ("none", "landlock", "auto")[moment % 3]
            host = _start(state, workspace, mark, sandbox)
            _kill(host, calls=max(moments.randrange(0, 12), int(moment == 0)))
            gone_blocking(mark)
            with anyio.fail_after(10):
                # What a host left is gone a moment before its warden has written so.
                while any(isinstance(job.outcome, Running) for job in await _jobs(state)):
                    await anyio.sleep(0.01)
    finally:
        kill_all(mark)
    with sqlite3.connect(state / "nacre.db") as database:
        assert database.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    database.close()


def _start(state: Path, workspace: Path, mark: str, sandbox: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, str(_HOST), str(state), str(workspace), mark, sandbox],
        stdout=subprocess.PIPE,
    )


def _kill(host: subprocess.Popen[bytes], *, calls: int) -> None:
    """Let a host make some calls, and kill it in the middle of the next ones."""
    assert host.stdout is not None
    for _ in range(calls):
        assert host.stdout.readline() == b"call\n"
    signal.sigtimedwait([], random.random() / 20)  # noqa: S311 (not just after a reply)
    host.kill()
    host.wait()
    host.stdout.close()


async def _jobs(state: Path) -> tuple[Job, ...]:
    jobs = open_jobs(Settings(state=state))
    try:
        return await jobs.jobs(None)
    finally:
        jobs.close()
