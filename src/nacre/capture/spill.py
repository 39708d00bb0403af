"""The file with what did not fit the transcript: raw bytes, from the first one on."""

import os
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from nacre.model.transcript import Spill

__all__ = ("SpillFile",)


class SpillFile:
    """A capped file, made when the first byte comes, where `prepare` then says.

    A full disk or a directory that cannot be written costs the file, never the
    run: writing then does nothing, and the failure is told in the `Spill`.
    """

    def __init__(self, cap: int, prepare: Callable[[], Path]) -> None:
        self._cap = cap
        self._prepare = prepare
        self._file: int | None = None
        self.path: Path | None = None
        self.kept = 0
        self.failure: str | None = None

    @property
    def full(self) -> bool:
        """Whether nothing more will be written to it."""
        return self.failure is not None or self.kept >= self._cap

    def write(self, data: bytes | memoryview) -> None:
        """Append what still fits under the cap."""
        data = memoryview(data)[: self._cap - self.kept]
        if self.failure or not data:
            return
        try:
            if self._file is None:
                self._open()
            while data and self._file is not None:
                written = os.write(self._file, data)
                self.kept += written
                data = data[written:]
        except OSError as error:
            self.failure = error.strerror or str(error)
            self.remove()

    def _open(self) -> None:
        self.path = self._prepare()
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_APPEND | os.O_CLOEXEC
        self._file = os.open(self.path, flags, 0o600)

    def value(self) -> Spill | None:
        """What a reader should know of the file; None if none was needed."""
        if self.path is None and self.failure is None:
            return None
        return Spill(path=self.path, kept=self.kept, failure=self.failure)

    def close(self) -> None:
        """Stop writing; the file stays for its owner to remove."""
        if self._file is not None:
            os.close(self._file)
            self._file = None

    def remove(self) -> None:
        """Close and delete the file."""
        self.close()
        if self.path is not None:
            with suppress(OSError):
                self.path.unlink()
            self.path = None
            self.kept = 0
