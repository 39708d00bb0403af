"""No confinement: the launch as it is, with the environment it was given."""

from nacre.model.confinement import Enforcement
from nacre.model.launch import Launch

__all__ = ("Unconfined",)


class Unconfined:
    """Enforces nothing, and says so."""

    def enforcement(self) -> Enforcement:
        """An empty table."""
        return Enforcement()

    def wrap(self, launch: Launch) -> Launch:
        """Return the launch unchanged."""
        return launch
