import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nacre.render.underline import one_line, underlined, visible

WIDTH = 60


def lines(script: str, part: str, width: int = WIDTH) -> list[str]:
    start = script.index(part)
    return list(underlined(script, start, start + len(part), width))


def test_a_line_that_fits_is_shown_whole() -> None:
    assert lines("a\nb; rm x; c\nd", "rm x") == ["2 | b; rm x; c", "  |    ^^^^"]


@pytest.mark.parametrize(
    ("before", "columns"),
    [("\t", 4), ("日本", 4), ("e\u0301", 1), ("\x1b", 4), ("\u202e", 6), ("é", 1), ("ｱ", 1)],
)
def test_carets_stand_below_the_part_whatever_is_before_it(before: str, columns: int) -> None:
    assert lines(f"{before}rm x", "rm x")[1] == f"  | {' ' * columns}^^^^"


@pytest.mark.parametrize(
    ("before", "after"), [(0, 200), (200, 0), (200, 200), (55, 0), (0, 55), (53, 3)]
)
def test_a_long_line_is_cut_around_the_part(before: int, after: int) -> None:
    line, carets = lines(f"{'x' * before}<rm>{'y' * after}", "<rm>")
    assert len(line) <= WIDTH
    assert line[carets.index("^") : carets.rindex("^") + 1] == "<rm>"


def test_a_part_longer_than_the_line_shows_its_beginning() -> None:
    line, carets = lines(f"a; rm {'z' * 500}; b", f"rm {'z' * 500}")
    assert line[carets.index("^") :].startswith("rm zz")
    assert line.endswith("…")
    assert len(carets) <= len(line) <= WIDTH


def test_a_part_of_several_lines_is_underlined_on_each() -> None:
    assert lines("for x; do\n  rm\ndone; ls", "for x; do\n  rm\ndone") == [
        "1 | for x; do",
        "  | ^^^^^^^^^",
        "2 |   rm",
        "  | ^^^^",
        "3 | done; ls",
        "  | ^^^^",
    ]


def test_of_very_many_lines_the_first_are_shown() -> None:
    script = "\n".join("abcdefgh")
    assert lines(script, script)[-1] == "  | … 5 more lines"
    assert lines("\n".join("abcd"), "\n".join("abcd"))[-1] == "  | … 1 more line"


def test_an_empty_part_has_a_caret() -> None:
    assert list(underlined("", 0, 0, WIDTH)) == ["1 | ", "  | ^"]
    assert list(underlined("ls\n", 3, 3, WIDTH)) == ["2 | ", "  | ^"]


def test_a_line_of_megabytes_takes_no_time() -> None:
    script = f"{'x' * 5_000_000}<rm>{'y' * 5_000_000}"
    began = time.process_time()
    lines(script, "<rm>")
    assert time.process_time() - began < 1


@given(st.text(st.characters(), max_size=300), st.data())
def test_nothing_that_is_printed_can_be_obeyed_by_a_terminal(
    text: str, data: st.DataObject
) -> None:
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, len(text)))
    for line in underlined(text, start, end, WIDTH):
        assert line.isprintable() or not line.isascii()
        line.encode()
    assert not any(character in visible(text) for character in "\x1b\r\b\u202e\u200b\u2028")


def test_one_line_is_cut_in_the_middle() -> None:
    assert one_line("a\nb", 10) == "a b"
    assert one_line("a" * 50 + "b" * 50, 11) == "aaaaa…bbbbb"
