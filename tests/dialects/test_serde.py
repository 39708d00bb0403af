import pytest

from nacre.dialects.serde import fields, invalid_type, text_field
from nacre.errors import CallError


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "EOF while parsing a value at line 1 column 0"),
        ("{", "EOF while parsing a value at line 1 column 1"),
        ("not json", "expected ident at line 1 column 2"),
        ("falze", "expected ident at line 1 column 4"),
        ("oops", "expected value at line 1 column 1"),
        ("{} {}", "trailing characters at line 1 column 4"),
    ],
)
def test_a_text_that_is_no_json_is_told_where_it_stops_being_it(text: str, said: str) -> None:
    with pytest.raises(CallError) as refused:
        fields(text, "Params")
    assert str(refused.value) == said


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (None, "null"),
        (True, "boolean `true`"),
        (-7, "integer `-7`"),
        (1.5, "floating point `1.5`"),
        (1e16, "floating point `10000000000000000.0`"),
        (1e-7, "floating point `0.0000001`"),
        (float("inf"), "floating point `inf`"),
        ("a", 'string "a"'),
        ([], "sequence"),
        ({}, "map"),
    ],
)
def test_a_value_of_the_wrong_type_is_named(value: object, said: str) -> None:
    assert invalid_type(value, "x") == f"invalid type: {said}, expected x"


def test_a_field_must_be_there_and_be_a_text() -> None:
    with pytest.raises(CallError, match=r"^missing field `a`$"):
        text_field({}, "a")
    with pytest.raises(CallError, match=r"^invalid type: map, expected a string$"):
        text_field({"a": {}}, "a")
