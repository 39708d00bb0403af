"""A job's files: its output, and the record of how it ended."""

import fcntl
import json
import os
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

from nacre.errors import StateError
from nacre.model.value import dataclass
from nacre.process.keeper import RECORD_BYTES

__all__ = ("Ending", "JobFiles")


@dataclass(frozen=True, slots=True, kw_only=True)
class Ending:
    """How a job ended, as the warden wrote it down; `stopped` if it ended it itself.

    For each stream: `said` bytes came in all, the first `kept` are in the file,
    and the last `tail` follow there at `tail_at`.
    """

    outcome: str
    number: int
    ended: float
    stopped: bool
    said: tuple[int, ...]
    kept: tuple[int, ...]
    tail: tuple[int, ...]
    tail_at: tuple[int, ...]
    failure: str | None


class JobFiles:
    """Where the files of one job are, and what they say."""

    def __init__(self, folder: Path, job_id: str, streams: int) -> None:
        self.outputs = tuple(folder / f"{job_id}.{name}" for name in ("out", "err")[:streams])
        self.record = folder / f"{job_id}.record"

    def create(self) -> tuple[int, list[int]]:
        """Make the files; return the locked record and the outputs, open for writing.

        The record is written out in full now, so that a full disk cannot lose an
        exit code later.
        """
        opened: list[int] = []
        try:
            opened.extend(map(_create, (self.record, *self.outputs)))
            os.write(opened[0], b"{}".ljust(RECORD_BYTES - 1) + b"\n")
            fcntl.flock(opened[0], fcntl.LOCK_EX)
        except OSError:
            for fd in opened:
                os.close(fd)
            self.remove()
            raise
        return opened[0], opened[1:]

    def ending(self) -> Ending | None:
        """How the job ended; None if nobody wrote it down (yet).

        Raises:
            StateError: If that cannot be found out now.
        """
        found = self._read()
        for outcome in ("exited", "signaled"):
            if outcome in found:
                return Ending(
                    outcome=outcome,
                    number=found[outcome],
                    ended=found["ended"],
                    stopped=found["stopped"],
                    said=tuple(found["said"]),
                    kept=tuple(found["kept"]),
                    tail=tuple(found["tail"]),
                    tail_at=tuple(found["tail_at"]),
                    failure=found["failure"],
                )
        return None

    def progress(self, stream: int) -> tuple[int, int] | None:
        """Bytes said and kept of a stream, once no more are appended to its file."""
        found = self._read()
        if "kept" not in found:
            return None
        said, kept = int(found["said"][stream]), int(found["kept"][stream])
        grows = said == kept and not found.get(
            "closed", True
        )  # the record is about the other stream
        return None if grows else (said, kept)

    def _read(self) -> dict[str, Any]:
        try:
            found: dict[str, Any] = json.loads(self.record.read_bytes())
        except (FileNotFoundError, ValueError):
            return {}
        except OSError as error:
            raise StateError(f"{self.record} cannot be read: {error.strerror}") from error
        return found

    def attended(self) -> bool:
        """Whether a warden holds the job: only then can its record still be written.

        The lock is the warden's for as long as it lives, and the kernel's to
        take away; unlike a pid it cannot be another's.

        Raises:
            StateError: If that cannot be found out now.
        """
        try:
            file = os.open(self.record, os.O_RDONLY | os.O_CLOEXEC)
        except FileNotFoundError:
            return False
        except OSError as error:
            raise StateError(f"{self.record} cannot be read: {error.strerror}") from error
        try:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
        finally:
            os.close(file)
        return False

    def age(self) -> float:
        """Seconds since the record was last written."""
        try:
            return time.time() - self.record.stat().st_mtime
        except OSError:
            return 0.0

    def remove(self) -> None:
        """Delete what there is."""
        for path in (*self.outputs, self.record):
            with suppress(OSError):
                path.unlink()


def _create(path: Path) -> int:
    flags = os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_APPEND | os.O_CLOEXEC
    if path.suffix == ".record":
        flags &= ~os.O_APPEND  # pwrite(2) on an appending descriptor appends
    return os.open(path, flags, 0o600)
