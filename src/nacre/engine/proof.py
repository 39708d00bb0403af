"""Whether a journal is as it was written: its hashes computed again, from the first entry on."""

from collections.abc import Mapping
from pathlib import Path
from typing import cast

from nacre.engine.chain import (
    FIRST,
    FORGOT,
    JournalEntry,
    fields_of,
    following_hash,
    read_journal,
)
from nacre.errors import StateError
from nacre.model.value import dataclass

__all__ = ("Proof", "prove", "set_aside")

_CHANGED = "its hash is not that of its text and of the entry before"
_UNEXPLAINED = "the entries before it are missing, and none says that they were removed"


@dataclass(frozen=True, slots=True, kw_only=True)
class Proof:
    """What came of proving a journal.

    `entries` are those that are as they were written, `hash` that of the last one of them.
    `broken` is the number of the first entry that is not, None if there is none; `why` says
    what is wrong with it. `forgotten` is the number up to which entries were removed
    by a person. `found` says whether an entry has the hash that was asked for.
    """

    entries: int = 0
    hash: str = FIRST
    forgotten: int = 0
    broken: int | None = None
    why: str = ""
    text: str = ""
    found: bool = False


def prove(path: Path, has: str = "") -> Proof:
    """Compute the chain again, up to the first entry that is not as it was written.

    `has` is the beginning of a hash that was noted elsewhere.

    Raises:
        StateError: If nothing of it can be read.
    """
    chain = _Chain(has)
    try:
        for entry in read_journal(path):
            if why := chain.follow(entry):
                return chain.proof(broken=entry.number, why=why, text=entry.text)
    except StateError as error:
        if not chain.number:
            raise
        return chain.proof(broken=chain.number + 1, why=str(error))
    if chain.unexplained is not None:
        first = chain.unexplained
        return Proof(broken=first.number, why=_UNEXPLAINED, text=first.text)
    return chain.proof()


class _Chain:
    """Follows entries, and remembers what it needs of those before."""

    def __init__(self, has: str) -> None:
        self._has = has
        self._found = False
        self._entries = 0
        self._hash = FIRST
        self._forgotten = 0
        self.number = 0
        # The first entry, as long as none has said what became of those before it.
        self.unexplained: JournalEntry | None = None

    def follow(self, entry: JournalEntry) -> str:
        """What is wrong with the next entry; nothing if it is as it was written."""
        if not self.number and entry.number > 1:
            self.unexplained, self._forgotten = entry, entry.number - 1
        elif entry.number != self.number + 1:
            return f"entry {self.number + 1} is missing"
        elif entry.hash != following_hash(self._hash, entry.text):
            return _CHANGED
        if self.unexplained is not None and _explains(entry, self.unexplained):
            self.unexplained = None
        self.number, self._hash = entry.number, entry.hash
        self._entries += 1
        self._found = self._found or (bool(self._has) and entry.hash.startswith(self._has))
        return ""

    def proof(self, *, broken: int | None = None, why: str = "", text: str = "") -> Proof:
        """What is known by now."""
        return Proof(
            entries=self._entries,
            hash=self._hash,
            forgotten=self._forgotten,
            broken=broken,
            why=why,
            text=text,
            found=self._found,
        )


def _explains(entry: JournalEntry, first: JournalEntry) -> bool:
    """Whether an entry says that those before the first were removed, and what the last was."""
    said = fields_of(entry).get(FORGOT)
    if not isinstance(said, dict):
        return False
    forgot = cast("Mapping[str, object]", said)
    return (
        forgot.get("through") == first.number - 1
        and following_hash(str(forgot.get("hash")), first.text) == first.hash
    )


def set_aside(path: Path) -> list[Path]:
    """Journals that could not be gone on with, and were given another name; oldest first."""
    found = path.parent.glob(f"{path.name}.aside-*") if path.parent.is_dir() else ()
    return sorted(each for each in found if not each.name.endswith(("-wal", "-shm")))
