"""The connection to an engine: the SDK's client, its certificates, and its errors in sentences."""

from __future__ import annotations

import os
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from nacre.container.address import is_local, require_socket
from nacre.errors import SandboxError

if TYPE_CHECKING:
    from collections.abc import Generator

    import docker

__all__ = (
    "ContainerGoneError",
    "LeavingError",
    "MisreadError",
    "NameTakenError",
    "StartingError",
    "open_client",
    "sentences",
)

# To say its version; then to make a container, on a machine that has much to do.
_HELLO_SECONDS, _ANSWER_SECONDS = 20.0, 60.0
# It is not said when the version is asked for.
_ANY_VERSION = "1.41"
_CONFLICT = 409
# Rootless podman reads these ranges with a library that several requests at once confuse.
_NO_RANGES = "requires additional UIDs or GIDs"
_NO_BASH = ("executable file not found", "no such file or directory", "not found in $PATH")


class ContainerGoneError(SandboxError):
    """There is no such container, or it does not run."""


class NameTakenError(SandboxError):
    """The name is in use."""


class LeavingError(SandboxError):
    """The container is being removed already."""


class StartingError(SandboxError):
    """The container was made a moment ago, by somebody who is about to start it."""


class MisreadError(SandboxError):
    """The engine found no ranges of numbers for its user; at another time it may."""


def open_client(address: str) -> docker.APIClient:
    """Connect to an engine.

    Raises:
        SandboxError: If it cannot be reached.
    """
    if address.startswith("ssh://"):
        raise SandboxError(
            f"an engine at {address!r} cannot be reached directly; forward its socket with"
            " `ssh -nNT -L LOCAL.sock:/run/docker.sock HOST`, and set"
            " DOCKER_HOST=unix://LOCAL.sock"
        )
    try:
        import docker
    except ImportError:
        raise SandboxError(
            "the Docker SDK is missing; install it: pip install 'nacre[container]'"
        ) from None

    def connected(version: str, seconds: float) -> docker.APIClient:
        client = docker.APIClient(
            base_url=address, version=version, timeout=seconds, tls=_tls(address)
        )
        # REQUESTS_CA_BUNDLE, which is meant for the web, would win over the engine's own.
        client.trust_env = False
        return client

    with sentences(address):
        require_socket(address)
        asking = connected(_ANY_VERSION, _HELLO_SECONDS)
        try:
            version = str(asking.version(api_version=False)["ApiVersion"])
        finally:
            asking.close()
        return connected(version, _ANSWER_SECONDS)


@contextmanager
def sentences(
    address: str, image: str | None = None, *, in_container: bool = False
) -> Generator[None]:
    """Say in a sentence what went wrong."""
    from docker.errors import APIError, DockerException, NotFound

    try:
        yield
    except NotFound as error:
        if in_container or "no such container" in _said(error).lower():
            raise ContainerGoneError(f"there is no such container: {_said(error)}") from error
        raise SandboxError(_no_image(image, address, error)) from error
    except APIError as error:
        said = _said(error)
        if error.status_code == _CONFLICT and "name" in said and not in_container:
            raise NameTakenError(said) from error
        if error.status_code == _CONFLICT and "already in progress" in said:
            raise LeavingError(said) from error
        if in_container and ("not running" in said or "container state" in said):
            raise ContainerGoneError(f"the container does not run: {said}") from error
        if _NO_RANGES in said:
            raise MisreadError(f"the engine at {address} refuses: {said}") from error
        if any(each in said for each in _NO_BASH) and "bash" in said:
            raise SandboxError(f"the image {image!r} has no bash; use one that has it") from error
        raise SandboxError(f"the engine at {address} refuses: {said}") from error
    except (DockerException, OSError, ValueError) as error:
        # The SDK's connection errors are those of its HTTP library, which are OSErrors.
        raise SandboxError(
            f"no engine answers at {address} ({_reason(error)}); start Docker or Podman's service,"
            " or set DOCKER_HOST"
        ) from error


def _no_image(image: str | None, address: str, error: Exception) -> str:
    if image is None:
        return f"the engine at {address} does not know this request: {_reason(error)}"
    return f"there is no image {image!r} on the engine at {address}; pull or build it there first"


def _said(error: Any) -> str:  # noqa: ANN401 (the SDK's)
    return str(error.explanation or error).strip().replace("\n", " ")[:500]


def _reason(error: BaseException) -> str:
    """The innermost cause, in a few words."""
    while (inner := error.__cause__ or error.__context__) is not None:
        error = inner
    return str(error)[:200] or type(error).__name__


def _tls(address: str) -> Any:  # noqa: ANN401 (the SDK's)
    """The certificates that Docker's own variables name."""
    if is_local(address) or not os.environ.get("DOCKER_TLS_VERIFY"):
        return False
    from docker.tls import TLSConfig

    folder = os.environ.get("DOCKER_CERT_PATH") or os.path.expanduser("~/.docker")
    return TLSConfig(
        client_cert=(f"{folder}/cert.pem", f"{folder}/key.pem"),
        ca_cert=f"{folder}/ca.pem",
        verify=True,
    )
