"""Containers whose owner is gone."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

from nacre.container.engine import Engine
from nacre.errors import SandboxError

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ("remove_strays",)


def remove_strays(address: str, state: str, may_live: Callable[[str], bool]) -> None:
    """Remove the containers of a state directory whose owner is gone."""
    with suppress(SandboxError):  # an engine that does not answer: the call itself will say so
        engine = Engine(address)
        for name, owner in engine.strays(state):
            if not may_live(owner):
                engine.remove(name)
        engine.close()
