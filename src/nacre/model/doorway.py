"""Where a workspace is, seen from outside a container and from inside."""

import os
from dataclasses import replace
from pathlib import PurePath

from nacre.model.confinement import Confinement
from nacre.model.value import dataclass

__all__ = ("WORKSPACE", "Doorway")

WORKSPACE = PurePath("/workspace")


@dataclass(frozen=True, slots=True)
class Doorway:
    """A workspace, which a container has at /workspace. Both ways know no other folder.

    `outside` has no links in it; `spelled` is what else the workspace is called here.
    """

    outside: PurePath
    spelled: PurePath | None = None

    def inward(self, path: PurePath) -> PurePath | None:
        """Where the container has a path of the workspace; None if it lies elsewhere."""
        return self._moved(path, WORKSPACE)

    def outward(self, path: PurePath) -> PurePath | None:
        """Where a path of the container, or of the workspace, is on this machine."""
        inside = self._moved(path, self.outside)
        return inside if inside is not None else _moved(path, WORKSPACE, self.outside)

    def seen(self, confinement: Confinement) -> Confinement:
        """A confinement with its paths as scripts know them."""
        writable = confinement.writable
        return replace(
            confinement,
            writable=None if writable is None else self._inward(writable),
            protected=self._inward(confinement.protected),
            denied=self._inward(confinement.denied),
        )

    def _moved(self, path: PurePath, target: PurePath) -> PurePath | None:
        found = _moved(path, self.outside, target)
        if found is None and self.spelled is not None:
            return _moved(path, self.spelled, target)
        return found

    def _inward(self, paths: tuple[PurePath, ...]) -> tuple[PurePath, ...]:
        return tuple(self.inward(path) or path for path in paths)


def _moved(path: PurePath, origin: PurePath, target: PurePath) -> PurePath | None:
    path = PurePath(os.path.normpath(path))
    return target / path.relative_to(origin) if path.is_relative_to(origin) else None
