"""Where an engine listens."""

import os
import socket
from collections.abc import Mapping

__all__ = ("address", "addresses", "is_local", "require_socket")

# Docker's name for it before Podman's; both speak the Docker API.
_VARIABLES = ("DOCKER_HOST", "CONTAINER_HOST")
_UNIX = "unix://"
_CONNECT_SECONDS = 2.0


def address(environ: Mapping[str, str]) -> str | None:
    """The engine that the variables name, or the first socket in a usual place that answers."""
    for name in _VARIABLES:
        if found := environ.get(name):
            return found
    return next((f"{_UNIX}{path}" for path in _usual(environ) if _answers(path)), None)


def addresses(environ: Mapping[str, str]) -> tuple[str, ...]:
    """All engines there are: the one that `address` finds first, others that answer after it."""
    named = [environ[name] for name in _VARIABLES if environ.get(name)]
    usual = [f"{_UNIX}{path}" for path in _usual(environ) if _answers(path)]
    return tuple(dict.fromkeys([*named, *usual]))


def is_local(found: str) -> bool:
    """Whether an engine is on this machine, as far as its address tells."""
    return found.startswith(_UNIX)


def _usual(environ: Mapping[str, str]) -> tuple[str, ...]:
    """The user's own engines before those of all."""
    own = environ.get("XDG_RUNTIME_DIR") or f"/run/user/{os.getuid()}"
    return (
        f"{own}/docker.sock",
        f"{own}/podman/podman.sock",
        "/var/run/docker.sock",
        "/run/podman/podman.sock",
    )


def require_socket(found: str) -> None:
    """See that somebody listens on a socket of this machine; of others nothing is known yet.

    Raises:
        OSError: If nobody does.
    """
    if is_local(found):
        with socket.socket(socket.AF_UNIX) as client:
            client.settimeout(_CONNECT_SECONDS)
            client.connect(found.removeprefix(_UNIX))


def _answers(path: str) -> bool:
    try:
        require_socket(f"{_UNIX}{path}")
    except OSError:
        return False
    return True
