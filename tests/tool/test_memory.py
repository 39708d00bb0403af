"""The newest is known, and nothing grows."""

from hypothesis import given
from hypothesis import strategies as st

from nacre.tool import Memory


@given(st.lists(st.tuples(st.integers(0, 9), st.integers())), st.integers(1, 5))
def test_what_was_told_last_is_known(told: list[tuple[int, int]], most: int) -> None:
    memory = Memory[int, int](most)
    for key, value in told:
        memory.put(key, value)
    newest: dict[int, int] = {}
    for key, value in reversed(told):
        if len(newest) < most or key in newest:
            newest.setdefault(key, value)
    assert {key: memory.get(key) for key in range(10)} == {
        key: newest.get(key) for key in range(10)
    }


def test_a_claim_changes_nothing_that_is_known() -> None:
    memory = Memory[str, int](2)
    assert [memory.claim("a", 1), memory.claim("a", 2), memory.get("a")] == [1, 1, 1]
    assert [memory.pop("a"), memory.pop("a"), memory.get("a")] == [1, None, None]
