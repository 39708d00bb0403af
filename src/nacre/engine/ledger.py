"""What is true of the jobs of one state directory.

Everything here may wait for a disk or for another process's lock: it is called
on a worker thread.
"""

import os
import shutil
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path, PurePath

from nacre.capture.stream import Stream
from nacre.engine.pattern import Pattern
from nacre.engine.private import make_private
from nacre.engine.reading import News, OutputFile
from nacre.engine.record import JobFiles
from nacre.engine.retention import Retention
from nacre.engine.store import JobRow, Store
from nacre.errors import JobNotFoundError, StateError
from nacre.model.job import Job, JobOutput, Ownership
from nacre.model.outcome import Exited, Lost, Outcome, Running, Signaled, Stopped
from nacre.model.transcript import Limit

__all__ = ("Ledger",)

_COPY_BYTES = 1 << 20
_YOUNG_SECONDS = 60.0
_SWEPT = "jobs.swept"
_SWEEP_SECONDS = 3600.0
_LOOKS = 4
# At the start of a job, of which there is one more then; and when all is over.
_REMOVED_AT_START = 2
_REMOVED_AT_END = 100
# A secret that lies across the border of a range is known by what is beside it.
_BESIDE = 1 << 14


class Ledger:
    """The database of jobs, read together with the files that say how they ended."""

    def __init__(self, folder: Path, store: Store, retention: Retention) -> None:
        self._folder = folder
        self._store = store
        self._retention = retention
        self._used = False

    def create_files(self, row: JobRow) -> tuple[int, list[int]]:
        """Make a job's files; return the record and the outputs, open.

        Raises:
            StateError: If they cannot be made.
        """
        try:
            make_private(self._folder)
            return self.files(row).create()
        except OSError as error:
            text = f"a job's files cannot be made in {self._folder}: {error.strerror}"
            raise StateError(text) from error

    def register(self, row: JobRow, streams: Sequence[Stream], outputs: Sequence[int]) -> None:
        """Write down a new job, with what it said already.

        Raises:
            StateError: If that is not possible.
        """
        try:
            for stream, output in zip(streams, outputs, strict=True):
                _copy(stream, output)
        except OSError as error:
            raise StateError(f"a job's output cannot be written: {error.strerror}") from error
        self._store.insert(row)
        self._used = True
        # An end that nobody asked for is noted only here.
        self._settled(self._store.some_open(_LOOKS))
        self._remove_expired(_REMOVED_AT_START)

    def note_seen(self, row: JobRow, streams: Sequence[Stream]) -> None:
        """Write down that the job's conversation was told what it said so far."""
        seen = {n: (0, stream.recorder.total) for n, stream in enumerate(streams)}
        self._store.advance(row.id, row.conversation, seen)

    def prepare(self) -> None:
        """Find out now whether a job could be written down.

        Raises:
            StateError: If not.
        """
        try:
            make_private(self._folder)
        except OSError as error:
            text = f"the state directory {self._folder.parent} cannot be used: {error.strerror}"
            raise StateError(text) from error
        if not os.access(self._folder, os.W_OK):
            raise StateError(f"the state directory {self._folder.parent} cannot be written")
        self._store.find("")

    def unregister(self, row: JobRow) -> None:
        """Take back a job that could not be kept."""
        self.files(row).remove()
        self._store.forget([row.id])

    def find(self, job_id: str, conversation: str | None) -> JobRow:
        """The job with this id, if it is of this conversation.

        Raises:
            JobNotFoundError: If there is none.
        """
        row = self._store.find(job_id)
        if row is None or (conversation is not None and row.conversation != conversation):
            raise JobNotFoundError(f"there is no job {job_id!r:.60}", job_id)
        return row

    def find_by_prefix(self, prefix: str) -> JobRow:
        """The one job, of anyone, whose id starts like this.

        Raises:
            JobNotFoundError: If there is none, or more than one.
        """
        found = self._store.starting_with(prefix) if prefix else []
        if not found:
            raise JobNotFoundError(f"there is no job {prefix!r:.60}; 'nacre jobs' lists them")
        if len(found) > 1 and found[0].id != prefix:
            raise JobNotFoundError(f"several jobs start with {prefix!r}; give more letters")
        return found[0]

    def open(self, conversation: str) -> list[JobRow]:
        """The jobs of a conversation whose end is not known."""
        return self._store.open(conversation)

    def jobs(self, conversation: str | None) -> tuple[Job, ...]:
        """The jobs of a conversation, or of everyone, oldest first."""
        return tuple(map(self._job, self._settled(self._store.jobs(conversation))))

    def running(self, conversation: str | None) -> tuple[Job, ...]:
        """Those of them that run; it costs what there is of these, whatever has ended."""
        found = map(self._job, self._settled(self._store.open(conversation)))
        return tuple(job for job in found if isinstance(job.outcome, Running))

    def look(self, row: JobRow) -> Job:
        """See how a job is now, and note its end if that is news."""
        return self._job(*self._settled([row]))

    def _settled(self, rows: Sequence[JobRow]) -> Sequence[JobRow]:
        """See how jobs are now, and note ends that are news, all at once.

        A disk too full to note them on does not make them less true.
        """
        found = [self._seen(row) if row.outcome is None else row for row in rows]
        ended = [now for now, row in zip(found, rows, strict=True) if now is not row]
        if not ended:
            return rows
        try:
            self._store.settle(*ended)
            noted = {row.id: self._store.find(row.id) or row for row in ended}
        except StateError:
            noted = {}
        return [noted.get(row.id, row) for row in found]

    def _seen(self, row: JobRow) -> JobRow:
        """The row of a job whose end was not known, with its end if that is known now."""
        files = self.files(row)
        attended = files.attended()
        # In this order: the warden writes the end before it lets go of the lock.
        ending = files.ending()
        if ending is None and attended:
            return row
        return replace(
            row,
            outcome=ending.outcome if ending else "lost",
            number=ending.number if ending else None,
            stopping=row.stopping or bool(ending and ending.stopped),
            ended=ending.ended if ending else time.time(),
            said=sum(ending.said) if ending else self._size(row),
        )

    def read(
        self, row: JobRow, conversation: str, limit: Limit, pattern: Pattern | None
    ) -> tuple[Job, tuple[News, ...]]:
        """Tell a reader what is new; what one call was told, no other is told again."""
        while True:
            job = self.look(row)
            # One that ended since then is told as running: its last words come next time.
            ending = None if isinstance(job.outcome, Running) else self.files(row).ending()
            cursors = self.cursors(row, conversation)
            outputs = [OutputFile(self.files(row), n) for n in range(row.streams)]
            news = tuple(
                output.matching(cursor, limit, pattern, ending)
                if pattern
                else output.news(cursor, limit, ending)
                for output, cursor in zip(outputs, cursors, strict=True)
            )
            moves = {n: (old, news[n].cursor) for n, old in enumerate(cursors)}
            try:
                if self._store.advance(row.id, conversation, moves):
                    return job, news
            except StateError as error:
                self._store.report(f"what was told here will be told again: {error}")
                return job, news

    def read_whole(self, row: JobRow, limit: Limit) -> tuple[Job, tuple[News, ...]]:
        """Tell everything from the start, whoever was told of it before."""
        job = self.look(row)
        ending = None if isinstance(job.outcome, Running) else self.files(row).ending()
        outputs = [OutputFile(self.files(row), n) for n in range(row.streams)]
        return job, tuple(output.news(0, limit, ending) for output in outputs)

    def read_range(self, row: JobRow, stream: int, start: int, most: int) -> JobOutput:
        """Some of what one stream said, from an offset on; no cursor is moved.

        Raises:
            JobNotFoundError: If there is no such stream.
        """
        if stream >= row.streams:
            raise JobNotFoundError(f"job {row.id} has no such stream: its output is one", row.id)
        job = self.look(row)
        ending = None if isinstance(job.outcome, Running) else self.files(row).ending()
        return OutputFile(self.files(row), stream).range(start, most, _BESIDE, ending)

    def cursors(self, row: JobRow, conversation: str) -> tuple[int, ...]:
        """How far a reader has read each stream."""
        return tuple(self._store.cursor(row.id, conversation, n) for n in range(row.streams))

    def note_stop(self, *rows: JobRow) -> None:
        """Write down that jobs are about to be ended on purpose."""
        self._store.note_stop(*(row.id for row in rows))

    def files(self, row: JobRow) -> JobFiles:
        """Where a job's files are."""
        return JobFiles(self._folder, row.id, row.streams)

    def reports(self) -> tuple[str, ...]:
        """What the database had to say for itself since the last time."""
        return self._store.reports()

    def close(self) -> None:
        """Let go of the database, and tidy up before if there were jobs: no call waits for that."""
        if self._used:
            self._used = False
            with suppress(StateError, OSError):
                self._sweep_now_and_then()
                self._remove_expired(_REMOVED_AT_END)
        self._store.close()

    def _job(self, row: JobRow) -> Job:
        return Job(
            id=row.id,
            conversation=row.conversation,
            script=row.script,
            description=row.description,
            cwd=PurePath(row.cwd),
            ownership=Ownership.DETACHED if row.detached else Ownership.OWNED,
            pid=row.pid,
            started=_moment(row.started),
            ended=None if row.ended is None else _moment(row.ended),
            outcome=_outcome(row),
            output=self.files(row).outputs[0],
            said=self._size(row) if row.said is None else row.said,
        )

    def _size(self, row: JobRow) -> int:
        return sum(OutputFile(self.files(row), n).size(None) for n in range(row.streams))

    def _remove_expired(self, most: int) -> None:
        """Remove some of the ended jobs beyond the retention, with their files."""
        oldest = time.time() - self._retention.age.total_seconds()
        expired = self._store.expired(self._retention.count, oldest, most)
        for job_id in expired:
            JobFiles(self._folder, job_id, 2).remove()
        if expired:
            self._store.forget(expired)

    def _sweep_now_and_then(self) -> None:
        """Remove files of jobs that no row tells of, if nobody did so lately.

        To look for them means to read the names of all files; every process that has a job would.
        """
        mark = self._folder.parent / _SWEPT
        with suppress(OSError):
            if time.time() - mark.stat().st_mtime < _SWEEP_SECONDS:
                return
        with suppress(OSError):
            mark.touch(mode=0o600)
        self._sweep()

    def _sweep(self) -> None:
        """Remove files of jobs that no row tells of: their host died in between."""
        known = self._store.ids()
        for name in os.listdir(self._folder):
            job_id, _, kind = name.rpartition(".")
            if kind != "record" or job_id in known:
                continue
            files = JobFiles(self._folder, job_id, 2)
            young = files.age() < _YOUNG_SECONDS  # perhaps not locked yet
            if not young and self._store.find(job_id) is None and not files.attended():
                files.remove()


def _outcome(row: JobRow) -> Outcome:
    match row.outcome, row.number:
        case None, _:
            return Running(row.id)
        case "exited", int(code):
            return Exited(code)
        case "signaled", int(number):
            return Stopped() if row.stopping else Signaled(number)
        case _:
            return Lost("the process that held it died, and nobody saw how it ended")


def _moment(seconds: float) -> datetime:
    return datetime.fromtimestamp(seconds, tz=UTC)


def _copy(stream: Stream, output: int) -> None:
    """Put what a stream said so far into a job's file, from its first byte on."""
    path = stream.spill.path if stream.spill is not None else None
    if path is None:
        said = stream.transcript()
        os.write(output, said.head if said.omitted else said.head + said.tail)
        return
    with path.open("rb") as spilled, open(output, "wb", closefd=False) as file:
        shutil.copyfileobj(spilled, file, _COPY_BYTES)
