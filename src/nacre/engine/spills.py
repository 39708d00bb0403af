"""Where spill files live, and until when.

A host's spills are in a folder of its own, which it locks and removes when it
closes. The folder of a host that was killed has no lock any more, and is removed
by the next host that spills. A caller may name another folder for them: then only
the files in it are ours.
"""

import fcntl
import os
import threading
import time
from contextlib import suppress
from pathlib import Path
from weakref import finalize

from nacre.capture.spill import SpillFile
from nacre.engine.private import make_private
from nacre.engine.retention import Retention
from nacre.errors import StateError

__all__ = ("Spills",)

_LOCK = "lock"
_KEPT = "kept"
_YOUNG_SECONDS = 60.0
_NAME = "bash-"
_HEX = "[0-9a-f]" * 12


class Spills:
    """Makes spill files under a state directory.

    With a retention they stay for later calls, until it expires; without one
    they go when `close` is called.
    """

    def __init__(
        self, root: Path, retention: Retention | None = None, given: Path | None = None
    ) -> None:
        self._root = root
        self._retention = retention
        self._given = given
        self._made: list[Path] = []
        if given is not None and retention is None:
            # For a tool that nobody closes; not in a process that it was forked into.
            finalize(self, _remove_files, self._made, os.getpid())
        self._folder = root / (_KEPT if retention else f"{os.getpid()}-{os.urandom(4).hex()}")
        self._lock = threading.Lock()
        self._claim: int | None = None

    def file(self, cap: int) -> SpillFile:
        """A spill file, not made until something is written to it."""
        return SpillFile(cap, self._prepare)

    def require(self) -> None:
        """Make the folder that a caller named, if one did.

        Raises:
            StateError: If it cannot be made or written.
        """
        if self._given is None:
            return
        try:
            self._given.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise StateError(f"{self._given}: {error.strerror}") from error
        if not os.access(self._given, os.W_OK | os.X_OK):
            raise StateError(f"{self._given}: it cannot be written")

    def _prepare(self) -> Path:
        """Where the next file goes; its folder is there from then on."""
        name = f"{os.urandom(6).hex()}.log"
        if self._given is None:
            self._claim_folder()
            return self._folder / f"{_NAME}{name}"
        with self._lock:
            self._given.mkdir(parents=True, exist_ok=True)
            if self._retention is not None and not self._made:
                _expire(self._given, f"{_NAME}{_HEX}.log", self._retention)
            self._made.append(self._given / f"{_NAME}{name}")
            return self._made[-1]

    def _claim_folder(self) -> None:
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
                _expire(self._folder, "*.log", self._retention)
            _remove_orphans(self._root)

    def close(self) -> None:
        """Remove the spills of this host, unless they are kept."""
        with self._lock:
            if self._retention is None:
                _remove_files(self._made, os.getpid())
            if self._claim is not None:
                os.close(self._claim)
                self._claim = None
                if self._retention is None:
                    _remove(self._folder)


def _remove_files(paths: list[Path], owner: int) -> None:
    while paths and owner == os.getpid():
        with suppress(OSError):
            paths.pop().unlink()


def _expire(folder: Path, pattern: str, retention: Retention) -> None:
    oldest = time.time() - retention.age.total_seconds()
    found = sorted(folder.glob(pattern), key=_written, reverse=True)
    for place, path in enumerate(found):
        if place >= retention.count or _written(path) < oldest:
            with suppress(OSError):
                path.unlink()


def _remove_orphans(root: Path) -> None:
    for folder in root.iterdir():
        young = time.time() - _written(folder) < _YOUNG_SECONDS  # perhaps not locked yet
        if folder.name != _KEPT and not young and _unclaimed(folder):
            _remove(folder)


def _remove(folder: Path) -> None:
    import shutil

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
