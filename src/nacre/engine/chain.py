"""The journal on the disk: rows that are only added, each bound to the one before.

A row is a number, a line of JSON, and a hash of that line and of the hash before it. So one
that was changed, taken out or put in is found out. Nobody who reads it changes or moves
the file, however broken it is.
"""

import hashlib
import json
import os
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, cast
from urllib.parse import quote

from nacre.errors import StateError
from nacre.model.value import dataclass

if TYPE_CHECKING:
    import sqlite3

    from nacre.engine.database import Database

__all__ = (
    "FIRST",
    "FORGOT",
    "JOURNAL",
    "JournalEntry",
    "append",
    "as_text",
    "fields_of",
    "following_hash",
    "forget",
    "journal_database",
    "read_back",
    "read_journal",
)

# Its name in a state directory.
JOURNAL = "journal.db"
# What stands for the hash before the first entry.
FIRST = "0" * 64
# The field of an entry that says which ones before it a person had removed.
FORGOT = "forgot"
_VERSION = 1
_KEPT = """
CREATE TRIGGER journal_is_kept BEFORE DELETE ON journal BEGIN
    SELECT RAISE(ABORT, 'the journal is only added to');
END
"""
_SCHEMA = f"""
CREATE TABLE journal (number INTEGER PRIMARY KEY, entry TEXT NOT NULL, hash TEXT NOT NULL) STRICT;
CREATE TRIGGER journal_stays BEFORE UPDATE ON journal BEGIN
    SELECT RAISE(ABORT, 'the journal is only added to');
END;
{_KEPT};
"""
_BUSY_SECONDS = 20.0
_PAGE = 200
_ROW = 3  # columns
_TOGETHER = 100  # rows of one statement
# What SQLite can number; what stands below 1 was put there by somebody else.
_LOWEST, _HIGHEST = -(1 << 63), (1 << 63) - 1


@dataclass(frozen=True, slots=True, kw_only=True)
class JournalEntry:
    """One entry as it is on the disk: its number, from 1 on, its text and its hash."""

    number: int
    text: str
    hash: str


def journal_database(path: Path) -> "Database":
    """The journal for those who write it; nothing is opened yet."""
    # Not before: most of a start would be spent on importing it.
    from nacre.engine.database import Database

    return Database(path, _SCHEMA, _VERSION, what="journal")


def as_text(entry: Mapping[str, object]) -> str:
    """An entry as a line of ASCII, whatever is in it."""
    return json.dumps(entry, sort_keys=True, separators=(",", ":"), default=str)


def fields_of(entry: JournalEntry) -> Mapping[str, object]:
    """What an entry says, by name; nothing if somebody made something else of it."""
    try:
        found: object = json.loads(entry.text)
    except (ValueError, RecursionError):
        return {}
    return cast("Mapping[str, object]", found) if isinstance(found, dict) else {}


def following_hash(before: str, text: str) -> str:
    """The hash of an entry that comes after one with another hash."""
    return hashlib.sha256(f"{before}\n{text}".encode("utf-8", "surrogatepass")).hexdigest()


def append(db: "sqlite3.Connection", texts: Sequence[str]) -> None:
    """Add entries at the end of the chain, within a transaction that keeps other writers out."""
    last = db.execute("SELECT number, hash FROM journal ORDER BY number DESC LIMIT 1").fetchone()
    number, before = (int(last[0]), str(last[1])) if last else (0, FIRST)
    rows: list[int | str] = []
    for text in texts:
        number += 1
        before = following_hash(before, text)
        rows += (number, text, before)
    # Few statements: with each, a busy host gets the interpreter, and may keep it for a while.
    for start in range(0, len(rows), _ROW * _TOGETHER):
        some = rows[start : start + _ROW * _TOGETHER]
        marks = ", ".join(["(?, ?, ?)"] * (len(some) // _ROW))
        db.execute(f"INSERT INTO journal VALUES {marks}", some)  # noqa: S608 (marks alone)


def read_journal(path: Path, after: int | None = None) -> Iterator[JournalEntry]:
    """The entries, or those after a number, oldest first; none if there is no journal.

    Raises:
        StateError: If it cannot be read.
    """
    where = "WHERE number > ? ORDER BY number LIMIT ?"
    return _pages(path, where, _LOWEST if after is None else after)


def read_back(path: Path) -> Iterator[JournalEntry]:
    """The entries, newest first; who wants the last ones reads no others.

    Raises:
        StateError: If it cannot be read.
    """
    where = "WHERE number < ? ORDER BY number DESC LIMIT ?"
    return _pages(path, where, _HIGHEST)


def _pages(path: Path, where: str, start: int) -> Iterator[JournalEntry]:
    if not os.path.exists(path):
        return
    query = f"SELECT number, entry, hash FROM journal {where}"  # noqa: S608 (one of two texts)
    with _opened(path) as (db, version):
        # One that is only being made has no version yet, and no table.
        while version and (page := db.execute(query, (start, _PAGE)).fetchall()):
            for row in page:
                yield JournalEntry(number=row[0], text=row[1], hash=row[2])
            start = page[-1][0]


@contextmanager
def _opened(path: Path) -> "Generator[tuple[sqlite3.Connection, int]]":
    """A connection for reading, and the version: whatever it finds, the file stays what it is."""
    import sqlite3

    address = f"file:{quote(os.fsencode(path))}?mode=rw"
    db: sqlite3.Connection | None = None
    try:
        db = sqlite3.connect(address, uri=True, timeout=_BUSY_SECONDS, isolation_level=None)
        db.text_factory = _lenient
        db.execute("PRAGMA query_only = ON")
        version = int(db.execute("PRAGMA user_version").fetchone()[0])
        if version > _VERSION:
            text = f"is of a newer nacre (version {version}, this one knows {_VERSION})"
            raise StateError(f"the journal {path} {text}")
        yield db, version
    except sqlite3.Error as error:
        raise StateError(f"the journal {path} cannot be read: {error}") from error
    finally:
        if db is not None:
            db.close()


def _lenient(data: bytes) -> str:
    """Text that somebody wrote around us need not be any; no two become the same."""
    return data.decode("utf-8", "surrogateescape")


def forget(path: Path, through: int, at: str) -> int:
    """Remove the entries up to a number, and say so in a new one; how many were removed.

    That one has the hash of the last that is gone, so that the rest can still be proved.

    Raises:
        StateError: If it cannot be written.
    """
    import sqlite3

    def work(db: sqlite3.Connection) -> int:
        last = db.execute("SELECT hash FROM journal WHERE number = ?", (through,)).fetchone()
        if last is None:
            return 0
        append(db, [as_text({"at": at, FORGOT: {"through": through, "hash": last[0]}})])
        db.execute("DROP TRIGGER journal_is_kept")
        removed = db.execute("DELETE FROM journal WHERE number <= ?", (through,)).rowcount
        db.execute(_KEPT)
        return removed

    database = journal_database(path)
    try:
        removed = database.do(work)
    finally:
        database.close()
    if removed:
        _give_back(path)
    return removed


def _give_back(path: Path) -> None:
    """Let the disk have the room, and leave nothing of what was removed in the file."""
    import sqlite3

    try:
        with sqlite3.connect(path, timeout=_BUSY_SECONDS, isolation_level=None) as db:
            db.execute("VACUUM")
            db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        db.close()
    except sqlite3.Error as error:
        raise StateError(f"the journal {path} was shortened, but not its file: {error}") from error
