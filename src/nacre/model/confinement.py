"""What a command may touch, and what of it was enforced."""

from collections.abc import Mapping
from dataclasses import field
from enum import Enum, StrEnum
from pathlib import PurePath

from nacre.model.value import dataclass

__all__ = (
    "UNENFORCED",
    "Confinement",
    "Enforcement",
    "Environment",
    "Limits",
    "Network",
    "Protection",
)


class Network(Enum):
    """Whether a script reaches anything but itself."""

    DENY = "deny"
    INHERIT = "inherit"


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """What one script may use up; None sets no limit. Core files are never written.

    `memory` counts the bytes of one process's own writable memory, not address
    space that is only reserved. `processes` counts processes and threads,
    `cpu_seconds` the processor time of one process. `cpus` is how many processors are used
    at a time, which only a container can limit; there, memory and processes are those of all
    scripts of a conversation.
    """

    memory: int | None = None
    cpu_seconds: int | None = None
    processes: int | None = None
    file_bytes: int | None = None
    open_files: int | None = None
    cpus: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Confinement:
    """What a script may touch. All paths are absolute.

    `readable` None is everything; `denied` paths are not readable in any case.
    `writable` None is everything, so that nothing of the file system is confined.
    `protected` paths stay as they are although they lie in writable folders.
    `private_tmp` gives it a folder for temporary files of its own, in the place of the
    host's, of which `visible` folders alone are left to be read. `own_signals` lets it
    signal its own processes only; with `ends_jobs`, also the jobs of its conversation
    that are confined, whoever started them.
    """

    name: str
    readable: tuple[PurePath, ...] | None = None
    denied: tuple[PurePath, ...] = ()
    writable: tuple[PurePath, ...] | None = ()
    protected: tuple[PurePath, ...] = ()
    private_tmp: bool = False
    visible: tuple[PurePath, ...] = ()
    network: Network = Network.DENY
    own_signals: bool = True
    ends_jobs: bool = False
    limits: Limits = field(default_factory=Limits)

    def __hash__(self) -> int:
        """By what differs most: a list of all that is denied is long."""
        return hash((self.name, self.writable, self.visible, self.network))


class Protection(StrEnum):
    """What can be enforced, each by its own means and each missing in its own way."""

    WRITE = "write"
    READ = "read"
    METADATA = "metadata"
    PROTECTED = "protected"
    TCP = "tcp"
    UDP = "udp"
    UNIX_SOCKETS = "unix_sockets"
    SIGNALS = "signals"
    MEMORY_OF_OTHERS = "memory_of_others"
    SCHEDULING_OF_OTHERS = "scheduling_of_others"
    VIEW_OF_OTHERS = "view_of_others"
    IPC = "ipc"
    TERMINALS = "terminals"
    KERNEL_CALLS = "kernel_calls"
    NAMESPACES = "namespaces"
    PRIVILEGES = "privileges"
    ENVIRONMENT = "environment"
    DESCRIPTORS = "descriptors"
    LIFETIME = "lifetime"
    MEMORY_LIMIT = "memory_limit"
    CPU_LIMIT = "cpu_limit"
    PROCESS_LIMIT = "process_limit"
    FILE_LIMIT = "file_limit"
    CORE_FILES = "core_files"


UNENFORCED = "none"


@dataclass(frozen=True, slots=True, kw_only=True)
class Enforcement:
    """Per protection, the layers that enforce it, joined by `+`, or `none`.

    A protection that is not named was not asked for.
    """

    by: Mapping[str, str] = field(default_factory=dict[str, str])

    @property
    def missing(self) -> tuple[str, ...]:
        """The protections that nothing enforces."""
        return tuple(name for name, layers in self.by.items() if layers == UNENFORCED)


@dataclass(frozen=True, slots=True, kw_only=True)
class Environment:
    """Which variables of the host a script sees.

    `inherit` passes all of them. Otherwise the environment is built from
    nothing: what every program needs, or just the `base` names, and those in `passed`.
    A name that contains one of the words in `never`, in any case of its letters, is
    not even passed by name. `fixed` variables are set in either case.
    """

    inherit: bool = False
    passed: tuple[str, ...] = ()
    base: frozenset[str] | None = None
    never: tuple[str, ...] = ()
    fixed: Mapping[str, str] = field(default_factory=dict[str, str])
