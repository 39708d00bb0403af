"""A container that somebody else made: what it holds is what they asked for."""

from typing import Any

from nacre.container.engine import Engine
from nacre.errors import SandboxError
from nacre.model.confinement import Confinement, Network
from nacre.model.doorway import WORKSPACE
from nacre.model.value import dataclass

__all__ = ("Attached", "attached")


@dataclass(frozen=True, slots=True, kw_only=True)
class Attached:
    """What an engine says of a container that is there."""

    name: str
    networked: bool
    read_only: bool
    read_only_workspace: bool
    filtered: bool
    privileges_fixed: bool
    own_pids: bool
    own_ipc: bool
    memory_limit: bool
    cpu_limit: bool
    process_limit: bool

    def require(self, confinement: Confinement) -> None:
        """Refuse what nobody made it hold.

        Raises:
            SandboxError: If it has a network, and none is to be had.
        """
        if confinement.network is Network.DENY and self.networked:
            raise SandboxError(
                f"the container {self.name!r} has a network, and network='deny'; say"
                " network='inherit', or make it with --network none. Nothing was run"
            )


def attached(engine: Engine, name: str) -> Attached:
    """Ask an engine about a container.

    Raises:
        SandboxError: If there is none of that name that runs.
    """
    found = engine.inspect(name)
    host: dict[str, Any] = found.get("HostConfig") or {}
    options = " ".join(host.get("SecurityOpt") or ())
    privileged = bool(host.get("Privileged"))
    return Attached(
        name=name,
        networked=host.get("NetworkMode") != "none",
        read_only=bool(host.get("ReadonlyRootfs")),
        read_only_workspace=any(
            mount.get("Destination") == str(WORKSPACE) and mount.get("RW") is False
            for mount in found.get("Mounts") or ()
        ),
        filtered=not privileged and "seccomp=unconfined" not in options,
        privileges_fixed=not privileged and "no-new-privileges" in options,
        own_pids=not str(host.get("PidMode") or "").startswith(("host", "container")),
        own_ipc=not str(host.get("IpcMode") or "").startswith(("host", "container", "shareable")),
        memory_limit=bool(host.get("Memory")),
        cpu_limit=bool(host.get("NanoCpus") or host.get("CpuQuota")),
        process_limit=(host.get("PidsLimit") or 0) > 0,
    )
