"""What is new in a job's output, for one reader.

A cursor is an offset in what the job said, not in the file: when bytes were not
kept, a reader moves past them and is told how many they were.
"""

import codecs
import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Self

from nacre.capture.recorder import Recorder
from nacre.engine.pattern import Pattern
from nacre.engine.record import Ending, JobFiles
from nacre.model.job import JobOutput
from nacre.model.transcript import Limit, Spill, Transcript
from nacre.model.value import dataclass

__all__ = ("LINE_BYTES", "News", "OutputFile")

_CHUNK = 1 << 18
# A longer line is looked at in pieces of this size.
LINE_BYTES = 1 << 16
_NEWLINE = b"\n"


@dataclass(frozen=True, slots=True, kw_only=True)
class News:
    """What a reader has not seen yet, and where it stands after seeing it."""

    transcript: Transcript
    cursor: int


class OutputFile:
    """The output of one stream of a job, while it runs and after."""

    def __init__(self, files: JobFiles, stream: int) -> None:
        self._files = files
        self._path = files.outputs[stream]
        self._stream = stream

    def size(self, ending: Ending | None) -> int:
        """Bytes from the start of the stream that are in the file."""
        return self._extent()[0] if ending is None else ending.kept[self._stream]

    def _extent(self) -> tuple[int, int | None]:
        """Bytes that are in the file now, and how many were said, if its file is full.

        Both are of one moment: what is appended between two looks is not skipped.
        """
        try:
            size = self._path.stat().st_size
        except OSError:
            size = 0
        # In this order: what follows the job's own words is written after the record.
        progress = self._files.progress(self._stream)
        return (size, None) if progress is None else (progress[1], progress[0])

    def range(self, start: int, most: int, beside: int, ending: Ending | None) -> JobOutput:
        """Some bytes from an offset on, with what stands before and after them."""
        kept = self.size(ending)
        start = min(start, kept)
        end = min(kept, start + most)
        with _File(self._path) as file:
            return JobOutput(
                data=_read(file, start, end),
                start=start,
                end=end,
                kept=kept,
                running=ending is None,
                before=_read(file, max(0, start - beside), start),
                after=_read(file, end, min(kept, end + beside)),
            )

    def news(self, cursor: int, limit: Limit, ending: Ending | None) -> News:
        """Everything since the cursor, within a limit."""
        size, said = self._extent() if ending is None else (ending.kept[self._stream], None)
        with _File(self._path) as file:
            if ending is None:
                size -= _unfinished(_read(file, max(cursor, size - 3), size))
            recorder = Recorder(limit)
            for data in _between(file, cursor, size, limit):
                if isinstance(data, int):
                    recorder.skip(data)
                else:
                    recorder.feed(memoryview(data))
            end = max(cursor, size)
            if ending is not None:
                end = max(end, self._feed_unkept(file, recorder, cursor, ending))
            elif said is not None:
                recorder.skip(said - end)  # said, but the file is full
                end = max(end, said)
        failure = ending.failure if ending is not None else None
        spill = Spill(path=self._path, kept=size, failure=failure)
        return News(transcript=replace(recorder.transcript(spill), start=cursor), cursor=end)

    def _feed_unkept(self, file: "_File", recorder: Recorder, cursor: int, ending: Ending) -> int:
        """Count what was never kept, then take the last words; return the stream's end."""
        said, kept = ending.said[self._stream], ending.kept[self._stream]
        tail, tail_at = ending.tail[self._stream], ending.tail_at[self._stream]
        if said > max(kept, cursor):
            recorder.skip(said - tail - max(kept, min(cursor, said - tail)))
            seen = max(0, cursor - (said - tail))
            recorder.feed(memoryview(_read(file, tail_at + seen, tail_at + tail)))
        return said

    def matching(self, cursor: int, limit: Limit, pattern: Pattern, ending: Ending | None) -> News:
        """The whole lines since the cursor that match; an unfinished one waits."""
        recorder = Recorder(limit)
        end = cursor
        for line, after in self.lines(cursor, ending):
            if line.endswith(_NEWLINE) or ending is not None or len(line) >= LINE_BYTES:
                end = after
                if pattern.matches(line):
                    recorder.feed(memoryview(line))
        if ending is not None:
            end = max(end, ending.said[self._stream])
        return News(transcript=recorder.transcript(), cursor=end)

    def lines(self, cursor: int, ending: Ending | None) -> Iterator[tuple[bytes, int]]:
        """Each line since the cursor, with the offset behind it; the last may be unfinished."""
        size = self.size(ending)
        with _File(self._path) as file:
            rest, at = b"", cursor
            while at < size:
                data = _read(file, at, min(size, at + _CHUNK))
                if not data:
                    return
                at += len(data)
                *lines, rest = (rest + data).split(_NEWLINE)
                whole = [line + _NEWLINE for line in lines]
                if rest and (len(rest) >= LINE_BYTES or at >= size):
                    whole.append(rest)
                    rest = b""
                behind = at - len(rest) - sum(map(len, whole))
                for line in whole:
                    behind += len(line)
                    yield line, behind


class _File:
    """A descriptor that may not be there: a job's file can be gone with its job."""

    def __init__(self, path: Path) -> None:
        try:
            self.fd: int | None = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
        except OSError:
            self.fd = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self.fd is not None:
            os.close(self.fd)


def _read(file: _File, start: int, end: int) -> bytes:
    return b"" if file.fd is None or end <= start else os.pread(file.fd, end - start, start)


def _between(file: _File, start: int, end: int, limit: Limit) -> Iterator[bytes | int]:
    """The bytes of a range, or, where a limit keeps none of them, how many they are."""
    skip_to = max(start + limit.head, end - limit.tail)
    at = start
    while at < end:
        if start + limit.head <= at < skip_to:
            yield skip_to - at
            at = skip_to
            continue
        stop = min(end, at + _CHUNK, start + limit.head if at < start + limit.head else end)
        data = _read(file, at, stop)
        if not data:
            return
        yield data
        at += len(data)


def _unfinished(tail: bytes) -> int:
    """How many bytes at the end are the beginning of a UTF-8 character."""
    decoder = codecs.getincrementaldecoder("utf-8")("replace")
    decoder.decode(tail)
    return len(decoder.getstate()[0])
