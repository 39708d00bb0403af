"""What is known of a run that may have met the sandbox."""

from pathlib import PurePath
from typing import Protocol

from nacre.model.confinement import UNENFORCED, Confinement, Enforcement
from nacre.model.value import dataclass
from nacre.syntax.script import Script

__all__ = ("Evidence", "Host")


class Host(Protocol):
    """What the host's own user could have done, without the sandbox.

    Nothing is opened but the kernel's own tables, and nothing raises.
    """

    def exists(self, path: str) -> bool:
        """Whether something is there, a dangling link included."""
        ...

    def is_folder(self, path: str) -> bool:
        """Whether it is, or leads to, a folder."""
        ...

    def is_socket(self, path: str) -> bool:
        """Whether it is a socket that the user may connect to."""
        ...

    def may(self, path: str, mode: int) -> bool:
        """Whether the user may do this (os.R_OK and its like) to what is there."""
        ...

    def owns(self, path: str) -> bool:
        """Whether it belongs to the user."""
        ...

    def real(self, path: str) -> str:
        """Where a path leads."""
        ...

    @property
    def root(self) -> bool:
        """Whether the user is root."""
        ...

    @property
    def online(self) -> bool:
        """Whether there is a way to other machines."""
        ...

    def listens(self, port: int) -> bool:
        """Whether something accepts connections on this port of TCP."""
        ...

    def owns_process(self, pid: int) -> bool:
        """Whether the user could signal this process."""
        ...

    def setting(self, name: str) -> int | None:
        """A number of /proc/sys, such as `kernel/dmesg_restrict`."""
        ...

    def limit(self, number: int) -> int | None:
        """The user's own resource limit, or None for none."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """What a script was, what it said, how it ended, and what it was held to.

    `output` may be cut in the middle. `tmp` is the private folder for temporary
    files, as the script sees it.
    """

    script: Script | None
    cwd: PurePath
    output: str
    exit_code: int | None
    signal: int | None
    confinement: Confinement
    enforcement: Enforcement
    home: str | None = None
    tmp: PurePath | None = None

    def layers(self, protection: str) -> frozenset[str]:
        """The layers that enforce a protection; none if nothing does."""
        named = self.enforcement.by.get(protection, UNENFORCED)
        return frozenset(named.split("+")) - {UNENFORCED, ""}

    @property
    def failed(self) -> bool:
        """Whether it did not end well."""
        return self.signal is not None or self.exit_code not in {0, None}
