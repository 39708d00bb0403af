import pytest
from hypothesis import given
from hypothesis import strategies as st

from nacre.render.excerpt import Excerpt, excerpt, leading, trailing

TEXT = st.text(st.sampled_from("ab\n🙂"))


def test_a_text_that_fits_is_kept_whole() -> None:
    assert excerpt("one\ntwo\n", 8) == Excerpt(head="one\ntwo\n")


def test_the_middle_is_cut_at_line_borders() -> None:
    text = "".join(f"line {number}\n" for number in range(10))
    assert excerpt(text, 35) == Excerpt(
        head="line 0\nline 1\n",
        tail="line 7\nline 8\nline 9\n",
        hidden=35,
        hidden_lines=5,
    )


def test_an_enormous_line_is_cut_inside() -> None:
    assert excerpt("x" * 100, 10) == Excerpt(head="xxxx", tail="xxxxxx", hidden=90, hidden_lines=1)


def test_an_enormous_line_between_short_ones_is_cut_inside() -> None:
    assert excerpt("a\n" + "x" * 100 + "\nb\n", 20) == Excerpt(
        head="a\n" + "x" * 6, tail="x" * 9 + "\nb\n", hidden=85, hidden_lines=1
    )


@pytest.mark.parametrize("budget", [0, -1])
def test_no_budget_hides_everything(budget: int) -> None:
    assert excerpt("one\ntwo\n", budget) == Excerpt(head="", hidden=8, hidden_lines=2)


@pytest.mark.parametrize(
    ("size", "kept"),
    [(0, ""), (2, "on"), (3, "one"), (4, "one\n"), (7, "one\n"), (8, "one\ntwo\n")],
)
def test_a_start_ends_with_a_whole_line_if_that_is_most_of_it(size: int, kept: str) -> None:
    assert leading("one\ntwo\nthree", size) == kept


@pytest.mark.parametrize(
    ("size", "kept"),
    [(0, ""), (2, "e\n"), (6, "three\n"), (8, "three\n"), (10, "two\nthree\n")],
)
def test_an_end_starts_with_a_whole_line_if_that_is_most_of_it(size: int, kept: str) -> None:
    assert trailing("one\ntwo\nthree\n", size) == kept


@given(TEXT, st.integers(min_value=-1, max_value=40))
def test_every_character_is_kept_or_counted(text: str, budget: int) -> None:
    cut = excerpt(text, budget)
    hidden = text[len(cut.head) : len(text) - len(cut.tail)]
    assert cut.head + hidden + cut.tail == text
    assert cut.hidden == len(hidden)
    assert cut.hidden_lines == len(hidden.splitlines())


@given(TEXT, st.integers(min_value=0, max_value=40))
def test_a_budget_is_never_exceeded(text: str, budget: int) -> None:
    cut = excerpt(text, budget)
    assert len(cut.head) + len(cut.tail) <= budget


@given(st.lists(st.text(st.sampled_from("ab"), max_size=3), min_size=10))
def test_short_lines_are_never_cut_inside(lines: list[str]) -> None:
    text = "".join(f"{line}\n" for line in lines)
    cut = excerpt(text, 20)
    assert cut.head.endswith("\n")
    assert cut.tail == "" or text.endswith("\n" + cut.tail)
