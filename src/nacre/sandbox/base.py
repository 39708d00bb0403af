"""The contract every sandbox keeps."""

from typing import Protocol

from nacre.model.confinement import Enforcement
from nacre.model.launch import Launch

__all__ = ("Sandbox",)


class Sandbox(Protocol):
    """Turns a launch into one that can only do what is allowed.

    A sandbox is a pure function of its inputs and of what it found out about
    the host when it was made. It starts nothing; `nacre.process` does.
    """

    def enforcement(self) -> Enforcement:
        """Say beforehand what is enforced on this host."""
        ...

    def wrap(self, launch: Launch) -> Launch:
        """Return the confined launch. Starts nothing, reads nothing."""
        ...
