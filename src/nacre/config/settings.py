"""Which settings there are, what each may be, and which a project's file may tighten."""

import math
import os
from collections.abc import Callable, Mapping, Sequence
from typing import cast

from nacre.config.limits import read_limits
from nacre.model.value import dataclass

__all__ = ("PATHS", "SETTINGS", "Setting", "Value")

Value = str | float | tuple[str, ...]

# A relative path in a file is taken from the folder of that file.
PATHS = frozenset({"deny_read", "output_dir", "protect", "state", "write"})
# What a script gets where nobody says otherwise.
_USUAL_SECONDS = 120.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """One setting.

    `read` takes what a file holds, a host gives, or the text of a variable; it
    raises `ValueError` with what would do. `tightens` says whether a value is stricter
    than the one in force; a project's file may not name a setting without it,
    because an agent can write that file. What every place says of one that `adds`
    counts; of the others the last does.
    """

    read: Callable[[object], Value]
    tightens: Callable[[Value, Value | None], bool] | None = None
    never: tuple[Value, ...] = ()
    adds: bool = False


def _text(value: object) -> str:
    if isinstance(value, str) and value.strip():
        return value.strip()
    raise ValueError("cannot be used; give a text that is not empty")


def _one_of(*known: str) -> Callable[[object], str]:
    def read(value: object) -> str:
        if value in known:
            return str(value)
        raise ValueError(f"is not known; use {' or '.join(repr(each) for each in known)}")

    return read


def _seconds(value: object) -> float:
    if isinstance(value, str):
        try:
            value = float(value)
        except ValueError:
            value = math.nan
    if isinstance(value, int | float) and not isinstance(value, bool) and value > 0:
        return float(value)
    raise ValueError("cannot be used; give a number of seconds above 0")


def _folder(value: object) -> str:
    return os.path.expanduser(_text(value))


def _names(value: object) -> tuple[str, ...]:
    if isinstance(value, str):
        return tuple(value.replace(",", " ").split())
    if isinstance(value, list | tuple):
        names = cast("Sequence[object]", value)
        if all(isinstance(each, str) and each for each in names):
            return tuple(str(each) for each in names)
    raise ValueError('cannot be used; give a list of names, as in ["A", "B"]')


def _paths(value: object) -> tuple[str, ...]:
    if isinstance(value, str):
        value = [each for each in value.split(os.pathsep) if each]
    if isinstance(value, list | tuple):
        paths = [str(each) for each in cast("Sequence[object]", value) if _is_path(each)]
        if len(paths) == len(cast("Sequence[object]", value)):
            return tuple(os.path.expanduser(path) for path in paths)
    raise ValueError('cannot be used; give a list of paths, as in ["a", "/b"]')


def _is_path(value: object) -> bool:
    return isinstance(value, str | os.PathLike) and bool(str(cast("object", value)))


def _limits(value: object) -> tuple[str, ...]:
    return read_limits(_names(value))


def _is_less(value: Value, current: Value | None) -> bool:
    allowed = current if isinstance(current, float) else _USUAL_SECONDS
    return isinstance(value, float) and value < allowed


def _is_kill(value: Value, current: Value | None) -> bool:
    del current
    return value == "kill"


def _confines(value: Value, current: Value | None) -> bool:
    stricter: dict[str, set[Value]] = {
        "none": {"auto", "landlock", "bubblewrap"},
        "landlock": {"bubblewrap"},
        "container": set(),  # the others show the files of this machine
    }
    return value in stricter.get(str(current), {"bubblewrap"})


def _is_narrower(value: Value, current: Value | None) -> bool:
    del current
    return value == "read-only"


def _is_denial(value: Value, current: Value | None) -> bool:
    del current
    return value == "deny"


def _is_more(value: Value, current: Value | None) -> bool:
    del current
    return bool(value)


SETTINGS: Mapping[str, Setting] = {
    "confinement": Setting(
        read=_one_of("read-only", "workspace", "open"), tightens=_is_narrower, never=("open",)
    ),
    "container": Setting(read=_text),
    "deny_read": Setting(read=_paths, tightens=_is_more, adds=True),
    "dialect": Setting(read=_text),
    "idle_timeout": Setting(read=_seconds),
    "image": Setting(read=_text),
    "limits": Setting(read=_limits),
    "network": Setting(read=_one_of("deny", "inherit"), tightens=_is_denial, never=("inherit",)),
    "on_timeout": Setting(read=_one_of("kill", "background"), tightens=_is_kill),
    "output_dir": Setting(read=_folder),
    "pass_env": Setting(read=_names),
    "protect": Setting(read=_paths, tightens=_is_more, adds=True),
    "sandbox": Setting(read=_text, tightens=_confines, never=("none",)),
    "state": Setting(read=_folder),
    "timeout": Setting(read=_seconds, tightens=_is_less),
    "write": Setting(read=_paths),
}
