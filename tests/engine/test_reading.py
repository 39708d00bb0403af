import os
import tempfile
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from nacre.engine.pattern import compile_pattern
from nacre.engine.reading import OutputFile
from nacre.engine.record import Ending, JobFiles
from nacre.model.transcript import Limit

_WIDE = Limit(head=10_000, tail=0)
_limits = st.builds(Limit, head=st.integers(0, 30), tail=st.integers(0, 30))


def _ending(said: int, kept: int, tail: int = 0, tail_at: int = 0) -> Ending:
    return Ending(
        outcome="exited", number=0, ended=0.0, stopped=False, said=(said,), kept=(kept,),
        tail=(tail,), tail_at=(tail_at,), failure=None,
    )  # fmt: skip


@given(pieces=st.lists(st.binary(max_size=30), max_size=12), limit=_limits)
def test_every_byte_is_told_or_counted_exactly_once(pieces: list[bytes], limit: Limit) -> None:
    path = _new_file()
    output = _output(path)
    cursor = total = 0
    for piece in pieces:
        with path.open("ab") as file:
            file.write(piece)
        news = output.news(cursor, limit, None)
        assert news.transcript.start == cursor
        assert cursor + news.transcript.total == news.cursor
        total += news.transcript.total
        cursor = news.cursor
    whole = b"".join(pieces)
    last = output.news(cursor, limit, _ending(len(whole), len(whole)))
    assert total + last.transcript.total == len(whole) == last.cursor


class _Filling(JobFiles):
    """A job whose file fills up right after the first look at its record."""

    looks = 0

    def progress(self, stream: int) -> tuple[int, int] | None:
        self.looks += 1
        if self.looks == 1:
            with self.outputs[stream].open("ab") as file:
                file.write(b"more")
            return None
        return 100, 8


def test_what_is_appended_during_a_look_is_told_in_the_next_and_not_skipped() -> None:
    path = _new_file()
    path.write_bytes(b"some")
    files = _Filling(path.parent, path.name, 1)
    files.outputs = (path,)
    output = OutputFile(files, 0)
    first = output.news(0, _WIDE, None)
    assert (first.transcript.head, first.transcript.omitted, first.cursor) == (b"some", 0, 4)
    second = output.news(first.cursor, _WIDE, None)
    assert (second.transcript.head, second.transcript.omitted, second.cursor) == (b"more", 92, 100)


@given(st.lists(st.text(max_size=8), max_size=12))
def test_a_character_is_never_split_between_two_polls(pieces: list[str]) -> None:
    path = _new_file()
    whole = "".join(pieces).encode("utf-8", "replace")
    output, cursor, told = _output(path), 0, ""
    for byte in whole:
        with path.open("ab") as file:
            file.write(bytes([byte]))
        news = output.news(cursor, _WIDE, None)
        told += news.transcript.head.decode("utf-8")
        cursor = news.cursor
    assert told == whole.decode("utf-8")


@given(st.lists(st.sampled_from(["a", "b", "aa\n", "b\n", "\n"]), max_size=20))
def test_a_filter_finds_each_matching_line_once(pieces: list[str]) -> None:
    path = _new_file()
    output, cursor, told = _output(path), 0, b""
    pattern = compile_pattern("a")
    whole = "".join(pieces).encode()
    for piece in pieces:
        with path.open("ab") as file:
            file.write(piece.encode())
        news = output.matching(cursor, _WIDE, pattern, None)
        told += news.transcript.head
        cursor = news.cursor
    news = output.matching(cursor, _WIDE, pattern, _ending(len(whole), len(whole)))
    told += news.transcript.head
    lines = whole.splitlines(keepends=True)
    assert told == b"".join(line for line in lines if b"a" in line)


def test_what_was_not_kept_is_counted_and_the_last_words_are_told(tmp_path: Path) -> None:
    path = tmp_path / "job.out"
    path.write_bytes(b"first" + b"\n[gap]\n" + b"last")
    ending = _ending(said=100, kept=5, tail=4, tail_at=12)
    output = _output(path)
    news = output.news(0, Limit(head=50, tail=50), ending)
    assert (news.transcript.head, news.transcript.omitted, news.transcript.tail) == (
        b"first",
        91,
        b"last",
    )
    assert news.cursor == 100
    again = output.news(100, Limit(head=50, tail=50), ending)
    assert (again.transcript.total, again.cursor) == (0, 100)


def test_a_reader_in_the_middle_of_the_last_words_gets_the_rest(tmp_path: Path) -> None:
    path = tmp_path / "job.out"
    path.write_bytes(b"first" + b"\n[gap]\n" + b"last")
    news = _output(path).news(98, Limit(head=0, tail=50), _ending(100, 5, 4, 12))
    assert (news.transcript.tail, news.transcript.omitted) == (b"st", 0)


def test_a_file_that_is_gone_is_an_empty_one(tmp_path: Path) -> None:
    news = _output(tmp_path / "none").news(0, _WIDE, None)
    assert (news.transcript.total, news.cursor) == (0, 0)


def test_a_long_unfinished_line_does_not_hold_back_the_filter_for_ever(tmp_path: Path) -> None:
    path = tmp_path / "job.out"
    path.write_bytes(b"x" * 200_000)
    news = _output(path).matching(0, Limit(head=300_000, tail=0), compile_pattern("x"), None)
    assert news.cursor >= 65_536


def _output(path: Path) -> OutputFile:
    files = JobFiles(path.parent, path.name, 1)
    files.outputs = (path,)
    return OutputFile(files, 0)


def _new_file() -> Path:
    """An empty file; hypothesis runs a test many times, tmp_path is made once."""
    descriptor, name = tempfile.mkstemp(dir=_FOLDER.name)
    os.close(descriptor)
    return Path(name)


_FOLDER = tempfile.TemporaryDirectory()
