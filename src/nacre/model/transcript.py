"""What a command said, in bytes."""

from pathlib import PurePath

from nacre.model.value import dataclass

__all__ = ("Limit", "Spill", "Transcript")


@dataclass(frozen=True, slots=True, kw_only=True)
class Limit:
    """How many bytes are kept: the first and the last in memory, the first on disk.

    `spill` is the cap of the spill file; 0 keeps none. It is made when more than
    `inline` bytes were said, or when memory does not hold them all; at the end of a
    run also if that is more than `lines`, or anything at all that a timeout
    `cut_short`.
    """

    head: int
    tail: int
    spill: int = 0
    inline: int | None = None
    lines: int | None = None
    cut_short: bool = False

    @property
    def unspilled(self) -> int:
        """Bytes that can be said before a spill file is needed."""
        whole = self.head + self.tail
        return whole if self.inline is None else min(whole, self.inline)


@dataclass(frozen=True, slots=True, kw_only=True)
class Spill:
    """The file with the raw bytes that did not fit, from the first one on.

    `kept` bytes are in the file. A `failure` is why there is no file, or no
    whole one, in the operating system's words.
    """

    path: PurePath | None
    kept: int = 0
    failure: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Transcript:
    """What a process said, within a limit.

    `head` and `tail` never overlap; `omitted` bytes lay between them. `start` is
    the offset of the first byte of `head` in the whole stream.
    """

    head: bytes = b""
    tail: bytes = b""
    omitted: int = 0
    start: int = 0
    spill: Spill | None = None

    @property
    def total(self) -> int:
        """Bytes said in all, kept or not."""
        return len(self.head) + self.omitted + len(self.tail)

    @property
    def hidden(self) -> tuple[int, int]:
        """The byte range of the stream that was not kept, as [first, end)."""
        first = self.start + len(self.head)
        return first, first + self.omitted
