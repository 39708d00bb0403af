"""Choose a sandbox by name, or refuse. The one that is chosen is imported, and no other."""

import os
from collections.abc import Sequence
from pathlib import PurePath

from nacre.errors import ConfigError, SandboxError
from nacre.sandbox.base import Sandbox
from nacre.sandbox.gaps import left_out
from nacre.sandbox.probe import Host, probe
from nacre.sandbox.surroundings import Surroundings
from nacre.sandbox.wanted import Wanted

__all__ = ("NAMES", "known", "select")

NAMES = ("auto", "bubblewrap", "landlock", "none", "container")
ALLOW_UNCONFINED = "NACRE_ALLOW_UNCONFINED"


def known(name: str) -> None:
    """Refuse a name that no sandbox has.

    Raises:
        ConfigError: If there is none of that name.
    """
    if name not in NAMES:
        names = ", ".join(repr(each) for each in NAMES)
        raise ConfigError(f"sandbox={name!r} is not known; use one of {names}")


def select(
    name: str,
    surroundings: Surroundings,
    untrusted: Sequence[PurePath],
    wanted: Wanted | None = None,
) -> Sandbox:
    """The sandbox of this name, if it works here; `auto` takes the strongest that does.

    `untrusted` folders are those that scripts can write: no program is taken from them.
    `wanted` says which container is meant.

    Raises:
        ConfigError: If there is none of that name.
        SandboxError: If it does not work here. Nothing weaker is chosen on anyone's behalf.
    """
    known(name)
    if name == "none":
        return _unconfined()
    if name == "container":
        from nacre.sandbox.contained import open_container

        return open_container(wanted or Wanted(), surroundings)
    host = probe(untrusted, bubblewrap=name != "landlock")
    if name != "landlock" and host.bwrap and not host.no_seccomp:
        from nacre.sandbox.bubblewrapped import Bubblewrapped

        return Bubblewrapped(host, host.bwrap, surroundings)
    if name != "bubblewrap" and host.landlock and not host.no_seccomp:
        from nacre.sandbox.landlocked import Landlocked

        return Landlocked(host, surroundings)
    if name == "auto" and os.environ.get(ALLOW_UNCONFINED) == "1":
        return _unconfined()
    raise SandboxError(_refusal(name, host))


def _unconfined() -> Sandbox:
    from nacre.sandbox.none import Unconfined

    return Unconfined()


def _refusal(name: str, host: Host) -> str:
    """Which means are missing, why, and what to do about it."""
    missing: list[str] = []
    if name != "landlock" and not host.bwrap:
        missing.append(f"no room of namespaces can be made ({host.no_bwrap})")
    if name != "bubblewrap" and not host.landlock:
        missing.append(f"there is no Landlock ({host.no_landlock})")
    if host.no_seccomp:
        missing.append(f"no system call filter can be set ({host.no_seccomp})")
    remedy = "install bubblewrap and allow user namespaces"
    if name == "landlock":
        remedy = "use a kernel of 5.13 or newer that was booted with Landlock"
    elif name == "bubblewrap" and host.landlock and not host.no_seccomp:
        remedy += f", or use sandbox='landlock', which leaves out {left_out('landlock', name)}"
    return (
        f"sandbox={name!r} cannot be had here: {'; '.join(missing)}. Nothing was run."
        f" To have it, {remedy}; `nacre doctor` says more. To run without any, say sandbox='none'"
    )
