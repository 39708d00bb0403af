"""The contract every sandbox keeps."""

from dataclasses import field
from pathlib import PurePath
from typing import Protocol

from nacre.model.confinement import Confinement, Enforcement
from nacre.model.launch import Launch
from nacre.model.value import dataclass
from nacre.sandbox.guarded import Guarded

__all__ = ("Held", "Sandbox")


@dataclass(frozen=True, slots=True, kw_only=True)
class Held:
    """A launch as it will be held, and what holds it.

    `tmp` is the folder for temporary files as the script sees it, None if it has
    none of its own; `guarded` compares what is protected, from its `begin` to its `end`.
    """

    launch: Launch
    enforcement: Enforcement
    confinement: Confinement
    tmp: PurePath | None = None
    guarded: Guarded = field(default_factory=Guarded)


class Sandbox(Protocol):
    """Holds launches to confinements, by one mechanism.

    It decides and describes; `nacre.process` does. What it found out about the host
    when it was made stays true for it.
    """

    name: str

    def hold(self, launch: Launch, confinement: Confinement, *, cleared: bool) -> Held:
        """Say how a launch is held to a confinement; starts nothing.

        `cleared` says that its environment was built from nothing.

        Raises:
            SandboxError: If something that the confinement asks for cannot be enforced.
        """
        ...

    def close(self) -> None:
        """Let go of what was made for it."""
        ...
