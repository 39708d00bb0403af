"""The record of what happened: an entry for each call, and one more if it takes its time.

Entries are written by a thread of their own, several at once: a call never waits for the
disk, and what a killed host had not written yet is no older than a tenth of a second. A call
that is not over by then is written down as begun: so it is seen if its host dies.
"""

import atexit
import itertools
import logging
import os
import threading
import time
from collections import deque
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from nacre.engine.chain import (
    JOURNAL,
    JournalEntry,
    append,
    as_text,
    journal_database,
    read_journal,
)
from nacre.engine.identity import identity
from nacre.errors import StateError
from nacre.process.marks import mark_of

if TYPE_CHECKING:
    from nacre.engine.database import Database

__all__ = ("JOURNAL", "Journal", "JournalEntry", "moment", "read_journal")

_LOG = logging.getLogger("nacre")
# Several entries share one write. The rest of a tenth of a second is for the write itself: in a
# host that computes all the time, the thread gets the interpreter every 5 ms, some ten times.
_GATHER_SECONDS = 0.02
# What is over by then has no entry from its beginning.
_SOON_SECONDS = 0.03
# As long after the last call it looks by itself whether there is another: to wake a thread takes a
# call longer than to leave it a note.
_AWAKE_SECONDS = 2.0
_CLOSE_SECONDS = 5.0
_MOST_WAITING = 10_000

_Told = Callable[[], Mapping[str, object]]


class Journal:
    """Takes entries from any thread, and writes them soon; nothing is raised and nothing waits.

    A disk that is full costs no call: entries wait for the next write, and those
    that cannot wait any longer are counted. What comes after it was closed is written, too.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._begin_anew()

    def _begin_anew(self) -> None:
        """Have nothing to do: in a forked child, what is waiting is the parent's to write."""
        self._pid = os.getpid()
        self._waiting: deque[_Told] = deque()
        self._begun: dict[int, tuple[float, _Told]] = {}
        self._numbers = itertools.count()
        self._lost = 0
        self._lock = threading.Lock()
        self._some = threading.Event()
        self._awake = False
        self._closing = threading.Event()
        self._thread: threading.Thread | None = None
        self._file: tuple[int, int] | None = None
        self._complained = False

    def begin(self, told: _Told) -> int:
        """Take note of a call that begins. `told` gives an entry of it, should it not end soon."""
        self._require_own()
        with self._lock:
            number = next(self._numbers)
            self._begun[number] = (time.monotonic(), told)
            self._wake()
        return number

    def end(self, begun: int, told: _Told) -> None:
        """Take note of a call that has ended; `told` gives its entry, on another thread."""
        self._require_own()
        with self._lock:
            self._begun.pop(begun, None)
            self._keep(told)
            self._wake()

    def write(self, entry: Mapping[str, object]) -> None:
        """Take an entry."""
        self._require_own()
        with self._lock:
            self._keep(lambda: entry)
            self._wake()

    def close(self) -> None:
        """Have everything written. Safe to call again."""
        self._require_own()
        atexit.unregister(self.close)
        with self._lock:
            thread = self._thread
            self._closing.set()
        self._some.set()
        if thread is not None:
            thread.join(_CLOSE_SECONDS)

    def _require_own(self) -> None:
        if self._pid != os.getpid():
            self._begin_anew()

    def _keep(self, told: _Told) -> None:
        self._waiting.append(told)
        self._lose_what_is_too_much()

    def _lose_what_is_too_much(self) -> None:
        while len(self._waiting) > _MOST_WAITING:
            self._waiting.popleft()
            self._lost += 1

    def _wake(self) -> None:
        """See to it that there is a thread, and that it looks."""
        if self._awake:
            return
        if self._thread is None or not self._thread.is_alive():
            late = self._closing.is_set()
            if not late:
                atexit.register(self.close)
            # One that comes late writes what there is, ends, and is waited for at the exit.
            thread = threading.Thread(target=self._live, name="nacre-journal", daemon=not late)
            with suppress(RuntimeError):  # an interpreter that ends starts no thread any more
                thread.start()
                self._thread = thread
        self._some.set()

    def _live(self) -> None:
        try:
            database = journal_database(self._path)
        except ImportError as error:  # a Python without SQLite, or one that was forked just now
            self._complain(str(error))
            return
        busy = time.monotonic()
        try:
            while True:
                self._rest(idle=time.monotonic() > busy + _AWAKE_SECONDS)
                self._closing.wait(_GATHER_SECONDS)
                # What fails before is tried once more: it may go well by now.
                closing = self._closing.is_set()
                if self._waiting or self._begun:
                    busy = time.monotonic()
                stored = self._store(database)
                with self._lock:
                    if closing and not (self._waiting and stored):
                        self._thread, self._awake = None, False
                        break
        finally:
            self._awake = False
            database.close()

    def _rest(self, *, idle: bool) -> None:
        """Wait until there is something, if it is not so likely that it is just looked for."""
        with self._lock:
            self._awake = not (idle or self._closing.is_set())
            if self._awake or self._waiting:
                return
            self._some.clear()
        self._some.wait(self._patience())

    def _store(self, database: "Database") -> bool:
        """Write what is waiting; whether that could be done."""
        with self._lock:
            self._announce()
            entries = list(self._waiting)
            self._waiting.clear()
            lost, self._lost = self._lost, 0
        counted = [{"at": moment(time.time()), "lost": lost}] if lost else []
        texts = [as_text(entry) for entry in (*counted, *(told() for told in entries))]
        try:
            if texts:
                self._write(database, texts)
        except StateError as error:
            with self._lock:
                self._waiting.extendleft(reversed(entries))
                self._lost += lost
                self._lose_what_is_too_much()
            self._complain(str(error))
            return False
        return True

    def _patience(self) -> float | None:
        """How long there is nothing to do, unless something comes."""
        with self._lock:
            first = next(iter(self._begun.values()), None)
        return None if first is None else max(0.0, first[0] + _SOON_SECONDS - time.monotonic())

    def _announce(self) -> None:
        """Have those calls written down that began a while ago and are not over."""
        ripe = time.monotonic() - (0 if self._closing.is_set() else _SOON_SECONDS)
        # They are in the order in which they began.
        for number, (began, told) in list(self._begun.items()):
            if began > ripe:
                break
            del self._begun[number]
            self._keep(told)

    def _write(self, database: "Database", texts: list[str]) -> None:
        if self._file != identity(self._path):
            database.close()  # what is open was removed, or replaced
        database.do(lambda db: append(db, texts))
        self._file = identity(self._path)
        while database.reports:
            report = database.reports.pop()
            self._complain(report)
            self.write({"at": moment(time.time()), "set_aside": report})

    def _complain(self, trouble: str) -> None:
        if not self._complained:
            self._complained = True
            # Inside another nacre it is no news that its state directory cannot be written.
            level = logging.INFO if mark_of(0) else logging.WARNING
            _LOG.log(level, "the journal is not as it should be: %s", trouble)


def moment(seconds: float) -> str:
    """A time of the clock on the wall, as it stands in entries."""
    whole = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(seconds))
    return f"{whole}.{int(seconds % 1 * 1000):03d}Z"
