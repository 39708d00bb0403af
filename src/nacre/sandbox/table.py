"""Which layer enforces what: the table that every result carries."""

from typing import TYPE_CHECKING

from nacre.model.confinement import UNENFORCED, Confinement, Enforcement, Network, Protection
from nacre.model.launch import Container
from nacre.sandbox.rights import Fs, Net, Rights, Scope

if TYPE_CHECKING:
    from nacre.container.engine import Facts
    from nacre.sandbox.attached import Attached

__all__ = ("container_table", "landlock_table", "none_table", "room_table")

_P = Protection


def none_table(*, cleared: bool) -> Enforcement:
    """What holds without any sandbox."""
    return Enforcement(by=_always(cleared=cleared))


def landlock_table(
    confinement: Confinement, rights: Rights, *, cleared: bool, root: bool
) -> Enforcement:
    """What a restricted thread enforces, and what of a room is missing then."""
    landlock, seccomp = bool(rights.fs), "seccomp"
    by: dict[str, str] = {}
    if confinement.writable is not None:
        truncated = bool(rights.fs & Fs.TRUNCATE)
        by[_P.WRITE] = _layers(landlock and "landlock", not truncated and seccomp)
        by[_P.METADATA] = UNENFORCED
    if confinement.writable:
        by[_P.PROTECTED] = "compare"
    if confinement.denied or confinement.readable is not None:
        by[_P.READ] = _layers(landlock and "landlock")
    if confinement.network is Network.DENY:
        by[_P.TCP] = _layers(bool(rights.net & Net.CONNECT_TCP) and "landlock", seccomp)
        by[_P.UDP] = seccomp
    if confinement.network is Network.DENY or confinement.writable is not None:
        by[_P.UNIX_SOCKETS] = seccomp
    if confinement.own_signals:
        by[_P.SIGNALS] = _layers(bool(rights.scope & Scope.SIGNAL) and "landlock")
        by[_P.SCHEDULING_OF_OTHERS] = seccomp
        by[_P.VIEW_OF_OTHERS] = UNENFORCED
        by[_P.IPC] = seccomp
    by[_P.MEMORY_OF_OTHERS] = _layers(landlock and "landlock", seccomp)
    fenced = landlock and confinement.writable is not None and "landlock"
    by[_P.TERMINALS] = _layers("session", fenced, seccomp)
    by |= _by_filter(confinement, root=root)
    return Enforcement(by=by | _always(cleared=cleared))


def room_table(
    confinement: Confinement, rights: Rights, *, cleared: bool, root: bool
) -> Enforcement:
    """What a room enforces, with a restricted thread inside."""
    inside = bool(rights.fs) and "landlock"
    by: dict[str, str] = {}
    if confinement.writable is not None:
        by[_P.WRITE] = _layers("mount", inside)
        by[_P.METADATA] = "mount"
    if confinement.writable or confinement.protected:
        by[_P.PROTECTED] = _layers("mount", bool(confinement.writable) and "compare")
    if confinement.denied or confinement.readable is not None:
        by[_P.READ] = _layers("mount", confinement.readable is not None and inside)
    if confinement.network is Network.DENY:
        by[_P.TCP] = by[_P.UDP] = "netns"
    if confinement.network is Network.DENY or confinement.writable is not None:
        by[_P.UNIX_SOCKETS] = "seccomp"
    scoped = bool(rights.scope & Scope.SIGNAL) and confinement.own_signals and "landlock"
    by[_P.SIGNALS] = _layers("pidns", scoped)
    by[_P.SCHEDULING_OF_OTHERS] = by[_P.VIEW_OF_OTHERS] = "pidns"
    by[_P.IPC] = "ipcns"
    by[_P.MEMORY_OF_OTHERS] = _layers("pidns", inside, "seccomp")
    by[_P.TERMINALS] = _layers("session", confinement.writable is not None and "mount", "seccomp")
    by |= _by_filter(confinement, root=root)
    by[_P.NAMESPACES] = "userns+seccomp"
    return Enforcement(by=by | _always(cleared=cleared) | {_P.LIFETIME: "warden+pidns"})


def container_table(
    confinement: Confinement,
    container: Container,
    facts: "Facts",
    there: "Attached | None",
    *,
    denies: bool,
) -> Enforcement:
    """What a container enforces, as its engine makes it; or as somebody had it made.

    `denies` says that something is denied of what the container shows.
    """
    layer = "container"
    by: dict[str, str] = {}
    if confinement.writable is not None:
        by[_P.WRITE] = _layers((not there or _writes_no_more(confinement, there)) and layer)
        by[_P.METADATA] = by[_P.WRITE]
    if confinement.writable or confinement.protected:
        mounted = not there and layer
        by[_P.PROTECTED] = _layers(mounted, bool(confinement.writable) and "compare")
    by[_P.READ] = _layers((not there or not denies) and layer)
    if confinement.network is Network.DENY:
        by[_P.TCP] = by[_P.UDP] = "netns"
    if confinement.network is Network.DENY or confinement.writable is not None:
        by[_P.UNIX_SOCKETS] = _layers(container.filter and "seccomp")
    own_pids = (not there or there.own_pids) and "pidns"
    by[_P.SIGNALS] = by[_P.SCHEDULING_OF_OTHERS] = by[_P.VIEW_OF_OTHERS] = _layers(own_pids)
    by[_P.MEMORY_OF_OTHERS] = _layers(own_pids, container.filter and "seccomp")
    by[_P.IPC] = _layers((not there or there.own_ipc) and "ipcns")
    by[_P.TERMINALS] = _layers("session", layer, container.filter and "seccomp")
    filtered = facts.seccomp and (not there or there.filtered) and "seccomp"
    by[_P.KERNEL_CALLS] = by[_P.NAMESPACES] = _layers(filtered)
    by[_P.PRIVILEGES] = _layers((not there or there.privileges_fixed) and "no_new_privs")
    by[_P.CORE_FILES] = "rlimit"
    by |= _by_cgroup(container, facts, there)
    if confinement.limits.file_bytes is not None:
        by[_P.FILE_LIMIT] = "rlimit"
    return Enforcement(by=by | _always(cleared=True) | {_P.LIFETIME: "porter+container"})


def _writes_no_more(confinement: Confinement, there: "Attached") -> bool:
    """Whether a container that somebody made can be written where it may be, and nowhere else."""
    return there.read_only and (bool(confinement.writable) or there.read_only_workspace)


def _by_cgroup(container: Container, facts: "Facts", there: "Attached | None") -> dict[str, str]:
    """The limits of all that is in a container; some engines take them and ignore them."""
    asked = {
        _P.MEMORY_LIMIT: (
            there or container.memory,
            facts.memory_limit and (not there or there.memory_limit),
        ),
        _P.CPU_LIMIT: (
            there or container.cpus,
            facts.cpu_limit and (not there or there.cpu_limit),
        ),
        _P.PROCESS_LIMIT: (
            there or container.processes,
            facts.process_limit and (not there or there.process_limit),
        ),
    }
    return {name: _layers(has and "cgroup") for name, (wanted, has) in asked.items() if wanted}


def _by_filter(confinement: Confinement, *, root: bool) -> dict[str, str]:
    """What a thread gives up wherever it runs."""
    by: dict[str, str] = {
        _P.KERNEL_CALLS: "seccomp",
        _P.NAMESPACES: "seccomp",
        _P.PRIVILEGES: "no_new_privs",
        _P.CORE_FILES: "rlimit",
    }
    limits = confinement.limits
    asked = {
        _P.MEMORY_LIMIT: limits.memory,
        _P.CPU_LIMIT: limits.cpu_seconds,
        _P.FILE_LIMIT: limits.file_bytes,
        _P.PROCESS_LIMIT: limits.processes,
    }
    by |= {name: "rlimit" for name, most in asked.items() if most is not None}
    if root and limits.processes is not None:
        by[_P.PROCESS_LIMIT] = "warden"  # the kernel does not count the processes of root
    return by


def _always(*, cleared: bool) -> dict[str, str]:
    return {
        _P.ENVIRONMENT: "cleared" if cleared else UNENFORCED,
        _P.DESCRIPTORS: "closed",
        _P.LIFETIME: "warden",
    }


def _layers(*names: str | bool) -> str:
    found = [name for name in names if name and isinstance(name, str)]
    return "+".join(found) or UNENFORCED
