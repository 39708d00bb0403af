"""The confinements that have a name."""

import os
from collections.abc import Sequence
from pathlib import Path, PurePath

from nacre.errors import ConfigError
from nacre.model.confinement import Confinement, Limits, Network
from nacre.model.value import dataclass
from nacre.sandbox.aliases import aliases
from nacre.sandbox.protected.disk import resolved
from nacre.sandbox.stores import stores
from nacre.sandbox.worktree import git_folders

__all__ = ("LIMITS", "NAMES", "Added", "preset")

NAMES = ("read-only", "workspace", "open")
_ROOT = PurePath("/")
_GIB = 1 << 30
# What ordinary builds and tests stay far below, and a script gone wild does not.
LIMITS = Limits(
    memory=max(2 * _GIB, os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 2),
    processes=2048,
    file_bytes=10 * _GIB,
)
# A script that may write nothing has little to compute.
_READ_ONLY_LIMITS = Limits(
    memory=4 * _GIB, cpu_seconds=900, processes=512, file_bytes=_GIB, open_files=4096
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Added:
    """What is added to a preset, path by path."""

    write: tuple[Path, ...] = ()
    deny_read: tuple[Path, ...] = ()
    protect: tuple[Path, ...] = ()


_NOTHING = Added()


def preset(
    name: str,
    workspace: Path,
    *,
    home: str | None,
    network: Network = Network.DENY,
    added: Added = _NOTHING,
) -> Confinement:
    """A named confinement of a workspace, with what is added to it by name.

    Raises:
        ConfigError: If there is no such preset, or it cannot have what is added.
    """
    stored = stores(home) if name == "workspace" else ()
    denied = aliases(_distinct([*added.deny_read, *stored]))
    protected = _distinct(added.protect)
    match name:
        case "read-only":
            if added.write:
                raise ConfigError(
                    f"write={str(added.write[0])!r} cannot be had with confinement='read-only';"
                    " use confinement='workspace'"
                )
            return Confinement(
                name=name,
                denied=denied,
                protected=protected,
                network=network,
                limits=_READ_ONLY_LIMITS,
            )
        case "workspace":
            return Confinement(
                name=name,
                denied=denied,
                # The root of everything is nobody's workspace: then only the rest is writable.
                writable=_outermost([workspace, *git_folders(workspace), *added.write]),
                protected=protected,
                private_tmp=True,
                network=network,
                limits=LIMITS,
            )
        case "open":
            return Confinement(
                name=name,
                denied=denied,
                writable=None,
                protected=protected,
                network=network,
                own_signals=False,
            )
        case _:
            known = ", ".join(repr(each) for each in NAMES)
            raise ConfigError(f"confinement={name!r} is not known; use one of {known}")


def _outermost(paths: Sequence[Path]) -> tuple[PurePath, ...]:
    """Folders that lie in no other: those within could be replaced by a script."""
    found = [path for path in _distinct(paths) if path != _ROOT]
    return tuple(path for path in found if not any(other in path.parents for other in found))


def _distinct(paths: Sequence[Path]) -> tuple[PurePath, ...]:
    """Where paths lead, and each once: what is denied by one spelling is denied by all."""
    found: dict[PurePath, None] = {}
    for path in paths:
        found[Path(resolved(str(path)))] = None
    return tuple(found)
