import re
import tracemalloc
from dataclasses import replace
from pathlib import PurePosixPath

from hypothesis import given
from hypothesis import strategies as st

from nacre.model.transcript import Spill, Transcript
from nacre.render.output import Shown, shown
from nacre.render.terminal import clean

SPILL = Spill(path=PurePosixPath("/state/out.raw"), kept=10**9)

# A notice with two numbers of seven digits and this spill is shorter than this.
NOTICE_BOUND = 150

LINE = st.binary(max_size=12).map(lambda data: data.replace(b"\n", b"").replace(b"\0", b""))
TERMINAL_LINE = st.lists(
    st.sampled_from(
        [b"abc", b"de ", b"\r", b"\b", b"\x1b[K", b"\x1b[A", b"\x1b[31m", b"\xc3", b"x"]
    )
).map(b"".join)


def recorded(stream: bytes, head: int, tail: int) -> Transcript:
    """Stand in for the recorder: keep the first and the last bytes of a stream."""
    if head + tail >= len(stream):
        return Transcript(head=stream[:head], tail=stream[head:], spill=SPILL)
    return Transcript(
        head=stream[:head],
        tail=stream[len(stream) - tail :],
        omitted=len(stream) - head - tail,
        spill=SPILL,
    )


def hidden_range(text: str) -> tuple[int, int]:
    """Read the range back from the notice, as a model would."""
    found = re.findall(r"not shown: bytes ([\d,]+) to ([\d,]+) of", text)
    ((first, end),) = found or [("0", "0")]
    return int(first.replace(",", "")), int(end.replace(",", ""))


def seen(data: bytes) -> str:
    return clean(data.decode("utf-8", "replace"))


def test_nothing_said_shows_nothing() -> None:
    assert shown(Transcript(), 100) == Shown(text="")


def test_text_that_fits_is_shown_without_its_last_newline() -> None:
    assert shown(Transcript(head=b"one\n", tail=b"two\n\n"), 100) == Shown(text="one\ntwo\n")


def test_a_character_between_head_and_tail_is_whole_when_nothing_lies_between() -> None:
    data = "a🙂b".encode()
    assert shown(Transcript(head=data[:3], tail=data[3:]), 100) == Shown(text="a🙂b")


def test_invalid_bytes_are_shown_as_such() -> None:
    assert shown(Transcript(head=b"caf\xe9 ok\n"), 100) == Shown(text="caf\ufffd ok")


def test_binary_output_is_summed_up() -> None:
    assert shown(Transcript(head=b"\x7fELF\x02\x01\x01\0", omitted=92), 100) == Shown(
        text="[binary output: 100 bytes, starting 7f 45 4c 46 02 01 01 00 (ELF executable)]",
        omitted_bytes=100,
    )


def test_text_beyond_the_budget_is_cut_in_the_middle_with_one_notice() -> None:
    stream = b"".join(b"line %d\n" % number for number in range(10))
    assert shown(Transcript(head=stream, spill=SPILL), 35) == Shown(
        text="line 0\nline 1\n"
        "[35 bytes not shown: bytes 14 to 49 of the output; all of it is in /state/out.raw (raw)]\n"
        "line 7\nline 8\nline 9",
        omitted_bytes=35,
    )


def test_what_the_recorder_left_out_is_in_the_same_notice() -> None:
    stream = b"".join(b"line %03d\n" % number for number in range(1000))
    transcript = recorded(stream, 60, 60)
    assert shown(transcript, 45) == Shown(
        text="line 000\nline 001\n"
        "[8,955 bytes not shown: bytes 18 to 8,973 of the output; "
        "all of it is in /state/out.raw (raw)]\n"
        "line 997\nline 998\nline 999",
        omitted_bytes=8955,
    )


def test_offsets_count_from_the_start_of_the_stream() -> None:
    transcript = Transcript(head=b"one\n", omitted=6, tail=b"x\ntwo\n", start=1000)
    assert shown(transcript, 100) == Shown(
        text="one\n[8 bytes not shown: bytes 1,004 to 1,012 of the output; they were not kept]\ntwo",
        omitted_bytes=8,
    )


def test_emoji_cut_by_the_recorder_are_hidden_not_garbled() -> None:
    stream = "🙂".encode() * 100
    transcript = recorded(stream, 10, 11)
    assert shown(transcript, 100) == Shown(
        text="🙂🙂\n"
        "[384 bytes not shown: bytes 8 to 392 of the output; all of it is in /state/out.raw (raw)]\n"
        "🙂🙂",
        omitted_bytes=384,
    )


def test_an_enormous_line_shows_its_start_and_its_end() -> None:
    transcript = recorded(b"x" * 5_000_000, 131_072, 262_144)
    assert shown(transcript, 10) == Shown(
        text="xxxx\n"
        "[4,999,990 bytes not shown: bytes 4 to 4,999,994 of the output; "
        "all of it is in /state/out.raw (raw)]\n"
        "xxxxxx",
        omitted_bytes=4_999_990,
    )


def test_a_long_progress_bar_does_not_use_up_the_budget() -> None:
    bar = b"".join(b"\r%5d of 99999" % number for number in range(20_000))
    transcript = Transcript(head=b"start\n" + bar + b"\nend\n")
    assert shown(transcript, 50) == Shown(text="start\n19999 of 99999\nend")


def test_the_tail_may_use_what_the_head_does_not_need() -> None:
    tail = b"cut\n" + b"".join(b"line %d\n" % number for number in range(10))
    text = shown(Transcript(head=b"one\n", tail=tail, omitted=5), 74).text
    assert text.startswith("one\n[9 bytes")
    assert text.endswith("line 0\n" + "\n".join(f"line {n}" for n in range(1, 10)))


def test_the_head_may_use_what_the_tail_does_not_need() -> None:
    head = b"".join(b"line %d\n" % number for number in range(10))
    text = shown(Transcript(head=head, tail=b"t\nend\n", omitted=5), 74).text
    assert text.startswith(head.decode() + "[7 bytes")
    assert text.endswith("]\nend")


def test_without_a_tail_the_notice_comes_last() -> None:
    assert shown(Transcript(head=b"one\n", omitted=5), 74) == Shown(
        text="one\n[5 bytes not shown: bytes 4 to 9 of the output; they were not kept]",
        omitted_bytes=5,
    )


def test_without_a_budget_only_the_notice_is_shown() -> None:
    assert shown(Transcript(head=b"one\n"), 0) == Shown(
        text="[4 bytes not shown: bytes 0 to 4 of the output; they were not kept]",
        omitted_bytes=4,
    )


def test_pieces_that_would_look_like_the_whole_are_told_apart_from_it() -> None:
    stream = b"text for a start\n\nabcabcabc\x1b[Aabc"
    result = shown(Transcript(tail=stream), 30)

    assert "bytes not shown" in result.text
    assert result.omitted_bytes


@given(
    st.lists(LINE | TERMINAL_LINE).map(b"\n".join),
    st.tuples(st.integers(0, 80), st.integers(0, 80)),
    st.integers(0, 120),
)
def test_a_byte_is_in_the_named_range_or_its_cleaned_form_is_shown(
    stream: bytes, limit: tuple[int, int], budget: int
) -> None:
    stream = b"text for a start\n" + stream
    transcript = recorded(stream, *limit)
    result = shown(transcript, budget)
    if result.text.startswith("[binary"):
        return
    first, end = hidden_range(result.text)
    assert result.omitted_bytes == end - first
    if first == end:
        assert transcript.omitted == 0
        assert result.text == seen(stream).removesuffix("\n")
        return
    notice = re.search(r"^\[[\d,]+ bytes not shown.*\]$", result.text, re.MULTILINE)
    assert notice
    assert result.text[: notice.start()].removesuffix("\n") == seen(stream[:first]).removesuffix(
        "\n"
    )
    assert result.text[notice.end() + 1 :] == seen(stream[end:]).removesuffix("\n")


@given(
    st.lists(st.integers(1, 10).map(lambda size: b"x" * size), min_size=1),
    st.tuples(st.integers(40, 120), st.integers(40, 120)),
    st.integers(50, 120),
)
def test_every_line_is_visible_or_inside_the_named_range(
    words: list[bytes], limit: tuple[int, int], budget: int
) -> None:
    lines = [b"%d %s\n" % (number, word) for number, word in enumerate(words)]
    stream = b"".join(lines)
    text = shown(recorded(stream, *limit), budget).text
    first, end = hidden_range(text)
    visible = {line for line in text.splitlines() if not line.startswith("[")}
    at = 0
    for line in lines:
        hidden = first <= at and at + len(line) <= end
        assert hidden != (line.decode().rstrip("\n") in visible)
        at += len(line)


@given(
    st.lists(LINE | TERMINAL_LINE).map(b"\n".join),
    st.tuples(st.integers(0, 80), st.integers(0, 80)),
    st.integers(0, 120),
)
def test_a_budget_is_exceeded_by_the_notice_alone(
    stream: bytes, limit: tuple[int, int], budget: int
) -> None:
    result = shown(recorded(stream, *limit), budget)
    assert len(result.text) <= budget + (NOTICE_BOUND if "[" in result.text else 0)


def test_what_was_not_kept_costs_nothing() -> None:
    """A reply about an exabyte takes no more memory than one about what is kept of it."""
    lines = b"".join(b"line %d of the log\n" % n for n in range(20_000))
    kept = recorded(lines, 128 * 1024, 128 * 1024)
    shown(kept, 30_000)
    little, much = _peak(kept), _peak(replace(kept, omitted=10**18))
    assert much < 1.1 * little


def _peak(transcript: Transcript) -> int:
    tracemalloc.start()
    try:
        shown(transcript, 30_000)
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
