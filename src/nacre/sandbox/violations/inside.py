"""A container, asked as the host is: of its files only those of the workspace can be looked at."""

import os
from pathlib import PurePath

from nacre.model.doorway import WORKSPACE, Doorway
from nacre.sandbox.violations.host import ThisHost

__all__ = ("InsideContainer",)


class InsideContainer:
    """Answers about a container that has the workspace of this doorway.

    Of its other files it is taken that they are there and would have been written, but for the
    read-only root: an image's own modes answer with another error.
    """

    def __init__(self, doorway: Doorway) -> None:
        self._doorway = doorway
        self._host = ThisHost()

    def exists(self, path: str) -> bool:
        """Whether something is there, a dangling link included."""
        here = self._here(path)
        return here is None or self._host.exists(here)

    def is_folder(self, path: str) -> bool:
        """Whether it is, or leads to, a folder."""
        here = self._here(path)
        return here is None or self._host.is_folder(here)

    def is_socket(self, path: str) -> bool:
        """Whether it is a socket that the user may connect to."""
        here = self._here(path)
        return here is not None and self._host.is_socket(here)

    def may(self, path: str, mode: int) -> bool:
        """Whether the user may do this to what is there."""
        here = self._here(path)
        return here is None or self._host.may(here, mode)

    def owns(self, path: str) -> bool:
        """Whether it belongs to the user."""
        here = self._here(path)
        return here is None or self._host.owns(here)

    def real(self, path: str) -> str:
        """Where a path leads, as far as the workspace goes."""
        here = self._here(path)
        if here is None:
            return os.path.normpath(path)
        return str(self._doorway.inward(PurePath(self._host.real(here))) or path)

    @property
    def root(self) -> bool:
        """Whether the user is root."""
        return self._host.root

    @property
    def online(self) -> bool:
        """Whether there is a way to other machines."""
        return self._host.online

    def listens(self, port: int) -> bool:
        """Whether something accepts connections on this port of TCP."""
        return self._host.listens(port)

    def owns_process(self, pid: int) -> bool:
        """Whether the user could signal this process: numbers in there mean others."""
        del pid
        return False

    def setting(self, name: str) -> int | None:
        """A number of /proc/sys; the kernel is the same."""
        return self._host.setting(name)

    def limit(self, number: int) -> int | None:
        """The user's own resource limit, or None for none."""
        return self._host.limit(number)

    def _here(self, path: str) -> str | None:
        inside = PurePath(os.path.normpath(path))
        if not inside.is_relative_to(WORKSPACE):
            return None
        return str(self._doorway.outside / inside.relative_to(WORKSPACE))
