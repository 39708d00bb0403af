"""Runs that outlive their call: adopted, polled, stopped and listed.

A job is held by the warden, which writes its output and its end to files; this
module, in whichever process it runs, makes those files, reads them, and signals.
So a poll of one's own job and a look at another host's are the same thing.
"""

import os
import secrets
import signal
import threading
import time
import uuid
from collections.abc import AsyncGenerator
from contextlib import suppress
from datetime import timedelta
from pathlib import Path, PurePath

import anyio
import anyio.lowlevel

from nacre.capture.stream import Stream
from nacre.engine.ledger import Ledger
from nacre.engine.pattern import compile_pattern
from nacre.engine.reading import News
from nacre.engine.record import JobFiles
from nacre.engine.store import JobRow
from nacre.engine.threads import in_thread
from nacre.engine.waiting import Subject, wait_until
from nacre.errors import StateError
from nacre.model.call import Condition, JobEnds, Poll, Run
from nacre.model.job import Job, JobOutput, JobTerms, Naming, Ownership
from nacre.model.outcome import Lost, Running
from nacre.model.value import dataclass
from nacre.process.cancel import CancelToken
from nacre.process.events import Started
from nacre.process.live import Process
from nacre.process.marks import (
    born,
    kill_born,
    kill_lost,
    kill_marked,
    signal_marked,
    this_place,
)
from nacre.process.watch import FileWatch

__all__ = ("Jobs", "Reading")

# No vowels and no look-alikes: ids are read aloud and typed.
_ID_LETTERS = "bcdfghjkmnpqrstvwxz23456789"
_ID_LENGTH = 7
# A process that forks while it is killed leaves another; that one is next.
_RETRY_SECONDS = 0.02
_END_SECONDS = 5.0
_CHUNK = 1 << 16
_CROWD = 256
# How often a follower asks whether the warden lives; its end is no write to a file.
_IDLE_SECONDS = 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """A job as it is now, and what its reader had not seen."""

    job: Job
    news: tuple[News, ...]
    came_true: Condition | None = None


class Jobs:
    """What can be done with jobs, asynchronously."""

    def __init__(self, ledger: Ledger, *, ownership: Ownership) -> None:
        self._ledger = ledger
        self._ownership = ownership
        self._owned: dict[str, JobRow] = {}
        self._crowd = _CROWD
        self._taken: set[str] = set()
        self._lock = threading.Lock()

    async def prepare(self) -> None:
        """Find out now whether a job could be made.

        Raises:
            StateError: If not.
        """
        await in_thread(self._ledger.prepare)

    async def adopt(  # noqa: PLR0913 (what a job is, all by name)
        self,
        process: Process,
        started: Started,
        streams: tuple[Stream, ...],
        *,
        run: Run,
        cwd: PurePath,
        conversation: str,
        began: float,
    ) -> Job:
        """Make a job of a live process, with all it said so far.

        What a timed-out run said is in its reply; a poll tells only the rest. A
        run in the background has told nothing yet.

        Raises:
            StateError: If its files cannot be made; the process is the caller's still.
            WardenError: If the warden died.
        """
        row = JobRow(
            id=_new_id(run.terms),
            conversation=conversation,
            script=run.script,
            description=run.description,
            cwd=str(cwd),
            detached=self._ownership is Ownership.DETACHED or run.terms.detached,
            pid=started.pid,
            mark=started.mark,
            place=this_place(),
            born=born(started.pid),
            streams=len(streams),
            started=began,
        )
        try:
            await in_thread(self._hand_over, row, process, streams, run)
            return await in_thread(self._ledger.look, row)
        except anyio.get_cancelled_exc_class():
            if row.id in self._taken:
                self._end_now([row])
            raise
        finally:
            self._taken.discard(row.id)

    def _hand_over(
        self, row: JobRow, process: Process, streams: tuple[Stream, ...], run: Run
    ) -> None:
        """Make the files and have the warden take over, or leave everything as it was."""
        record, outputs = self._ledger.create_files(row)
        try:
            self._ledger.register(row, streams, outputs)
            if not run.background:
                self._ledger.note_seen(row, streams)
            fds = [fd for pair in zip(process.pipes, outputs, strict=True) for fd in pair]
            process.keep(_request(row, run.terms, streams, outputs), [record, *fds])
        except BaseException:
            with suppress(StateError):
                self._ledger.unregister(row)
            raise
        finally:
            for fd in (record, *outputs):
                os.close(fd)
        self._taken.add(row.id)
        if not row.detached:
            self._own(row)

    def _own(self, row: JobRow) -> None:
        """Remember a job to be ended, and forget those that have ended, now and then."""
        with self._lock:
            self._owned[row.id] = row
            if len(self._owned) > self._crowd:
                self._owned = {n: r for n, r in self._owned.items() if self._unended(r)}
                self._crowd = max(_CROWD, 2 * len(self._owned))

    def _unended(self, row: JobRow) -> bool:
        return self._ledger.files(row).ending() is None

    async def poll(self, poll: Poll, conversation: str, cancel: CancelToken | None) -> Reading:
        """Wait if asked to, then tell what is new.

        Raises:
            JobNotFoundError: If this conversation has no such job.
            CallError: If an expression is none.
        """
        row = await in_thread(self._ledger.find, poll.job_id, conversation)
        pattern = compile_pattern(poll.pattern) if poll.pattern is not None else None
        came_true = None
        if poll.wait_for:
            subject = Subject(
                files=self._ledger.files(row),
                pid=row.pid,
                cwd=Path(row.cwd),
                cursors=await in_thread(self._ledger.cursors, row, conversation),
                started=row.started,
            )
            came_true = await wait_until(
                subject, poll.wait_for, poll.timeout.total_seconds(), cancel
            )
        if poll.whole:
            job, news = await in_thread(self._ledger.read_whole, row, poll.limit)
        else:
            job, news = await in_thread(self._ledger.read, row, conversation, poll.limit, pattern)
        return Reading(job=job, news=news, came_true=came_true)

    async def range(
        self, job_id: str, conversation: str, stream: int, start: int, most: int
    ) -> JobOutput:
        """Some of what a job said; no cursor is moved.

        Raises:
            JobNotFoundError: If this conversation has no such job, or it no such stream.
        """
        row = await in_thread(self._ledger.find, job_id, conversation)
        return await in_thread(self._ledger.read_range, row, stream, start, most)

    async def groups(self, conversation: str) -> tuple[tuple[int, int], ...]:
        """The process groups of a conversation's live jobs, each with when its leader began."""
        rows = await in_thread(self._ledger.open, conversation)
        return tuple((row.pid, row.born) for row in rows if row.place == this_place())

    async def jobs(self, conversation: str | None) -> tuple[Job, ...]:
        """List the jobs of a conversation, or of everyone, oldest first."""
        return await in_thread(self._ledger.jobs, conversation)

    async def find(self, prefix: str) -> Job:
        """The one job, of anyone, whose id starts like this.

        Raises:
            JobNotFoundError: If there is none, or more than one.
        """
        row = await in_thread(self._ledger.find_by_prefix, prefix)
        return await in_thread(self._ledger.look, row)

    async def output(self, job: Job, *, follow: bool) -> AsyncGenerator[bytes]:
        """What a job said, raw and from the start; with `follow`, until it ends.

        While there is nothing new, an empty piece comes now and then.

        Raises:
            StateError: If its output cannot be read.
        """
        row = await in_thread(self._ledger.find, job.id, None)
        files = self._ledger.files(row)
        if not os.access(files.outputs[0], os.R_OK):
            raise StateError(f"the output of job {job.id} cannot be read: {files.outputs[0]}")
        with (
            FileWatch([files.outputs[0], files.record]) as watch,
            files.outputs[0].open("rb") as file,
        ):
            while True:
                over = not follow or not files.attended()
                while data := file.read(_CHUNK):
                    yield data
                    await anyio.lowlevel.checkpoint()  # a slow reader may be interrupted
                if over:
                    return
                yield b""
                await watch.wait(_IDLE_SECONDS)

    async def stop(self, job_id: str, conversation: str | None, grace: timedelta) -> Job:
        """End a job with all its processes; one that has ended stays as it is.

        Raises:
            JobNotFoundError: If this conversation has no such job.
        """
        row = await in_thread(self._ledger.find, job_id, conversation)
        job = await in_thread(self._ledger.look, row)
        if isinstance(job.outcome, Lost) and row.place == this_place():
            await in_thread(kill_lost, row.mark)  # nobody else looks after it
        if isinstance(job.outcome, Running):
            with suppress(StateError):  # a full disk is no reason to let it run
                await in_thread(self._ledger.note_stop, row)
            await _end(row, self._ledger.files(row), grace.total_seconds())
            row = await in_thread(self._ledger.find, job_id, conversation)
            job = await in_thread(self._ledger.look, row)
        with self._lock:
            self._owned.pop(job_id, None)
        return job

    async def forget(self, job_id: str, conversation: str | None) -> None:
        """Remove a job that has ended, with all it said.

        Raises:
            JobNotFoundError: If this conversation has no such job.
        """
        row = await in_thread(self._ledger.find, job_id, conversation)
        await in_thread(self._ledger.unregister, row)

    def reports(self) -> tuple[str, ...]:
        """What had to be done to the state directory, told once."""
        return self._ledger.reports()

    def close(self) -> None:
        """End the jobs that were adopted here and are owned; blocks until they are gone."""
        with self._lock:
            rows = [row for row in self._owned.values() if self._unended(row)]
            self._owned.clear()
        self._end_now(rows)
        self._ledger.close()

    def _end_now(self, rows: list[JobRow]) -> None:
        """Kill some jobs, all at once: each look through /proc costs a millisecond or more."""
        for row in rows:
            with suppress(StateError):
                self._ledger.note_stop(row)
        for row in rows:
            kill_born(row.pid, row.born)
        if rows:
            kill_marked([row.mark for row in rows])
        deadline = time.monotonic() + _END_SECONDS
        for row in rows:
            _wait_gone(row, self._ledger.files(row), deadline)


def _new_id(terms: JobTerms) -> str:
    if terms.naming is Naming.UUID:
        return f"{terms.prefix}{uuid.uuid4()}"
    return terms.prefix + "".join(secrets.choice(_ID_LETTERS) for _ in range(_ID_LENGTH))


def _request(
    row: JobRow, terms: JobTerms, streams: tuple[Stream, ...], outputs: list[int]
) -> dict[str, object]:
    """What the warden is told of a job it is to keep."""
    lines = {"exited": terms.completion.exited, "signaled": terms.completion.signaled}
    return {
        "owned": not row.detached,
        "cap": terms.cap,
        "said": [stream.recorder.total for stream in streams],
        "kept": [os.fstat(output).st_size for output in outputs],
        "failure": next(
            filter(None, (each.spill and each.spill.failure for each in streams)), None
        ),
        "completion": lines if row.detached else None,
    }


def _wait_gone(row: JobRow, files: JobFiles, deadline: float) -> None:
    with FileWatch([files.record]) as watch:
        while files.ending() is None and files.attended() and time.monotonic() < deadline:
            _kill(row)
            watch.wait_blocking(_RETRY_SECONDS)


def _kill(row: JobRow) -> bool:
    """Kill a job's shell, even if it shed its mark, and all that carries the mark."""
    kill_born(row.pid, row.born)
    return kill_marked([row.mark])


async def _end(row: JobRow, files: JobFiles, grace: float) -> None:
    subject = Subject(files=files, pid=row.pid, cwd=Path(row.cwd), cursors=(), started=row.started)
    asked = await in_thread(signal_marked, [row.mark], int(signal.SIGTERM)) if grace > 0 else ()
    if asked:
        await wait_until(subject, (JobEnds(),), grace, None)
    deadline = anyio.current_time() + _END_SECONDS
    while files.ending() is None and anyio.current_time() < deadline:
        left = await in_thread(_kill, row)
        if not left and not files.attended():
            return
        await wait_until(subject, (JobEnds(),), _RETRY_SECONDS, None)
