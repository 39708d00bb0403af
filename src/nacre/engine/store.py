"""What is known of jobs, in SQLite: shared by processes, intact after SIGKILL.

The database says what a job is: its script, its conversation, where its files
are. How it ended is in its record (`nacre.engine.record`), written by the
warden, which does not wait for anybody's lock; a reader that finds an ended
record copies the end into the database.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from nacre.model.value import dataclass

if TYPE_CHECKING:
    import sqlite3

    from nacre.engine.database import Database

__all__ = ("JobRow", "Store")

_T = TypeVar("_T")

VERSION = 1
_SCHEMA = """
CREATE TABLE jobs (
    id TEXT PRIMARY KEY, conversation TEXT NOT NULL, script TEXT NOT NULL,
    description TEXT NOT NULL, cwd TEXT NOT NULL, detached INTEGER NOT NULL,
    pid INTEGER NOT NULL, mark INTEGER NOT NULL, place TEXT NOT NULL,
    born INTEGER NOT NULL, streams INTEGER NOT NULL,
    started REAL NOT NULL, stopping INTEGER NOT NULL DEFAULT 0,
    ended REAL, outcome TEXT, number INTEGER, said INTEGER
) STRICT;
CREATE INDEX jobs_by_end ON jobs (ended);
CREATE INDEX jobs_by_conversation ON jobs (conversation, started);
CREATE TABLE cursors (
    job TEXT NOT NULL REFERENCES jobs (id) ON DELETE CASCADE,
    conversation TEXT NOT NULL, stream INTEGER NOT NULL, offset INTEGER NOT NULL,
    PRIMARY KEY (job, conversation, stream)
) STRICT, WITHOUT ROWID;
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class JobRow:
    """One job as the database has it; `outcome` is None until its end is known."""

    id: str
    conversation: str
    script: str
    description: str
    cwd: str
    detached: bool
    pid: int
    mark: int
    place: str
    born: int
    streams: int
    started: float
    stopping: bool = False
    ended: float | None = None
    outcome: str | None = None
    number: int | None = None
    said: int | None = None


_FIELDS = tuple(field.name for field in fields(JobRow))
_SELECT = f"SELECT {', '.join(_FIELDS)} FROM jobs"  # noqa: S608 (our own names)
_INSERT = f"INSERT INTO jobs ({', '.join(_FIELDS)}) VALUES ({', '.join('?' * len(_FIELDS))})"  # noqa: S608


class Store:
    """The jobs of a state directory, as the database has them."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._database: Database | None = None

    def insert(self, row: JobRow) -> None:
        """Add a job."""
        values = tuple(_storable(getattr(row, name)) for name in _FIELDS)
        self._do(lambda db: db.execute(_INSERT, values))

    def find(self, job_id: str) -> JobRow | None:
        """The job with this id."""
        return next(iter(self._select("WHERE id = ?", (job_id,))), None)

    def starting_with(self, prefix: str) -> list[JobRow]:
        """The jobs whose id starts like this; at most two, to tell one from several."""
        low, high = prefix, prefix + "\U0010ffff"
        return self._select("WHERE id >= ? AND id < ? LIMIT 2", (low, high))

    def jobs(self, conversation: str | None) -> list[JobRow]:
        """The jobs of a conversation, or all of them, oldest first."""
        if conversation is None:
            return self._select("ORDER BY started, id", ())
        return self._select("WHERE conversation = ? ORDER BY started, id", (conversation,))

    def open(self, conversation: str | None) -> list[JobRow]:
        """Those of them whose end is not known; it costs what there is of these."""
        if conversation is None:
            return self._select("WHERE ended IS NULL ORDER BY started, id", ())
        # The plus keeps SQLite from the index by conversation, and so from all that have ended.
        where = "WHERE +conversation = ? AND ended IS NULL ORDER BY started, id"
        return self._select(where, (conversation,))

    def some_open(self, count: int) -> list[JobRow]:
        """A few jobs, other ones each time, whose end is not known."""
        ask = "SELECT abs(random()) % (coalesce(max(rowid), 0) + 1) FROM jobs"
        start = self._do(lambda db: int(db.execute(ask).fetchone()[0]), reading=True)
        where = "WHERE ended IS NULL AND rowid {} ? ORDER BY rowid LIMIT ?"
        found = self._select(where.format(">="), (start, count))
        return found or self._select(where.format("<"), (start, count))

    def settle(self, *rows: JobRow) -> None:
        """Note how jobs ended; of each, the first to know wins."""
        values = [
            (row.outcome, row.number, row.said, row.ended, row.stopping, row.id) for row in rows
        ]
        self._do(
            lambda db: db.executemany(
                "UPDATE jobs SET outcome = ?, number = ?, said = ?, ended = ?,"
                " stopping = max(stopping, ?) WHERE id = ? AND outcome IS NULL",
                values,
            )
        )

    def note_stop(self, *job_ids: str) -> None:
        """Note that somebody is about to end jobs on purpose."""
        values = [(job_id,) for job_id in job_ids]
        self._do(lambda db: db.executemany("UPDATE jobs SET stopping = 1 WHERE id = ?", values))

    def cursor(self, job_id: str, conversation: str, stream: int) -> int:
        """How far a reader has read one stream of a job."""
        return self._do(lambda db: _cursor(db, job_id, conversation, stream), reading=True)

    def advance(self, job_id: str, conversation: str, moves: dict[int, tuple[int, int]]) -> bool:
        """Move cursors from one offset to another; False if another reader did so first."""

        def work(db: sqlite3.Connection) -> bool:
            if any(_cursor(db, job_id, conversation, n) != old for n, (old, _) in moves.items()):
                return False
            db.executemany(
                "INSERT INTO cursors VALUES (?, ?, ?, ?)"
                " ON CONFLICT DO UPDATE SET offset = excluded.offset",
                [(job_id, conversation, stream, new) for stream, (_, new) in moves.items()],
            )
            return True

        return self._do(work)

    def expired(self, keep: int, oldest: float, most: int = -1) -> list[str]:
        """The ended jobs beyond a count, or that ended before a time; at most so many of each."""
        found = self._do(
            lambda db: db.execute(
                "SELECT id FROM (SELECT id FROM jobs WHERE ended < ? LIMIT ?) UNION SELECT id FROM"
                " (SELECT id FROM jobs WHERE ended IS NOT NULL ORDER BY ended DESC"
                " LIMIT ? OFFSET ?)",
                (oldest, most, most, keep),
            ).fetchall(),
            reading=True,
        )
        return [str(row[0]) for row in found]

    def ids(self) -> set[str]:
        """The ids of all jobs."""
        found = self._do(lambda db: db.execute("SELECT id FROM jobs").fetchall(), reading=True)
        return {str(row[0]) for row in found}

    def forget(self, job_ids: list[str]) -> None:
        """Remove jobs, with their cursors."""
        rows = [(job_id,) for job_id in job_ids]
        self._do(lambda db: db.executemany("DELETE FROM jobs WHERE id = ?", rows))

    def reports(self) -> tuple[str, ...]:
        """What happened to the database since the last time, told once."""
        told = tuple(self._database.reports) if self._database else ()
        if self._database:
            self._database.reports.clear()
        return told

    def report(self, sentence: str) -> None:
        """Have something said with the next reply."""
        if self._database:
            self._database.reports.append(sentence)

    def close(self) -> None:
        """Let go of the database."""
        if self._database is not None:
            self._database.close()

    def _select(self, clause: str, values: tuple[object, ...]) -> list[JobRow]:
        safe = tuple(map(_storable, values))
        rows = self._do(lambda db: db.execute(f"{_SELECT} {clause}", safe).fetchall(), reading=True)
        return [JobRow(**dict(zip(_FIELDS, row, strict=True))) for row in rows]

    def _do(self, work: Callable[[sqlite3.Connection], _T], *, reading: bool = False) -> _T:
        if self._database is None:
            # Not before: most calls have no use for SQLite, and it takes 50 ms to import.
            from nacre.engine.database import Database

            self._database = Database(self._path, _SCHEMA, VERSION)
        return self._database.do(work, reading=reading)


def _storable(value: object) -> object:
    """A text without lone surrogates, which an agent can send and SQLite cannot hold."""
    if isinstance(value, str):
        return value.encode("utf-8", "backslashreplace").decode()
    return value


def _cursor(db: sqlite3.Connection, job_id: str, conversation: str, stream: int) -> int:
    found = db.execute(
        "SELECT offset FROM cursors WHERE job = ? AND conversation = ? AND stream = ?",
        (job_id, conversation, stream),
    ).fetchone()
    return int(found[0]) if found else 0
