import pytest
from hypothesis import given
from hypothesis import strategies as st

from nacre.policy.credentials.listed_patterns import matches_whole, unquoted


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ('"env"', "env"),
        ("e\\nv", "env"),
        ("e''nv", "env"),
        ('echo "hi"', "echo hi"),
        ("end\\", "end"),
        ("a\\\nb", "a\nb"),
    ],
)
def test_quoting_is_undone_without_being_understood(text: str, plain: str) -> None:
    assert unquoted(text) == plain


@pytest.mark.parametrize(
    "text",
    ["env", "ENV A=b", "set\n", "ls; cat .env", "echo a; printf $X_TOKEN", "x=${!v}", 'p""rintenv'],
)
def test_a_match_of_the_whole_text_is_one(text: str) -> None:
    assert matches_whole(text)


@pytest.mark.parametrize(
    "text", ["", "ls; env", "env|cat", "true && set", "cat .envrc", "/bin/env"]
)
def test_a_match_of_a_part_is_none(text: str) -> None:
    assert not matches_whole(text)


@given(st.text(st.characters(), max_size=200))
def test_no_text_is_too_strange_for_it(text: str) -> None:
    assert matches_whole(text) in {True, False}
