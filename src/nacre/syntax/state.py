"""What is known of a shell at one point of a script."""

from collections.abc import Iterable
from typing import Self

from nacre.syntax.tree import Node
from nacre.syntax.word import CWD, HOLE, HOME

__all__ = ("LONGEST", "MOST_ELEMENTS", "State", "Templates", "either")

Templates = tuple[str, ...]

# More possible values than these are as good as unknown.
_MOST_VALUES = 12
# Nor is a longer value worth keeping: a few doublings would fill the memory.
LONGEST = 1 << 20
# Nor are more arguments, or elements of an array.
MOST_ELEMENTS = 256
_ANY = (HOLE,)


class State:
    """Variables with every value they could have, arguments, functions, the directory.

    A variable that is not listed is not known. Anything learned on a path that
    may not be taken is joined to what held before, so a value is never missed
    because another one was seen.
    """

    __slots__ = ("arguments", "arrays", "cwd", "functions", "linked", "variables")

    def __init__(self) -> None:
        self.variables: dict[str, Templates] = {"HOME": (HOME,), "IFS": (" \t\n",)}
        self.arrays: dict[str, tuple[Templates, ...]] = {}
        self.arguments: tuple[Templates, ...] | None = ()
        self.functions: dict[str, Node] = {}
        self.cwd: Templates = (CWD,)
        self.linked = False  # nothing stays as it was assigned

    def copy(self) -> "State":
        """Another state that goes its own way from here."""
        other = State()
        other.variables = dict(self.variables)
        other.arrays = dict(self.arrays)
        other.arguments = self.arguments
        other.functions = dict(self.functions)
        other.cwd = self.cwd
        other.linked = self.linked
        return other

    def join(self, other: Self) -> None:
        """Hold what is true in either of two states."""
        variables = self.variables
        for name, theirs in other.variables.items():
            mine = variables.get(name, _ANY)
            if mine is not theirs:
                variables[name] = either(mine, theirs)
        for name in variables.keys() - other.variables.keys():
            variables[name] = either(variables[name], _ANY)
        for name in self.arrays.keys() | other.arrays.keys():
            if self.arrays.get(name) != other.arrays.get(name):
                self.arrays.pop(name, None)
                self.variables[name] = (HOLE,)
        if self.arguments != other.arguments:
            self.arguments = None
        self.linked = self.linked or other.linked
        self.functions |= {k: v for k, v in other.functions.items() if k not in self.functions}
        self.cwd = either(self.cwd, other.cwd)

    def assign(self, name: str, values: Templates) -> None:
        """Give a variable its possible values."""
        self.arrays.pop(name, None)
        if name == "PWD":
            return
        bounded = len(values) <= _MOST_VALUES and all(len(each) <= LONGEST for each in values)
        self.variables[name] = values if bounded else _ANY
        if self.linked:
            self.forget()

    def change_anytime(self) -> None:
        """Trust no value from here on: a name stands for another, or a trap sets it."""
        self.linked = True
        self.forget()

    def forget(self, names: Iterable[str] | None = None) -> None:
        """Let variables have any value besides those they had; all, if none is named."""
        for name in tuple(self.variables) if names is None else names:
            if name in self.variables and name != "HOME":
                self.variables[name] = either(self.variables[name], (HOLE,))
        for name in tuple(self.arrays) if names is None else names:
            if self.arrays.pop(name, None) is not None:
                self.variables[name] = (HOLE,)

    def elsewhere(self) -> "State":
        """The state of another shell started from here: what was not exported is unset there."""
        other = self.copy()
        other.variables = {
            name: values if name in {"HOME", "IFS"} else either(values, ("",))
            for name, values in self.variables.items()
        }
        other.arrays = {}
        other.arguments = ()
        other.functions = {}
        return other


def either(left: Templates, right: Templates) -> Templates:
    """The values of both, once each."""
    if left == right:
        return left
    joined = tuple(dict.fromkeys(left + right))
    return joined if len(joined) <= _MOST_VALUES else (HOLE,)
