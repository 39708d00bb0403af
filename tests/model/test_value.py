"""Values are what Python's own `dataclass` makes, however they are made."""

import copy
import dataclasses
import inspect
import pickle
from collections.abc import Callable
from dataclasses import dataclass as own
from dataclasses import field
from pathlib import PurePath
from typing import Any, NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nacre.model.value import dataclass as ours


class Both(NamedTuple):
    """One class, as Python makes it and as we do."""

    theirs: type[Any]
    ours: type[Any]


def twice(body: type[Any], **how: bool) -> Both:
    fields = inspect.get_annotations(body)
    made: list[type[Any]] = []
    for decorator in (own, ours):
        names = {
            name: copy.copy(value) if name in fields else value
            for name, value in vars(body).items()
            if name not in {"__dict__", "__weakref__"}
        }
        made.append(decorator(frozen=True, slots=True, **how)(type(body.__name__, (), names)))
    return Both(*made)


class Empty:
    """Nothing."""


class One:
    """A field."""

    number: int


class Several:
    """All kinds of fields."""

    name: str
    number: int = 3
    path: PurePath | None = None
    tags: list[str] = field(default_factory=list[str])
    silent: str = field(default="s", repr=False)
    beside: int = field(default=1, compare=False)
    found: int = field(init=False, default=7)
    made: list[int] = field(init=False, default_factory=list[int])
    later: int = field(kw_only=True, default=0)


class Finished:
    """A field that is computed."""

    text: str
    length: int = field(init=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "length", len(self.text))


class Opinionated:
    """Methods of its own."""

    name: str

    def __hash__(self) -> int:
        return 5

    def __repr__(self) -> str:
        return "me"


class Alike:  # noqa: PLW1641 (it is given one)
    """An equality of its own."""

    name: str

    def __eq__(self, other: object) -> bool:
        return isinstance(other, type(self))


Make = Callable[[type[Any]], Any]
_MADE: list[tuple[type[Any], Make]] = [
    (Empty, lambda cls: cls()),
    (One, lambda cls: cls(4)),
    (Several, lambda cls: cls("n")),
    (Several, lambda cls: cls("n", 4, PurePath("/x"), tags=["a"], silent="", beside=2, later=9)),
    (Finished, lambda cls: cls(text="abc")),
    (Opinionated, lambda cls: cls("x")),
    (Alike, lambda cls: cls("x")),
]


@pytest.mark.parametrize(("body", "make"), _MADE)
def test_it_shows_and_holds_the_same(body: type[Any], make: Make) -> None:
    both = twice(body)
    theirs, ours = make(both.theirs), make(both.ours)
    assert repr(theirs) == repr(ours)
    assert dataclasses.asdict(theirs) == dataclasses.asdict(ours)
    assert both.theirs.__match_args__ == both.ours.__match_args__
    assert both.theirs.__slots__ == both.ours.__slots__
    assert str(inspect.signature(both.theirs)) == str(inspect.signature(both.ours))


@pytest.mark.parametrize(("body", "make"), _MADE)
def test_it_is_compared_and_hashed_in_the_same_way(body: type[Any], make: Make) -> None:
    both = twice(body)
    theirs, ours = make(both.theirs), make(both.ours)
    assert ours == make(both.ours)
    assert ours != theirs
    try:
        expected: object = hash(theirs)
    except TypeError as error:
        with pytest.raises(TypeError, match=str(error)):
            hash(ours)
    else:
        assert hash(ours) == expected


@given(st.integers(), st.integers(), st.text(), st.text())
def test_two_are_equal_exactly_if_their_compared_fields_are(
    first: int, second: int, name: str, other: str
) -> None:
    both = twice(Several)
    theirs = both.theirs(name, first) == both.theirs(other, second)
    assert theirs == (both.ours(name, first) == both.ours(other, second))
    assert both.ours(name, beside=first) == both.ours(name, beside=second)


@pytest.mark.parametrize("how", [{}, {"kw_only": True}])
@pytest.mark.parametrize(
    ("words", "named"),
    [((), {}), ((1, 2, 3, 4, 5, 6, 7, 8), {}), (("n",), {"nonsense": 1}), ((1, 2), {"name": 1})],
)
def test_a_call_that_does_not_fit_is_refused_in_the_same_words(
    how: dict[str, bool], words: tuple[object, ...], named: dict[str, object]
) -> None:
    both = twice(Several, **how)
    with pytest.raises(TypeError) as expected:
        both.theirs(*words, **named)
    with pytest.raises(TypeError) as found:
        both.ours(*words, **named)
    assert str(found.value) == str(expected.value)


def test_none_of_it_can_be_changed() -> None:
    value = twice(Several).ours("n")
    with pytest.raises(dataclasses.FrozenInstanceError, match="cannot assign to field 'name'"):
        value.name = "m"
    with pytest.raises(dataclasses.FrozenInstanceError, match="cannot delete field 'name'"):
        del value.name
    with pytest.raises(dataclasses.FrozenInstanceError):
        value.nonsense = 1


def test_each_has_its_own_list() -> None:
    cls = twice(Several).ours
    assert cls("n").tags is not cls("n").tags
    assert cls("n").made is not cls("n").made


def test_it_can_be_replaced() -> None:
    cls = twice(Several).ours
    assert dataclasses.replace(cls("n", tags=["a"]), number=8) == cls("n", 8, tags=["a"])


@ours(frozen=True, slots=True, kw_only=True)
class Stored:
    """One that pickle can find."""

    name: str
    length: int = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "length", len(self.name))


def _pickled(value: Stored) -> Stored:
    again = pickle.loads(pickle.dumps(value))  # noqa: S301 (our own)
    assert isinstance(again, Stored)
    return again


@pytest.mark.parametrize("again", [copy.copy, copy.deepcopy, _pickled])
def test_it_can_be_copied(again: Callable[[Stored], Stored]) -> None:
    value = Stored(name="abc")
    assert again(value) == value
    assert again(value).length == 3


class Beneath(Stored):
    """A class beneath, which is looked at first."""

    __slots__ = ()


def test_a_class_beneath_is_made_by_the_same_init() -> None:
    assert Beneath(name="ab").length == 2
    assert Beneath(name="ab") != Stored(name="ab")


def test_what_is_not_frozen_can_be_changed_and_is_nothing_to_be_hashed() -> None:
    @ours(slots=True)
    class Changing:
        number: int = 1

    value = Changing()
    value.number = 2
    assert value == Changing(2)
    assert repr(value).endswith("Changing(number=2)")
    with pytest.raises(TypeError, match="unhashable"):
        hash(value)
    assert copy.copy(value) == value


def test_what_has_no_slots_is_left_to_python() -> None:
    @ours(kw_only=True)
    class Loose:
        number: int = 1

    loose = Loose(number=2)
    vars(loose)["more"] = 1
    assert loose == Loose(number=2)
