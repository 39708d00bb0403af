"""The SQLite file behind the store: opened, checked, and set aside when it is no good."""

import fcntl
import os
import re
import sqlite3
import threading
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import TypeVar
from weakref import WeakSet

from nacre.engine.private import make_private
from nacre.errors import StateError

__all__ = ("Database",)

_T = TypeVar("_T")
_BUSY_SECONDS = 20.0
_FORK_SECONDS = 2.0
_TABLE = r"CREATE TABLE (\w+)"


class Database:
    """A connection of this process, made on first use; safe for threads and processes.

    A file that is broken, or of a newer version, is set aside under another name
    and reported; it is never deleted. A fork finds it closed: a child that had a copy of the
    connection would believe in locks that it does not have.
    """

    def __init__(
        self, path: Path, schema: str, version: int, *, what: str = "job database"
    ) -> None:
        self._what = what
        self._path = path
        self._schema = schema
        self._version = version
        self._lock = threading.Lock()
        self._connection: sqlite3.Connection | None = None
        self._copied: sqlite3.Connection | None = None
        self.reports: list[str] = []
        _forks().add(self)

    def do(self, work: Callable[[sqlite3.Connection], _T], *, reading: bool = False) -> _T:
        """Do something in a transaction; once more if the file had to be set aside.

        Who only reads needs no room on the disk.

        Raises:
            StateError: If it cannot be done.
        """
        with self._lock:
            try:
                try:
                    return self._transact(work, reading=reading)
                except (sqlite3.OperationalError, sqlite3.IntegrityError):
                    raise
                except sqlite3.DatabaseError:
                    self._disconnect()
                    self._set_aside_if_bad(whole=True)
                    return self._transact(work, reading=reading)
            except sqlite3.Error as error:
                text = f"the {self._what} {self._path} cannot be used: {error}"
                raise StateError(text) from error

    def close(self) -> None:
        """Let go of the file."""
        with self._lock:
            self._disconnect()

    def let_go(self) -> bool:
        """Close it, and let nobody open it until `go_on`; false if it is in use for long."""
        if not self._lock.acquire(timeout=_FORK_SECONDS):
            return False
        self._disconnect()
        return True

    def go_on(self) -> None:
        """Let it be opened again."""
        self._lock.release()

    def begin_anew(self) -> None:
        """Be as new, in a child: nobody else is there who could use it, or let go of it."""
        # Kept: whoever closes a connection believes to be the last, and removes the log.
        self._copied, self._connection = self._connection, None
        self._lock = threading.Lock()

    def _transact(self, work: Callable[[sqlite3.Connection], _T], *, reading: bool) -> _T:
        if self._connection is None:
            self._connection = self._connect()
        with self._connection as db:
            db.execute("BEGIN" if reading else "BEGIN IMMEDIATE")
            return work(db)

    def _connect(self) -> sqlite3.Connection:
        try:
            make_private(self._path.parent)
        except OSError as error:
            text = f"the state directory {self._path.parent} cannot be made: {error.strerror}"
            raise StateError(text) from error
        self._set_aside_if_bad(whole=False)
        with _lock_of(self._path):
            db = _open(self._path)
            for pragma in ("journal_mode = WAL", "synchronous = NORMAL", "foreign_keys = ON"):
                db.execute(f"PRAGMA {pragma}")
            if _version(db) == 0:
                script = f"{self._schema} PRAGMA user_version = {self._version};"
                db.executescript(f"BEGIN IMMEDIATE; {script} COMMIT;")
        return db

    def _disconnect(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def _set_aside_if_bad(self, *, whole: bool) -> None:
        """Look at the file, at every page of it if asked, and move it out of the way."""
        with _lock_of(self._path):
            trouble = self._trouble(whole=whole) if self._path.exists() else None
            if trouble is None:
                return
            aside = f"{self._path}.aside-{time.time_ns()}"
            try:
                for suffix in ("-wal", "-shm", ""):
                    with suppress(FileNotFoundError):
                        Path(f"{self._path}{suffix}").rename(f"{aside}{suffix}")
            except OSError as error:
                text = f"the {self._what} {trouble}, and cannot be set aside: {error.strerror}"
                raise StateError(text) from error
        self.reports.append(f"the {self._what} {trouble}; it was set aside as {aside}")

    def _trouble(self, *, whole: bool) -> str | None:
        db = _open(self._path)
        try:
            version = _version(db)
            if version > self._version:
                return f"is of a newer nacre (version {version}, this one knows {self._version})"
            if _tables(db) != (set(re.findall(_TABLE, self._schema)) if version else set()):
                return "is broken (it has other tables than it should)"
            found = str(db.execute("PRAGMA quick_check(1)").fetchone()[0]) if whole else "ok"
        except sqlite3.OperationalError:
            raise
        except sqlite3.DatabaseError as error:
            return f"is broken ({error})"
        finally:
            db.close()
        return None if found == "ok" else f"is broken ({found.splitlines()[-1]})"


class _Forks:
    """The databases of this process, each closed while it forks."""

    def __init__(self) -> None:
        self._all: WeakSet[Database] = WeakSet()
        self._held = threading.local()
        os.register_at_fork(
            before=self._before, after_in_parent=self._in_parent, after_in_child=self._in_child
        )

    def add(self, database: Database) -> None:
        """One more."""
        self._all.add(database)

    def _before(self) -> None:
        self._held.databases = [each for each in list(self._all) if each.let_go()]

    def _in_parent(self) -> None:
        for each in self._held.databases:
            each.go_on()

    def _in_child(self) -> None:
        for each in list(self._all):
            each.begin_anew()


@cache
def _forks() -> _Forks:
    return _Forks()


@contextmanager
def _lock_of(path: Path) -> Generator[None]:
    """Let one process at a time open or set aside a database."""
    try:
        lock = os.open(f"{path}.lock", os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600)
    except OSError as error:
        raise StateError(f"{path}.lock cannot be made: {error.strerror}") from error
    try:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
    finally:
        os.close(lock)


def _open(path: Path) -> sqlite3.Connection:
    """Open or make the file, for its owner only; SQLite's other files follow it."""
    # Only one that is not there: closing any descriptor of a file gives up every lock that
    # this process has on it, those of SQLite's own connections included.
    with suppress(OSError):
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR | os.O_CLOEXEC, 0o600))
    return sqlite3.connect(
        path, timeout=_BUSY_SECONDS, isolation_level=None, check_same_thread=False
    )


def _tables(db: sqlite3.Connection) -> set[str]:
    return {str(row[0]) for row in db.execute("SELECT name FROM sqlite_master WHERE type='table'")}


def _version(db: sqlite3.Connection) -> int:
    return int(db.execute("PRAGMA user_version").fetchone()[0])
