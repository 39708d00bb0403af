"""The record of what happened: one entry for each call, each bound to the one before.

An entry is a line of JSON; its hash covers that line and the hash of the entry before it, so
that one that was changed or taken out is found out. Entries are written by a thread of
their own, several at once: a call never waits for the disk, and what a killed host had
not written yet is no older than a tenth of a second.
"""

import hashlib
import json
import logging
import threading
from collections import deque
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from nacre.errors import StateError
from nacre.process.marks import mark_of

if TYPE_CHECKING:
    import sqlite3

    from nacre.engine.database import Database

__all__ = ("JOURNAL", "Journal", "JournalEntry", "read_journal", "verify_journal")

# Its name in a state directory.
JOURNAL = "journal.db"
_LOG = logging.getLogger("nacre")
_VERSION = 1
_SCHEMA = """
CREATE TABLE journal (number INTEGER PRIMARY KEY, entry TEXT NOT NULL, hash TEXT NOT NULL) STRICT;
CREATE TRIGGER journal_stays BEFORE UPDATE ON journal BEGIN
    SELECT RAISE(ABORT, 'the journal is only added to');
END;
CREATE TRIGGER journal_is_kept BEFORE DELETE ON journal BEGIN
    SELECT RAISE(ABORT, 'the journal is only added to');
END;
"""
_FIRST = "0" * 64
# Several entries share one write; the rest of a tenth of a second is for the write itself.
_GATHER_SECONDS = 0.03
_CLOSE_SECONDS = 5.0
_MOST_WAITING = 10_000
_PAGE = 500


@dataclass(frozen=True, slots=True, kw_only=True)
class JournalEntry:
    """One entry as it is on the disk: its number, from 1 on, its text and its hash."""

    number: int
    text: str
    hash: str


class Journal:
    """Takes entries from any thread, and writes them soon.

    A disk that is full costs no call: entries wait for the next write, and those
    that cannot wait any longer are counted.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._waiting: deque[Mapping[str, object]] = deque()
        self._lost = 0
        self._lock = threading.Lock()
        self._some = threading.Event()
        self._closing = threading.Event()
        self._thread: threading.Thread | None = None
        self._complained = False

    def write(self, entry: Mapping[str, object]) -> None:
        """Take an entry; whatever becomes of it, nothing is raised and nothing waits."""
        with self._lock:
            if self._closing.is_set():
                return
            if len(self._waiting) >= _MOST_WAITING:
                self._waiting.popleft()
                self._lost += 1
            self._waiting.append(entry)
            if self._thread is None:
                self._thread = threading.Thread(
                    target=self._live, name="nacre-journal", daemon=True
                )
                self._thread.start()
        self._some.set()

    def close(self) -> None:
        """Have everything written. Safe to call again."""
        with self._lock:
            thread, self._thread = self._thread, None
            self._closing.set()
        self._some.set()
        if thread is not None:
            thread.join(_CLOSE_SECONDS)

    def _live(self) -> None:
        # Not before: most of a start would be spent on importing it.
        from nacre.engine.database import Database

        database = Database(self._path, _SCHEMA, _VERSION, what="journal")
        while not self._closing.is_set():
            self._some.wait()
            self._closing.wait(_GATHER_SECONDS)
            self._some.clear()
            self._store(database)
        self._store(database)
        database.close()

    def _store(self, database: "Database") -> None:
        with self._lock:
            entries = list(self._waiting)
            self._waiting.clear()
            lost, self._lost = self._lost, 0
        texts = [_text(entry) for entry in ([{"lost": lost}] if lost else []) + entries]
        if not texts:
            return
        try:
            database.do(lambda db: _append(db, texts))
        except StateError as error:
            with self._lock:
                self._waiting.extendleft(reversed(entries))
                self._lost += lost
            self._complain(str(error))
        while database.reports:
            self._complain(database.reports.pop())

    def _complain(self, trouble: str) -> None:
        if not self._complained:
            self._complained = True
            # Inside another nacre it is no news that its state directory cannot be written.
            level = logging.INFO if mark_of(0) else logging.WARNING
            _LOG.log(level, "the journal is not as it should be: %s", trouble)


def _text(entry: Mapping[str, object]) -> str:
    text = json.dumps(entry, sort_keys=True, separators=(",", ":"), default=str)
    return text.encode("utf-8", "backslashreplace").decode()


def _append(db: "sqlite3.Connection", texts: list[str]) -> None:
    last = db.execute("SELECT number, hash FROM journal ORDER BY number DESC LIMIT 1").fetchone()
    number, before = (int(last[0]), str(last[1])) if last else (0, _FIRST)
    rows: list[tuple[int, str, str]] = []
    for text in texts:
        number += 1
        before = _hash(before, text)
        rows.append((number, text, before))
    db.executemany("INSERT INTO journal VALUES (?, ?, ?)", rows)


def _hash(before: str, text: str) -> str:
    return hashlib.sha256(f"{before}\n{text}".encode()).hexdigest()


def read_journal(path: Path, after: int = 0) -> Iterator[JournalEntry]:
    """The entries after a number, oldest first; none if there is no journal.

    Raises:
        StateError: If it cannot be read.
    """
    if not path.exists():
        return
    from nacre.engine.database import Database

    database = Database(path, _SCHEMA, _VERSION, what="journal")
    try:
        while page := database.do(partial(_page, after=after), reading=True):
            yield from page
            after = page[-1].number
    finally:
        database.close()


def _page(db: "sqlite3.Connection", *, after: int) -> list[JournalEntry]:
    found = db.execute(
        "SELECT number, entry, hash FROM journal WHERE number > ? ORDER BY number LIMIT ?",
        (after, _PAGE),
    )
    return [JournalEntry(number=row[0], text=row[1], hash=row[2]) for row in found]


def verify_journal(path: Path) -> tuple[int, JournalEntry | None]:
    """Count the entries up to the first that is not as it was written, and return that one.

    Raises:
        StateError: If it cannot be read.
    """
    before, number = _FIRST, 0
    for entry in read_journal(path):
        if entry.number != number + 1 or entry.hash != _hash(before, entry.text):
            return number, entry
        before, number = entry.hash, entry.number
    return number, None
