"""Which container a call is for, and whose a container is."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from nacre.model.launch import Container, Mount
from nacre.process.marks import born, lives, this_place

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ("container_of", "may_live", "owner_here")


def container_of(told: Mapping[str, Any]) -> Container:
    """A container as a request describes it."""
    fields: dict[str, Any] = {
        **told,
        "mounts": tuple(Mount(**each) for each in told["mounts"]),
        "hidden": tuple(told["hidden"]),
    }
    return Container(**fields)


def owner_here() -> str:
    """This process, so that another can tell whether it lives."""
    return f"{this_place()} {os.getpid()} {born(os.getpid())}"


def may_live(owner: str) -> bool:
    """Whether the process that made a container may live; of another place, that cannot be known."""
    place, _, when = owner.rpartition(" ")
    place, _, pid = place.rpartition(" ")
    if place != this_place() or not pid.isdecimal() or not when.isdecimal():
        return True
    return lives(int(pid), int(when))
