import pytest

from nacre.dialects.arguments import Arguments, from_json
from nacre.errors import CallError


def _given(**values: object) -> Arguments:
    return Arguments("Tool", values, ("name", "flag", "seconds"))


def test_an_unknown_argument_is_named_with_the_known_ones() -> None:
    with pytest.raises(CallError, match=r"^Tool has no argument 'nmae'; its arguments: name, flag"):
        _given(nmae=1)


def test_null_is_not_given() -> None:
    assert not _given(name=None).has("name")
    assert _given(name=None).text("name", "default") == "default"


@pytest.mark.parametrize("value", [1, True, ["a"], {"a": 1}, 1.5])
def test_what_is_no_string_is_shown(value: object) -> None:
    with pytest.raises(CallError, match=r"^'name' must be a string, not "):
        _given(name=value).text("name")


@pytest.mark.parametrize(("value", "meant"), [(True, True), ("false", False), (" TRUE ", True)])
def test_a_boolean_may_come_in_quotes(value: object, meant: object) -> None:
    assert _given(flag=value).flag("flag") is meant


@pytest.mark.parametrize("value", [0, 1, "yes", "", [], {}])
def test_what_is_no_boolean_is_shown(value: object) -> None:
    with pytest.raises(CallError, match=r"^'flag' must be true or false, not "):
        _given(flag=value).flag("flag")


@pytest.mark.parametrize(("value", "meant"), [(2, 2.0), (0.5, 0.5), ("3", 3.0), (10**400, 10.0)])
def test_seconds_are_cut_to_the_most_there_can_be(value: object, meant: float) -> None:
    assert _given(seconds=value).seconds("seconds", 1, 10).total_seconds() == meant


@pytest.mark.parametrize(
    "value", [0, -1, "soon", True, [], float("nan"), float("inf"), "nan", "-3", {}]
)
def test_what_is_no_duration_is_shown(value: object) -> None:
    with pytest.raises(CallError, match=r"^'seconds' must be "):
        _given(seconds=value).seconds("seconds", 1, 10)


def test_a_huge_value_is_shown_in_part() -> None:
    with pytest.raises(CallError) as caught:
        _given(name=["x" * 10_000]).text("name")
    assert len(str(caught.value)) < 120


def test_a_text_is_what_it_says_in_json_or_itself() -> None:
    assert from_json('{"a": [1, 2.5, null]}') == {"a": [1, 2.5, None]}
    assert from_json("not json") == "not json"
    assert from_json("[" * 100_000) == "[" * 100_000
    large = from_json(f'{{"timeout": 1{"0" * 5000}, "command": "ls"}}')
    assert isinstance(large, dict)
    assert (large["command"], large["timeout"] > 10**900) == ("ls", True)
