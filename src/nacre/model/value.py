"""`dataclass`, for values that cost little to define.

Python's own writes methods for each class and compiles them, which is nine tenths of what it takes;
for all the classes of this project, that was a quarter of what `nacre run` took to start. This one
makes the same class: its `__init__` is written when it is first looked up, and the other methods
are the same for all.
"""

import dataclasses
from collections.abc import Callable
from operator import attrgetter
from types import FunctionType, MethodType
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar, cast

if TYPE_CHECKING:
    from dataclasses import Field, dataclass

__all__ = ("dataclass",)

_T = TypeVar("_T")


class _FromFactory:
    """Stands for a default that is made anew each time."""

    def __repr__(self) -> str:
        return "<factory>"


_NOT_GIVEN = _FromFactory()

if not TYPE_CHECKING:

    def dataclass(*, frozen=False, slots=False, kw_only=False):  # noqa: ANN001, ANN201
        """Do what Python's own does; in less time, for what has slots."""
        if not slots:
            return dataclasses.dataclass(frozen=frozen, kw_only=kw_only)
        bare = dataclasses.dataclass(init=False, repr=False, eq=False, slots=True, kw_only=kw_only)
        return lambda cls: _completed(bare(_documented(cls)), frozen=frozen)


def _documented(cls: type[_T]) -> type[_T]:
    # Otherwise it gets its signature for that, which takes more than all the rest.
    cls.__doc__ = cls.__doc__ or cls.__name__
    return cls


def _completed(cls: type[_T], *, frozen: bool) -> type[_T]:
    """Give a class those methods that it does not define itself."""
    methods = {"__init__": _Init(cls), "__repr__": _repr, **_comparison(cls, frozen=frozen)}
    for name, method in {**methods, **(_FROZEN if frozen else {})}.items():
        # Python puts None there for the hash of what says itself when it is equal.
        if cls.__dict__.get(name) is None:
            setattr(cls, name, method)
    return cls


class _Init:
    """Is in the place of a class's `__init__` until somebody looks for it."""

    def __init__(self, cls: type) -> None:
        self._cls = cls

    def __get__(self, value: object, owner: type) -> Callable[..., None]:
        del owner  # which may be a class beneath
        written = _written_init(self._cls)
        type.__setattr__(self._cls, "__init__", written)
        return written if value is None else MethodType(written, value)


def _written_init(cls: type) -> FunctionType:
    """An `__init__` as Python's own would be, but that it sets each slot without a search for it."""
    known: dict[str, object] = {"_not_given": _NOT_GIVEN}
    parameters: dict[bool, list[str]] = {False: ["self"], True: []}
    lines: list[str] = []
    fields = _fields(cls)
    for each in fields:
        default, value = _told(each, known)
        if each.init:
            parameters[bool(each.kw_only)].append(each.name + default)
        if value:
            known[f"_set_{each.name}"] = getattr(cls, each.name).__set__
            lines.append(f"_set_{each.name}(self, {value})")
    if hasattr(cls, "__post_init__"):
        lines.append("self.__post_init__()")
    named = ["*", *parameters[True]] if parameters[True] else []
    head = f"def __init__({', '.join((*parameters[False], *named))}) -> None:"
    exec("\n    ".join((head, *(lines or ["pass"]))), known)  # noqa: S102 (as Python's own does)
    written = cast("FunctionType", known["__init__"])
    written.__qualname__ = f"{cls.__qualname__}.__init__"
    written.__annotations__ = {each.name: each.type for each in fields if each.init}
    written.__annotations__["return"] = None
    return written


def _told(field: "Field[Any]", known: dict[str, object]) -> tuple[str, str]:
    """The default of a parameter, and what its slot is set to, as code in which `known` are known."""
    name = field.name
    if field.default_factory is not dataclasses.MISSING:
        known[f"_make_{name}"] = field.default_factory
        made = f"_make_{name}()"
        return "=_not_given", f"{made} if {name} is _not_given else {name}" if field.init else made
    if field.default is not dataclasses.MISSING:
        known[f"_usual_{name}"] = field.default
        return f"=_usual_{name}", name if field.init else f"_usual_{name}"
    return "", name if field.init else ""


def _fields(cls: type) -> "tuple[Field[Any], ...]":
    return dataclasses.fields(cls)


def _comparison(cls: type, *, frozen: bool) -> dict[str, object]:
    names = [each.name for each in _fields(cls) if each.compare]
    values = attrgetter(*names) if len(names) > 1 else _few(names)

    def equal(self: object, other: object) -> bool:
        return (
            values(self) == values(other) if other.__class__ is self.__class__ else NotImplemented
        )

    def hashed(self: object) -> int:
        return hash(values(self))

    return {"__eq__": equal, "__hash__": hashed if frozen else None}


def _few(names: list[str]) -> Callable[[object], tuple[object, ...]]:
    """What `attrgetter` makes of several names, of one or none."""
    return lambda value: tuple(getattr(value, name) for name in names)


def _repr(self: object) -> str:
    shown = (
        f"{each.name}={getattr(self, each.name)!r}" for each in _fields(type(self)) if each.repr
    )
    return f"{type(self).__qualname__}({', '.join(shown)})"


def _refuse_to_assign(_: object, name: str, __: object) -> NoReturn:
    raise dataclasses.FrozenInstanceError(f"cannot assign to field {name!r}")


def _refuse_to_delete(_: object, name: str) -> NoReturn:
    raise dataclasses.FrozenInstanceError(f"cannot delete field {name!r}")


def _state(self: object) -> list[object]:
    return [getattr(self, each.name) for each in _fields(type(self))]


def _restore(self: object, state: list[object]) -> None:
    for each, value in zip(_fields(type(self)), state, strict=True):
        object.__setattr__(self, each.name, value)


_FROZEN: dict[str, object] = {
    "__setattr__": _refuse_to_assign,
    "__delattr__": _refuse_to_delete,
    "__getstate__": _state,
    "__setstate__": _restore,
}
