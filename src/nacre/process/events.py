"""What a warden says of a call, as the host hears it."""

import json
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from nacre.errors import WardenError
from nacre.model.value import dataclass

__all__ = (
    "Begun",
    "Crowded",
    "Event",
    "Gone",
    "Kept",
    "SeenLast",
    "ShellExited",
    "SpawnFailed",
    "Started",
    "Starved",
    "Waits",
    "events_of",
)


@dataclass(frozen=True, slots=True)
class Started:
    """Bash runs, under this pid; all it starts carries this mark."""

    pid: int
    mark: int


@dataclass(frozen=True, slots=True)
class Waits:
    """It has to wait for what is to hold it."""


@dataclass(frozen=True, slots=True)
class Begun:
    """What is to hold it is there now; said only of what had to wait."""


@dataclass(frozen=True, slots=True)
class SpawnFailed:
    """Bash did not start; `unheld` says that there was nothing to hold it."""

    errno: int
    reason: str
    unheld: bool = False


@dataclass(frozen=True, slots=True)
class SeenLast:
    """Nobody knows how it ends: what held it is gone."""

    reason: str


@dataclass(frozen=True, slots=True)
class ShellExited:
    """Bash was reaped, with this wait status."""

    status: int


@dataclass(frozen=True, slots=True)
class Kept:
    """Whether the warden took the call as a job."""

    kept: bool


@dataclass(frozen=True, slots=True)
class Crowded:
    """It had more processes than it may have, and was ended for that."""


@dataclass(frozen=True, slots=True)
class Starved:
    """The kernel killed something beside it for want of memory."""


@dataclass(frozen=True, slots=True)
class Gone:
    """No process of the call is left."""


Event = (
    Waits | Begun | Started | SpawnFailed | ShellExited | SeenLast | Kept | Crowded | Starved | Gone
)


@lru_cache(maxsize=64)  # most calls end alike
def events_of(message: bytes) -> tuple[Event, ...]:
    """What a message says.

    Raises:
        WardenError: If it says nothing that is known here.
    """
    return _events(json.loads(message))


def _events(message: Mapping[str, Any]) -> tuple[Event, ...]:
    found: tuple[Event, ...]
    match message:
        case {"exited": int(status), "gone": True}:
            found = (ShellExited(status), Gone())
        case {"started": int(pid), "mark": int(mark)}:
            found = (Started(pid, mark),)
        case {"unstarted": int(errno), "why": str(reason)}:
            found = (SpawnFailed(errno, reason, message.get("unheld") is True),)
        case {"lost": str(reason)}:
            found = (SeenLast(reason),)
        case {"exited": int(status)}:
            found = (ShellExited(status),)
        case {"kept": bool(kept)}:
            found = (Kept(kept),)
        case {"ready": int()}:
            return ()  # it came when the script was on its way to the warden
        case _:
            found = tuple(_SIGNS[name] for name in message if name in _SIGNS)
    if not found:
        raise WardenError(f"the warden said {message!r:.60}")
    return found


_SIGNS: Mapping[str, Event] = {
    "waits": Waits(),
    "begun": Begun(),
    "crowded": Crowded(),
    "starved": Starved(),
    "gone": Gone(),
}
