from hypothesis import given
from hypothesis import strategies as st

from nacre.capture.recorder import Recorder
from nacre.model.transcript import Limit, Transcript

_pieces = st.lists(st.one_of(st.binary(max_size=40), st.integers(1, 50)), max_size=30)
_limits = st.builds(Limit, head=st.integers(0, 40), tail=st.integers(0, 40))


@given(st.lists(st.binary(max_size=60), max_size=20), _limits)
def test_head_and_tail_are_those_of_the_stream_however_it_was_cut(
    pieces: list[bytes], limit: Limit
) -> None:
    recorder = Recorder(limit)
    for piece in pieces:
        recorder.feed(memoryview(piece))
    whole = b"".join(pieces)
    rest = whole[limit.head :]
    assert recorder.transcript() == Transcript(
        head=whole[: limit.head],
        tail=rest[-limit.tail :] if limit.tail else b"",
        omitted=max(0, len(rest) - limit.tail),
    )


@given(_pieces, _limits)
def test_nothing_is_lost_without_being_counted(pieces: list[bytes | int], limit: Limit) -> None:
    recorder = Recorder(limit)
    total = 0
    for piece in pieces:
        if isinstance(piece, int):
            recorder.skip(piece)
            total += piece
        else:
            recorder.feed(memoryview(piece))
            total += len(piece)
    kept = recorder.transcript()
    assert len(kept.head) + len(kept.tail) + kept.omitted == total == kept.total
    assert len(kept.head) <= limit.head
    assert len(kept.tail) <= limit.tail


def test_what_was_skipped_separates_the_head_from_the_tail() -> None:
    recorder = Recorder(Limit(head=4, tail=4))
    recorder.feed(memoryview(b"ab"))
    recorder.skip(10)
    recorder.feed(memoryview(b"yz"))
    assert recorder.transcript() == Transcript(head=b"ab", tail=b"yz", omitted=10)


def test_the_hidden_range_is_counted_from_the_start_of_the_stream() -> None:
    assert Transcript(head=b"abc", omitted=7, tail=b"x", start=100).hidden == (103, 110)
