"""An engine that has containers: Docker or Podman, through the API that both speak.

The SDK knows addresses, certificates and versions; this module knows what nacre asks for.
Every method blocks.
"""

from __future__ import annotations

import time
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nacre.container.address import is_local
from nacre.container.client import (
    ContainerGoneError,
    LeavingError,
    MisreadError,
    NameTakenError,
    StartingError,
    open_client,
    sentences,
)
from nacre.container.mounted import to_mount
from nacre.container.request import KEPT, LABEL, OWNER, PODMAN, STATE, request_for
from nacre.container.resident import resident_words
from nacre.errors import SandboxError
from nacre.model.value import dataclass

if TYPE_CHECKING:
    import socket

    from nacre.model.launch import Container

__all__ = ("Engine", "Facts")

_TRIES = 5
_LEAVING_SECONDS = 20.0
_RETRY_SECONDS = 0.1
# For another process to start the container that it has made.
_STARTING_SECONDS = 10.0
# As Docker and Podman call it.
_NOT_STARTED = {"created", "configured", "initialized"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """What an engine says of itself; limits that it would ignore count as not to be had."""

    product: str
    version: str
    rootless: bool
    local: bool
    memory_limit: bool
    cpu_limit: bool
    process_limit: bool
    seccomp: bool
    processors: int


class Engine:
    """One engine, at an address.

    Raises:
        SandboxError: From any method, with why it cannot be done.
    """

    def __init__(self, address: str) -> None:
        self.address = address
        self._api = open_client(address)

    def close(self) -> None:
        """Close the connections that are open."""
        self._api.close()

    def facts(self) -> Facts:
        """Ask the engine about itself."""
        with sentences(self.address):
            info, version = self._api.info(), self._api.version()
        options = " ".join(info.get("SecurityOptions") or ())
        parts = [str(part.get("Name", "")) for part in version.get("Components") or ()]
        rootless = "rootless" in options or bool(info.get("Rootless"))
        # Podman says what the host could do, and then ignores it.
        ignores = rootless and str(info.get("CgroupVersion")) != "2"
        return Facts(
            product=PODMAN if any("Podman" in part for part in parts) else "docker",
            version=str(version.get("Version", "")),
            rootless=rootless,
            local=is_local(self.address),
            memory_limit=bool(info.get("MemoryLimit")) and not ignores,
            cpu_limit=bool(info.get("CpuCfsQuota")) and not ignores,
            process_limit=bool(info.get("PidsLimit")) and not ignores,
            seccomp="seccomp" in options,
            processors=int(info.get("NCPU") or 1),
        )

    def require_image(self, image: str) -> None:
        """See that an image is there."""
        with sentences(self.address, image):
            self._api.inspect_image(image)

    def import_image(self, name: str, files: bytes) -> None:
        """Make an image of an archive of files; the name has no tag, which podman ignores."""
        with sentences(self.address):
            said = self._api.import_image_from_data(files, repository=name, tag="latest")
        if '"error"' in said:
            raise SandboxError(f"the engine at {self.address} refuses: {said.strip()[:500]}")

    def remove_image(self, name: str) -> None:
        """Remove an image."""
        with sentences(self.address, name):
            self._api.remove_image(name)

    def ensure(self, container: Container, owner: str) -> str:
        """Have a container run, a new one if need be; return its id."""
        if container.image is None:
            return self.running(container.name)
        for _ in range(_TRIES):
            try:
                return self._started(container.name)
            except (ContainerGoneError, StartingError):
                self.remove(container.name)
            if found := self._make(container, owner):
                return found
        raise SandboxError(f"the container {container.name} ends as soon as it is started")

    def running(self, name: str) -> str:
        """The id of a container that runs."""
        return str(self._running(name)["Id"])

    def inspect(self, name: str) -> dict[str, Any]:
        """What the engine knows of a container that runs."""
        return self._running(name)

    def first_process(self, name: str) -> int:
        """The pid of a container's first process, on the engine's machine."""
        return int(self._running(name)["State"].get("Pid") or 0)

    def resident(self, container_id: str, patience: float) -> tuple[socket.socket, object]:
        """Start a resident; return the connection to its three streams, and what holds it open."""
        with sentences(self.address, in_container=True):
            made = self._api.exec_create(container_id, resident_words(patience), stdin=True)
            stream = self._api.exec_start(made["Id"], socket=True)
        # A socket, or a file object around one.
        connection: socket.socket = getattr(stream, "_sock", stream)
        return connection, stream

    def remove(self, name: str) -> None:
        """End and remove a container, if it is there."""
        with suppress(ContainerGoneError):
            try:
                with sentences(self.address, in_container=True):
                    self._api.remove_container(name, v=True, force=True)
            except LeavingError:
                with sentences(self.address, in_container=True):
                    self._api.wait(name, timeout=_LEAVING_SECONDS, condition="removed")

    def strays(self, state: str) -> list[tuple[str, str]]:
        """The containers of a state directory that end with their owner: names and owners."""
        found = self._listed([f"{LABEL}=1", f"{STATE}={state}", f"{KEPT}=no"])
        labels_of: list[dict[str, Any]] = [each.get("Labels") or {} for each in found]
        owners = [str(labels.get(OWNER, "")) for labels in labels_of]
        return [(str(each["Id"]), owner) for each, owner in zip(found, owners, strict=True)]

    def _listed(self, labels: list[str]) -> list[Any]:
        """The containers with some labels; podman fails if one of them goes meanwhile."""
        for _ in range(_TRIES - 1):
            with suppress(SandboxError), sentences(self.address):
                return self._api.containers(all=True, filters={"label": labels})
            time.sleep(_RETRY_SECONDS)  # noqa: TID251 (nobody tells when it is gone)
        with sentences(self.address):
            return self._api.containers(all=True, filters={"label": labels})

    def _create(self, request: dict[str, Any], name: str) -> dict[str, Any]:
        """Make a container; once more if the engine misread something on the way."""
        for _ in range(_TRIES - 1):
            with suppress(MisreadError), sentences(self.address, request["Image"]):
                return self._api.create_container_from_config(request, name=name)
            time.sleep(_RETRY_SECONDS)  # noqa: TID251 (nobody tells when an engine is less busy)
        with sentences(self.address, request["Image"]):
            return self._api.create_container_from_config(request, name=name)

    def _started(self, name: str) -> str:
        """The id of a container that runs; one that is about to start is waited for."""
        deadline = time.monotonic() + _STARTING_SECONDS
        while True:
            try:
                return self.running(name)
            except StartingError:
                if time.monotonic() > deadline:
                    raise
            time.sleep(_RETRY_SECONDS)  # noqa: TID251 (its maker tells nobody)

    def _running(self, name: str) -> dict[str, Any]:
        with sentences(self.address, in_container=True):
            found = self._api.inspect_container(name)
        if found["State"].get("Status") in _NOT_STARTED:
            raise StartingError(f"the container {name!r} is not started yet")
        if not found["State"].get("Running"):
            raise ContainerGoneError(f"the container {name!r} does not run")
        return found

    def _make(self, container: Container, owner: str) -> str | None:
        """Make and start a container; None if another came first with the same one."""
        mounted = to_mount(container.mounts) if is_local(self.address) else None
        if mounted:
            container = replace(container, mounts=mounted.mounts)
        try:
            made = self._create(request_for(container, owner, _filtered(container)), container.name)
        except NameTakenError:
            return None
        try:
            with sentences(self.address, container.image):
                self._api.start(made["Id"])
            if mounted:
                mounted.require(self.first_process(made["Id"]))
        except ContainerGoneError:
            return None  # who waited too long for its start has removed it
        except BaseException:
            with suppress(SandboxError):
                self.remove(made["Id"])
            raise
        return str(made["Id"])


def _filtered(container: Container) -> str:
    """A container's filter as its engine is given it: podman reads the file itself."""
    if container.product == PODMAN or not container.filter:
        return container.filter
    return Path(container.filter).read_text("utf-8")
