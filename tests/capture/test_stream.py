import os
import select
import threading
from collections.abc import Generator
from pathlib import Path

import pytest

from nacre.capture.recorder import Recorder
from nacre.capture.spill import SpillFile
from nacre.capture.stream import Flood, Stream
from nacre.model.transcript import Limit

_LIMIT = Limit(head=10, tail=10)


@pytest.fixture
def pipe() -> Generator[tuple[int, int]]:
    read, write = os.pipe()
    os.set_blocking(read, False)
    yield read, write
    os.close(read)


def test_a_turn_takes_what_is_there_and_does_not_wait(pipe: tuple[int, int]) -> None:
    read, write = pipe
    stream = Stream(read, Recorder(_LIMIT))
    os.write(write, b"hello")
    assert (stream.read(), stream.read(), stream.ended) == (5, 0, False)
    os.close(write)
    assert (stream.read(), stream.ended) == (0, True)
    assert stream.transcript().head == b"hello"


def test_a_listener_hears_every_byte(pipe: tuple[int, int]) -> None:
    read, write = pipe
    heard: list[bytes] = []
    stream = Stream(read, Recorder(_LIMIT), listener=heard.append)
    said = bytes(range(256)) * 200
    os.write(write, said)
    os.close(write)
    while not stream.ended:
        stream.read()
    assert b"".join(heard) == said


@pytest.mark.parametrize("inline", [None, 5, 0])
def test_the_spill_has_everything_from_the_first_byte(
    pipe: tuple[int, int], tmp_path: Path, inline: int | None
) -> None:
    read, write = pipe
    limit = Limit(head=4, tail=4, spill=1000, inline=inline)
    spill = SpillFile(1000, lambda: tmp_path / "spill.log")
    stream = Stream(read, Recorder(limit), spill)
    for piece in (b"ab", b"cdef", b"ghijklmnop", b"q"):
        os.write(write, piece)
        stream.read()
    os.close(write)
    assert spill.path is not None
    assert spill.path.read_bytes() == b"abcdefghijklmnopq"


def test_what_fits_is_not_spilled(pipe: tuple[int, int], tmp_path: Path) -> None:
    read, write = pipe
    spill = SpillFile(1000, lambda: tmp_path / "spill.log")
    stream = Stream(read, Recorder(Limit(head=4, tail=4, spill=1000, inline=6)), spill)
    os.write(write, b"abcdef")
    os.close(write)
    stream.read()
    assert spill.value() is None


@pytest.mark.parametrize(
    ("said", "cut_short", "spilled"),
    [
        (b"a\nb\n", False, False),
        (b"a\nb", False, False),
        (b"a\nb\nc", False, True),
        (b"\n\n\n", False, True),
        (b"a", True, True),
        (b"", True, False),
    ],
)
def test_the_end_of_a_run_spills_what_has_many_lines_or_was_cut_short(
    pipe: tuple[int, int], tmp_path: Path, said: bytes, *, cut_short: bool, spilled: bool
) -> None:
    read, write = pipe
    limit = Limit(head=0, tail=100, spill=1000, inline=10, lines=2, cut_short=True)
    spill = SpillFile(1000, lambda: tmp_path / "spill.log")
    stream = Stream(read, Recorder(limit), spill)
    os.write(write, said)
    os.close(write)
    stream.read()
    stream.settle(cut_short=cut_short)
    assert (spill.path is not None) is spilled
    if spill.path is not None:
        assert spill.path.read_bytes() == said


def test_the_end_of_a_run_does_not_spill_again_what_is_spilled(
    pipe: tuple[int, int], tmp_path: Path
) -> None:
    read, write = pipe
    limit = Limit(head=0, tail=8, spill=1000, inline=4, lines=1, cut_short=True)
    spill = SpillFile(1000, lambda: tmp_path / "spill.log")
    stream = Stream(read, Recorder(limit), spill)
    os.write(write, b"a\nb\nc\nd\ne\n")
    os.close(write)
    stream.read()
    stream.settle(cut_short=True)
    assert spill.path is not None
    assert spill.path.read_bytes() == b"a\nb\nc\nd\ne\n"


def test_the_end_of_a_run_spills_nothing_its_limit_does_not_ask_for(
    pipe: tuple[int, int], tmp_path: Path
) -> None:
    read, write = pipe
    spill = SpillFile(1000, lambda: tmp_path / "spill.log")
    stream = Stream(read, Recorder(Limit(head=8, tail=8, spill=1000)), spill)
    os.write(write, b"a\nb\nc\n")
    os.close(write)
    stream.read()
    stream.settle(cut_short=True)
    assert spill.value() is None


def test_a_flood_is_read_to_its_end_by_a_thread(pipe: tuple[int, int]) -> None:
    read, write = pipe
    stream = Stream(read, Recorder(_LIMIT))
    flood = Flood(stream)
    size = 20 << 20

    def pour() -> None:
        with open(write, "wb") as file:
            file.writelines(b"x" * (1 << 20) for _ in range(20))

    writer = threading.Thread(target=pour)
    writer.start()
    writer.join()
    assert select.select([flood.done], [], [], 30)[0]
    flood.stop()
    assert (stream.recorder.total, stream.ended) == (size, True)


@pytest.mark.parametrize("tail", [1000, 1 << 18])
def test_a_flood_beyond_a_full_spill_is_kept_to_the_byte(
    pipe: tuple[int, int], tmp_path: Path, tail: int
) -> None:
    read, write = pipe
    said = b"".join(b"%d\n" % n for n in range(3_000_000))
    spill = SpillFile(3_000_000, lambda: tmp_path / "spill.log")
    stream = Stream(read, Recorder(Limit(head=1000, tail=tail, spill=3_000_000)), spill)

    def pour() -> None:
        with open(write, "wb") as file:
            file.write(said)

    writer = threading.Thread(target=pour)
    writer.start()
    while not stream.flooding:
        stream.read()
    flood = Flood(stream)
    assert select.select([flood.done], [], [], 30)[0]
    flood.stop()
    writer.join()
    kept = stream.transcript()
    assert (kept.head, kept.tail, kept.total) == (said[:1000], said[-tail:], len(said))
    assert (tmp_path / "spill.log").read_bytes() == said[:3_000_000]


def test_a_flood_gives_the_stream_back_when_asked(pipe: tuple[int, int]) -> None:
    read, write = pipe
    stream = Stream(read, Recorder(_LIMIT))
    flood = Flood(stream)
    flood.stop()
    os.write(write, b"later")
    assert stream.read() == 5
    os.close(write)
