"""What the sandbox stopped, and what can be done about it."""

from enum import Enum

from nacre.model.value import dataclass

__all__ = ("Violation", "ViolationKind")


class ViolationKind(Enum):
    """What a script tried, each with how a sentence about it begins."""

    WRITE = "write"
    READ = "read"
    NETWORK = "network"
    UNIX_SOCKET = "unix_socket"
    KERNEL_CALL = "kernel_call"
    PROCESS = "process"
    LIMIT = "limit"


_STOPPED = {
    ViolationKind.WRITE: "the sandbox stopped a write to",
    ViolationKind.READ: "the sandbox stopped a read of",
    ViolationKind.NETWORK: "the sandbox stopped a connection to",
    ViolationKind.UNIX_SOCKET: "the sandbox stopped a connection to the socket",
    ViolationKind.KERNEL_CALL: "the sandbox stopped",
    ViolationKind.PROCESS: "the sandbox stopped a signal to process",
    ViolationKind.LIMIT: "the sandbox's limit was reached for",
}
_UNNAMED = {
    ViolationKind.NETWORK: "the sandbox stopped a connection to the network",
    ViolationKind.UNIX_SOCKET: "the sandbox stopped the use of a unix socket",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Violation:
    """One thing that the sandbox, and nothing else, stopped.

    `target` is the path, the address, the call or the process; empty if it is not
    known. `rule` is the line of the confinement that forbids it, `remedy` what the
    agent or the user can do about it.
    """

    kind: ViolationKind
    target: str = ""
    rule: str
    remedy: str

    @property
    def sentence(self) -> str:
        """All of it on one line."""
        if self.target:
            stopped = f"{_STOPPED[self.kind]} {self.target}"
        else:
            stopped = _UNNAMED.get(self.kind, _STOPPED[self.kind])
        return f"{stopped}: {self.rule}; {self.remedy}"
