"""Where spill files live, and until when.

A host's spills are in a folder of its own, which it locks and removes when it
closes. The folder of a host that was killed has no lock any more, and is removed
by the next host that spills.
"""

import fcntl
import os
import secrets
import shutil
import threading
import time
from contextlib import suppress
from pathlib import Path

from nacre.capture.spill import SpillFile
from nacre.engine.ledger import Retention
from nacre.engine.private import make_private

__all__ = ("Spills",)

_LOCK = "lock"
_KEPT = "kept"
_YOUNG_SECONDS = 60.0


class Spills:
    """Makes spill files under a state directory.

    With a retention they stay for later calls, until it expires; without one
    they go when `close` is called.
    """

    def __init__(self, root: Path, retention: Retention | None = None) -> None:
        self._root = root
        self._retention = retention
        self._folder = root / (_KEPT if retention else f"{os.getpid()}-{secrets.token_hex(4)}")
        self._lock = threading.Lock()
        self._claim: int | None = None

    def file(self, cap: int) -> SpillFile:
        """A spill file, not made until something is written to it."""
        return SpillFile(self._folder, cap, self._prepare)

    def _prepare(self) -> None:
        """Claim the folder, once, and clear away what others left."""
        with self._lock:
            make_private(self._folder)
            if self._claim is not None:
                return
            self._claim = os.open(
                self._folder / _LOCK, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600
            )
            if self._retention is None:
                fcntl.flock(self._claim, fcntl.LOCK_EX)
            else:
                _expire(self._folder, self._retention)
            _remove_orphans(self._root)

    def close(self) -> None:
        """Remove the spills of this host, unless they are kept."""
        with self._lock:
            if self._claim is not None:
                os.close(self._claim)
                self._claim = None
                if self._retention is None:
                    shutil.rmtree(self._folder, ignore_errors=True)


def _expire(folder: Path, retention: Retention) -> None:
    oldest = time.time() - retention.age.total_seconds()
    found = sorted(folder.glob("*.log"), key=_written, reverse=True)
    for place, path in enumerate(found):
        if place >= retention.count or _written(path) < oldest:
            with suppress(OSError):
                path.unlink()


def _remove_orphans(root: Path) -> None:
    for folder in root.iterdir():
        young = time.time() - _written(folder) < _YOUNG_SECONDS  # perhaps not locked yet
        if folder.name != _KEPT and not young and _unclaimed(folder):
            shutil.rmtree(folder, ignore_errors=True)


def _unclaimed(folder: Path) -> bool:
    try:
        lock = os.open(folder / _LOCK, os.O_RDWR | os.O_CLOEXEC)
    except OSError:
        return False  # not one of ours, or just being made
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    finally:
        os.close(lock)
    return True


def _written(path: Path) -> float:
    try:
        return path.stat().st_mtime
    except OSError:
        return 0.0
