"""A state directory with a long history and many jobs that run: calls take no longer for it."""

import os
import sys
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import NamedTuple, cast

import anyio

from nacre.cli.benchmarks.baseline import seconds_of
from nacre.cli.benchmarks.host import Host
from nacre.cli.benchmarks.row import FailedToRunError, Row, Scale, at_most
from nacre.cli.benchmarks.subject import temporary_folder
from nacre.engine.assemble import Settings, open_jobs
from nacre.engine.chain import JOURNAL, append, as_text, journal_database
from nacre.engine.record import JobFiles
from nacre.engine.store import JobRow, Store

__all__ = ("measure",)

_SANDBOX = "landlock"
_MOST = 1.3
# A warden has three descriptors for each job. What it starts closes its copies of them, which for
# six thousand takes up to 2 ms; and at the start of a job two that have expired are removed.
_MOST_SPAWNED = 2.0
_MOST_NEW_PROCESS = 1.2
_MOST_LIST_SECONDS = 2.0
_MOST_END_SECONDS = 5.0
_PAUSE_SECONDS = 0.01
_RUNNING = f"sleep {10**6}"


class _Pair(NamedTuple):
    """The same work in both state directories, in seconds."""

    name: str
    work: str
    bar: float
    ours: Callable[[], float]
    theirs: Callable[[], float]


async def measure(scale: Scale) -> list[Row]:
    """Do the same in a state directory with very many jobs and in an empty one, in turn."""
    finished, running = scale.of(10_000, quick=200), scale.of(2_000, quick=10)
    with (
        temporary_folder() as old,
        temporary_folder() as new,
        _opened(old) as full,
        _opened(new) as empty,
    ):
        jobs = [_start(full) for _ in range(running)]
        job = _start(empty)
        _remember(Path(old), finished, entries=10 * finished)
        than = f"with {finished:,} ended and {running:,} running jobs, to an empty state directory"
        runs = scale.of(40, quick=2)
        pairs = [
            _Pair(
                "call", "`true` by call", _MOST_SPAWNED, lambda: _call(full), lambda: _call(empty)
            ),
            _Pair(
                "poll",
                "a poll of a job",
                _MOST,
                lambda: _poll(full, jobs[0]),
                lambda: _poll(empty, job),
            ),
            _Pair(
                "start",
                "the start of a job",
                _MOST_SPAWNED,
                lambda: _started(full),
                lambda: _started(empty),
            ),
            _Pair(
                "run",
                "`nacre run -- true`",
                _MOST_NEW_PROCESS,
                lambda: _run(old),
                lambda: _run(new),
            ),
        ]
        rows = [
            await _row(pair, runs if pair.name != "run" else -(-runs // 4), than) for pair in pairs
        ]
        rows += [_list_row(full), await _end_row(full, Path(old))]
    return rows


def _opened(state: str) -> Host:
    Path(state, "workspace").mkdir()
    host = Host(state, _SANDBOX)
    host.call("Bash", command="true")
    return host


def _start(host: Host) -> str:
    return str(host.call("Bash", command=_RUNNING, background=True).details["id"])


def _call(host: Host) -> float:
    return host.call("Bash", command="true").seconds


def _poll(host: Host, job: str) -> float:
    return host.call("BashOutput", id=job).seconds


def _started(host: Host) -> float:
    return host.call("Bash", command=_RUNNING, background=True).seconds


def _run(state: str) -> float:
    words = ("-m", "nacre", "run", f"--workspace={state}/workspace", "--", "true")
    return seconds_of((sys.executable, *words), {**os.environ, "NACRE_STATE": state})


def _remember(state: Path, finished: int, *, entries: int) -> None:
    """Add jobs that have ended to what a state directory has, and entries to its journal."""
    store = Store(state / "nacre.db")
    now = time.time()
    rows: list[JobRow] = []
    for number in range(finished):
        row = JobRow(
            id=f"past{number}",
            conversation="bench",
            script="make test",
            description="",
            cwd=str(state),
            detached=False,
            pid=1,
            mark=1,
            place="elsewhere",
            born=1,
            streams=1,
            started=now - finished + number,
            ended=now - finished + number + 1,
            outcome="exited",
            number=0,
            said=0,
        )
        record, outputs = JobFiles(state / "jobs", row.id, 1).create()
        for file in (record, *outputs):
            os.close(file)
        rows.append(row)
        store.insert(row)
    store.close()
    journal = journal_database(state / JOURNAL)
    text = as_text({"at": "2031-05-02T10:00:00.000Z", "tool": "Bash", "script": "make test"})
    journal.do(lambda db: append(db, [text] * entries))
    journal.close()
    os.sync()  # a history is on the disk, and does not wait to be written


async def _row(pair: _Pair, runs: int, than: str) -> Row:
    took: list[tuple[float, float]] = []
    for _ in range(runs):
        # An agent needs longer between two calls.
        await anyio.sleep(_PAUSE_SECONDS)
        took.append((pair.ours(), pair.theirs()))
    mine, other = (median(column) * 1e3 for column in zip(*took, strict=True))
    return at_most(
        f"history {pair.name}",
        mine / other,
        pair.bar,
        "x",
        work=f"{pair.work}, median of {runs}, {than}",
        note=f"{mine:.2f} ms to {other:.2f} ms",
    )


def _list_row(host: Host) -> Row:
    listed = host.call("Jobs")
    return at_most(
        "history list",
        listed.seconds,
        _MOST_LIST_SECONDS,
        "s",
        work=f"a list of all {len(cast('list[object]', listed.details['jobs'])):,} jobs",
    )


async def _end_row(host: Host, state: Path) -> Row:
    """Close the tool that owns the jobs, and see that none is left."""
    began = time.perf_counter()
    host.end()
    seconds = time.perf_counter() - began
    jobs = open_jobs(Settings(state=state))
    try:
        left = await jobs.running(None)
    finally:
        jobs.close()
    if left:
        raise FailedToRunError(f"{len(left)} jobs run after their host has ended")
    return at_most(
        "history end",
        seconds,
        _MOST_END_SECONDS,
        "s",
        work="from closing the tool to the end of its process, with all jobs that run",
    )
