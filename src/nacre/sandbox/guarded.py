"""Protected paths of a run, compared before and after it."""

from nacre.sandbox.protected.paths import ProtectedPaths
from nacre.sandbox.protected.restore import Reverted

__all__ = ("Guarded",)


class Guarded:
    """What is protected around one run; nothing, unless paths are given."""

    def __init__(self, paths: ProtectedPaths | None = None, *, mounted: bool = False) -> None:
        self._paths = paths
        self._mounted = mounted
        self._begun = False

    @property
    def active(self) -> bool:
        """Whether there is anything to compare."""
        return self._paths is not None

    def begin(self) -> None:
        """Remember how things are."""
        if self._paths and not self._begun:
            self._begun = True
            self._paths.begin(mounted=self._mounted)

    def check(self) -> tuple[Reverted, ...]:
        """Put back what was changed so far, while the run goes on."""
        return self._paths.check() if self._paths and self._begun else ()

    def end(self) -> tuple[Reverted, ...]:
        """Put back what was changed, and forget; safe to call again."""
        if self._paths is None or not self._begun:
            return ()
        self._begun = False
        return self._paths.end()
