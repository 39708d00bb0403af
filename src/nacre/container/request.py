"""What an engine is asked for when a container is to be made; its API documents the names."""

from typing import Any

from nacre.container.resident import HOUSE, house_source, house_words
from nacre.model.launch import Container

__all__ = ("KEPT", "LABEL", "OWNER", "PODMAN", "STATE", "request_for")

PODMAN = "podman"

LABEL, STATE, OWNER, KEPT = "dev.nacre", "dev.nacre.state", "dev.nacre.owner", "dev.nacre.kept"
# Programs are built and run in there; engines would forbid that.
_TMP = "rw,exec,nosuid,nodev,mode=1777"
_NOTHING = "ro,nosuid,nodev,noexec,mode=0555,size=4k"


def request_for(container: Container, owner: str, filtered: str) -> dict[str, Any]:
    """A container, owned by a process that others can tell to be alive.

    `filtered` is its system call filter, or for podman the file that has it; empty for the engine's.
    """
    # Not as `Binds`: those make folders that are missing, and take a colon for a border.
    mounts = [
        {
            "Type": "bind",
            "Source": mount.source,
            "Target": mount.target,
            "ReadOnly": not mount.writable,
        }
        for mount in container.mounts
    ]
    # Podman would copy what was in the place of an empty file system into it, its mode included.
    empty = ",notmpcopyup" if container.product == PODMAN else ""
    tmpfs = {"/tmp": _TMP + empty} | dict.fromkeys(container.hidden, _NOTHING + empty)  # noqa: S108 (its own)
    limits = {
        "Memory": container.memory,
        "MemorySwap": container.memory,
        "NanoCpus": None if container.cpus is None else int(container.cpus * 1e9),
        "PidsLimit": container.processes,
    }
    host = {
        "AutoRemove": True,
        "CapDrop": ["ALL"],
        "Mounts": mounts,
        "ReadonlyRootfs": not container.writable_root,
        "SecurityOpt": ["no-new-privileges", *([f"seccomp={filtered}"] if filtered else [])],
        "Tmpfs": tmpfs,
        **({} if container.networked else {"NetworkMode": "none"}),
        **({"UsernsMode": container.userns} if container.userns else {}),
        **{name: most for name, most in limits.items() if most is not None},
    }
    first, *words = house_words(container.idle)
    return {
        "Image": container.image,
        "Entrypoint": [first],
        "Cmd": words,
        "User": container.user,
        "WorkingDir": "/workspace",
        # Podman asks before it removes, and would wait for so many seconds.
        "StopTimeout": 0,
        "Env": ["HOME=/tmp", f"{HOUSE}={house_source()}"],
        "Labels": {
            LABEL: "1",
            STATE: container.state,
            OWNER: owner,
            KEPT: "yes" if container.kept else "no",
        },
        "HostConfig": host,
    }
