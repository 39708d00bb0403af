from hypothesis import given
from hypothesis import strategies as st

from nacre.render.excerpt import leading, trailing
from nacre.render.fit import Piece, fit, piece

SOUP = st.text(st.sampled_from("ab \n\r\b\x1b[2KACm9"))


def test_plain_text_is_cut_to_the_budget() -> None:
    assert fit("one\ntwo\nsix\n", 9, leading) == Piece("one\ntwo\n", "one\ntwo\n")


def test_coloured_text_is_cut_by_what_is_seen_of_it() -> None:
    raw = "\x1b[32mgreen\x1b[0m\n" * 100
    assert fit(raw, 60, trailing) == Piece("\x1b[32mgreen\x1b[0m\n" * 9, "green\n" * 9)


def test_a_progress_bar_of_any_length_fits_where_its_last_state_does() -> None:
    raw = "start\n" + "".join(f"\r{number:6}" for number in range(10_000)) + "\nend\n"
    assert fit(raw, 40, leading) == Piece(raw, "start\n  9999\nend\n")


def test_a_budget_of_nothing_takes_nothing() -> None:
    assert fit("text", 0, leading) == Piece("", "")


@given(SOUP, st.integers(min_value=0, max_value=30))
def test_a_piece_never_exceeds_its_budget(raw: str, budget: int) -> None:
    front = fit(raw, budget, leading)
    back = fit(raw, budget, trailing)
    assert max(len(front.text), len(back.text)) <= budget
    assert raw.startswith(front.raw)
    assert raw.endswith(back.raw)
    assert [front, back] == [piece(front.raw), piece(back.raw)]
