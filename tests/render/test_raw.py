import pytest
from hypothesis import given
from hypothesis import strategies as st

from nacre.render.raw import (
    byte_count,
    raw_text,
    readable,
    without_orphans,
    without_unfinished,
)


@given(st.binary(), st.integers(min_value=0))
def test_the_parts_of_a_raw_text_have_the_size_of_the_whole(data: bytes, at: int) -> None:
    raw = raw_text(data)
    assert byte_count(raw[:at]) + byte_count(raw[at:]) == len(data)


@given(st.binary())
def test_a_raw_text_reads_as_its_bytes_would(data: bytes) -> None:
    assert readable(raw_text(data)) == data.decode("utf-8", "replace")


@pytest.mark.parametrize("cut", [1, 2, 3])
def test_a_character_cut_at_either_edge_is_dropped(cut: int) -> None:
    data = "a🙂".encode()
    assert without_unfinished(data[:-cut]) == b"a"
    assert without_orphans("🙂a".encode()[cut:]) == b"a"


@given(st.text(st.characters(exclude_categories=["Cs"])))
def test_whole_characters_stay(text: str) -> None:
    data = text.encode()
    assert without_orphans(data) == data
    assert without_unfinished(data) == data


def test_bytes_that_are_not_utf_8_at_all_stay() -> None:
    assert without_unfinished(b"caf\xff") == b"caf\xff"
