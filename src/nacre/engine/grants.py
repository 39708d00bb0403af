"""The grants of a state directory: what people allowed for always, until they take it back."""

import secrets
import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from nacre.model.approval import Grant, Scope

if TYPE_CHECKING:
    import sqlite3

    from nacre.engine.database import Database

__all__ = ("GRANTS", "Grants")

_T = TypeVar("_T")

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
    """Grants by their scope; shared by processes, and read anew each time: one can be revoked."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._database: Database | None = None

    def within(self, scope: Scope) -> tuple[Grant, ...]:
        """The grants that count in a scope.

        Raises:
            StateError: If they cannot be read.
        """
        if not self.path.exists():
            return ()
        where = "WHERE conversation = ? AND folder = ? AND held = ? ORDER BY at"
        return self._select(where, (scope.conversation, scope.folder, scope.held))

    def all(self) -> tuple[Grant, ...]:
        """Every grant, oldest first.

        Raises:
            StateError: If they cannot be read.
        """
        return self._select("ORDER BY at, id", ()) if self.path.exists() else ()

    def add(self, rule: str, scope: Scope) -> None:
        """Remember a rule; one that is known already is left as it is.

        Raises:
            StateError: If it cannot be written.
        """
        row = (
            secrets.token_hex(_ID_BYTES), rule,
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
        if not self.path.exists():
            return False
        return self._do(
            lambda db: db.execute("DELETE FROM grants WHERE id = ?", (grant_id,)).rowcount > 0
        )

    def close(self) -> None:
        """Let go of the file."""
        if self._database is not None:
            self._database.close()

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
        if self._database is None:
            # Not before: most calls have no use for SQLite, and it takes 50 ms to import.
            from nacre.engine.database import Database

            self._database = Database(self.path, _SCHEMA, _VERSION, what="grants database")
        return self._database.do(work, reading=reading)
