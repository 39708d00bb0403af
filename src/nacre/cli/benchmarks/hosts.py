"""Fifty processes that share one state directory: nothing is lost, and nobody is locked out."""

import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path

import anyio.to_thread

from nacre.cli.benchmarks.host import Answer, Host
from nacre.cli.benchmarks.row import Row, Scale
from nacre.cli.benchmarks.subject import temporary_folder
from nacre.engine.assemble import Settings, open_jobs
from nacre.engine.chain import JOURNAL, fields_of, read_journal
from nacre.engine.proof import prove
from nacre.model.outcome import Exited

__all__ = ("measure",)

# A call, the start of a job, and a poll that waits for its end.
_CALLS = 3


async def measure(scale: Scale) -> list[Row]:
    """Have every process make calls and jobs at the same time, and account for all of them."""
    hosts, each = scale.of(50, quick=3), scale.of(10, quick=2)
    with temporary_folder() as state:
        began = time.perf_counter()
        right = await anyio.to_thread.run_sync(_all_at_once, state, hosts, each)
        seconds = time.perf_counter() - began
        ended = await _ended_well(Path(state))
        proof = prove(Path(state, JOURNAL))
        known = {fields_of(entry).get("call") for entry in read_journal(Path(state, JOURNAL))}
    calls, whole = hosts * each * _CALLS, proof.broken is None
    return [
        Row(
            name="hosts",
            work=f"replies as they should be to {hosts} processes with one state directory, {each} calls and {each} jobs each",
            measured=f"{right:,} replies",
            bar=f"= {calls:,} replies",
            holds=right == calls and ended == hosts * each,
            note=f"{ended:,} jobs ended well; {seconds:.1f} s with the starts of all processes and their wardens",
        ),
        Row(
            name="hosts journal",
            work="calls in their journal, which is proved",
            measured=f"{len(known):,} calls{'' if whole else ', broken'}",
            bar=f"= {calls:,} calls",
            holds=whole and len(known) == calls,
            note=f"{proof.entries:,} entries" if whole else proof.why,
        ),
    ]


def _all_at_once(state: str, hosts: int, each: int) -> int:
    """How many replies were right, when all hosts have ended."""
    Path(state, "workspace").mkdir()
    with ExitStack() as stack, ThreadPoolExecutor(hosts) as pool:
        opened = [stack.enter_context(Host(state, "none", f"host {n}")) for n in range(hosts)]
        return sum(pool.map(_work, opened, [each] * hosts))


def _work(host: Host, each: int) -> int:
    said: list[tuple[Answer, str]] = []
    jobs: list[str] = []
    for number in range(each):
        said.append((host.call("Bash", command=f"echo call {number}"), f"call {number}"))
        started = host.call("Bash", command=f"echo job {number}", background=True)
        jobs.append(str(started.details["id"]))
        said.append((started, f"[job {jobs[-1]} was started;"))
    for number, job in enumerate(jobs):
        told = host.call("BashOutput", id=job, wait_for="exit")
        said.append((told, f"job {number}\n[job {job} ended with exit code 0]"))
    host.end()
    return _right(said)


def _right(said: Sequence[tuple[Answer, str]]) -> int:
    return sum(answer.text.startswith(wanted) for answer, wanted in said)


async def _ended_well(state: Path) -> int:
    jobs = open_jobs(Settings(state=state))
    try:
        return sum(job.outcome == Exited(0) for job in await jobs.jobs(None))
    finally:
        jobs.close()
