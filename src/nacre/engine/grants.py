"""The grants of a state directory: what people allowed for always, until they take it back."""

import logging
import os
import threading
import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from nacre.engine.identity import identity
from nacre.model.approval import Grant, Scope

if TYPE_CHECKING:
    import sqlite3

    from nacre.engine.database import Database

__all__ = ("GRANTS", "Grants")

_T = TypeVar("_T")
_LOG = logging.getLogger("nacre")

# Its name in a state directory.
GRANTS = "grants.db"
_VERSION = 1
_SCHEMA = """
CREATE TABLE grants (
    id TEXT PRIMARY KEY, rule TEXT NOT NULL, conversation TEXT NOT NULL, folder TEXT NOT NULL,
    held TEXT NOT NULL, at REAL NOT NULL, UNIQUE (conversation, folder, held, rule)
) STRICT;
"""
_ID_BYTES = 4


class Grants:
    """Grants by their scope; shared by processes, and read anew each time: one can be revoked.

    Removing the file revokes them all.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._database: Database | None = None
        self._file: tuple[int, int] | None = None
        self._lock = threading.Lock()

    def within(self, scope: Scope) -> tuple[Grant, ...]:
        """The grants that count in a scope.

        Raises:
            StateError: If they cannot be read.
        """
        if identity(self.path) is None:
            return ()
        where = "WHERE conversation = ? AND folder = ? AND held = ? ORDER BY at"
        return self._select(where, (scope.conversation, scope.folder, scope.held))

    def all(self) -> tuple[Grant, ...]:
        """Every grant, oldest first.

        Raises:
            StateError: If they cannot be read.
        """
        return self._select("ORDER BY at, id", ()) if identity(self.path) else ()

    def add(self, rule: str, scope: Scope) -> None:
        """Remember a rule; one that is known already is left as it is.

        Raises:
            StateError: If it cannot be written.
        """
        row = (
            os.urandom(_ID_BYTES).hex(), rule,
            scope.conversation, scope.folder, scope.held, time.time(),
        )  # fmt: skip
        self._do(
            lambda db: db.execute(
                "INSERT INTO grants VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING", row
            )
        )

    def revoke(self, grant_id: str) -> bool:
        """Forget a grant; false if there is none of that id.

        Raises:
            StateError: If it cannot be written.
        """
        if identity(self.path) is None:
            return False
        return self._do(
            lambda db: db.execute("DELETE FROM grants WHERE id = ?", (grant_id,)).rowcount > 0
        )

    def close(self) -> None:
        """Let go of the file."""
        with self._lock:
            self._forget_file()

    def _select(self, clause: str, values: tuple[str, ...]) -> tuple[Grant, ...]:
        query = f"SELECT id, rule, conversation, folder, held, at FROM grants {clause}"  # noqa: S608
        rows = self._do(lambda db: db.execute(query, values).fetchall(), reading=True)
        return tuple(
            Grant(
                id=row[0],
                rule=row[1],
                scope=Scope(conversation=row[2], folder=row[3], held=row[4]),
                at=datetime.fromtimestamp(row[5], tz=UTC),
            )
            for row in rows
        )

    def _do(self, work: "Callable[[sqlite3.Connection], _T]", *, reading: bool = False) -> _T:
        with self._lock:
            if self._file != identity(self.path):
                self._forget_file()  # what is open was removed, or replaced
            if self._database is None:
                # Not before: most calls have no use for SQLite, and it takes 50 ms to import.
                from nacre.engine.database import Database

                self._database = Database(self.path, _SCHEMA, _VERSION, what="grants database")
            done = self._database.do(work, reading=reading)
            while self._database.reports:
                _LOG.warning("%s", self._database.reports.pop())
            self._file = identity(self.path)
            return done

    def _forget_file(self) -> None:
        if self._database is not None:
            self._database.close()
        self._database = None
