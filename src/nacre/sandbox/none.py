"""No confinement: the launch as it is, with the environment it was given."""

from nacre.errors import SandboxError
from nacre.model.confinement import Confinement
from nacre.model.launch import Launch
from nacre.sandbox.base import Held
from nacre.sandbox.table import none_table

__all__ = ("Unconfined",)


class Unconfined:
    """Enforces nothing, and says so."""

    name = "none"

    def hold(self, launch: Launch, confinement: Confinement, *, cleared: bool) -> Held:
        """Return the launch unchanged.

        Raises:
            SandboxError: If paths are to be protected: nothing would.
        """
        if confinement.protected:
            raise SandboxError(
                f"{str(confinement.protected[0])!r} is to be protected, and sandbox='none' protects"
                " nothing; use sandbox='bubblewrap', with confinement='open' if nothing else"
                " is to be confined"
            )
        return Held(launch=launch, enforcement=none_table(cleared=cleared), confinement=confinement)

    def close(self) -> None:
        """Nothing was made."""
