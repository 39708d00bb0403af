"""Handing launches to a warden: what it is told, and what is made for it."""

import binascii
import json
import os
import socket
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import asdict
from functools import lru_cache
from typing import Any

from nacre.errors import WardenError
from nacre.model.call import Streams
from nacre.model.launch import Container, Launch, Restriction
from nacre.process.ahead import Ahead
from nacre.process.link import Link
from nacre.process.live import Process
from nacre.process.waits import pause

__all__ = ("send_ahead", "spawn")

_BUSY_SECONDS = 0.002


async def spawn(link: Link, launch: Launch, streams: Streams) -> Process:
    """Hand a launch to the warden; whether it started is the first event.

    Raises:
        WardenError: If there is no warden, or no descriptors are left for pipes.
    """
    with _prepared(launch, streams) as (process, fds):
        await _send(link, {**_request(launch), "fds": len(fds)}, fds, launch.hold.restriction)
    return process


def send_ahead(link: Link, launch: Launch, streams: Streams, ttl: float) -> Ahead:
    """Hand a launch to the warden without its script, which `Ahead.begin` gives it.

    Raises:
        BlockingIOError: If the warden is busy.
        WardenError: If there is no warden, or no descriptors are left for pipes.
    """
    restriction = launch.hold.restriction
    with _prepared(launch, streams) as (process, fds):
        request = {**_request(launch), "argv": None, "ttl": ttl, "fds": len(fds)}
        link.send(request, fds, _declaration(restriction) if restriction else None)
    return Ahead(process)


@contextmanager
def _prepared(launch: Launch, streams: Streams) -> Generator[tuple[Process, list[int]]]:
    """A lifeline and pipes, with the far ends that a warden is to have."""
    try:
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    except OSError as error:
        raise WardenError(f"no socket can be made: {error.strerror}") from error
    ours.setblocking(False)
    process = Process(ours, (), in_room=launch.hold.room is not None)
    passed: list[int] = []
    try:
        _open_pipes(process, passed, streams)
        if launch.stdin is not None:
            passed.append(_memory_file(launch.stdin))
        yield process, [theirs.fileno(), *passed]
    except BlockingIOError:
        process.close()
        raise
    except OSError as error:
        process.close()
        raise WardenError(f"no pipe can be made: {error.strerror}") from error
    except BaseException:
        process.close()
        raise
    finally:
        theirs.close()
        for fd in passed:
            os.close(fd)


async def _send(
    link: Link, request: dict[str, Any], fds: list[int], restriction: Restriction | None
) -> None:
    declared = _declaration(restriction) if restriction else None
    while True:
        try:
            link.send(request, fds, declared)
        except BlockingIOError:
            await pause(_BUSY_SECONDS)
        else:
            return


def _open_pipes(process: Process, passed: list[int], streams: Streams) -> None:
    for _ in range(1 if streams is Streams.MERGED else 2):
        read, write = os.pipe2(os.O_CLOEXEC)
        process.pipes += (read,)
        passed.append(write)
        os.set_blocking(read, False)


def _request(launch: Launch) -> dict[str, Any]:
    return {
        "executable": launch.executable,
        "argv": launch.argv,
        "cwd": str(launch.cwd),
        "environ": dict(launch.environ),
        "stdin": launch.stdin is not None,
        "held_by": launch.hold.restriction.key if launch.hold.restriction else None,
        "limits": launch.hold.limits,
        "most_tasks": launch.hold.most_tasks,
        "jobs": launch.jobs,
        **_contained(launch),
    }


@lru_cache(maxsize=16)
def _declaration(restriction: Restriction) -> tuple[str, bytes]:
    """The message that has a warden ready itself for a restriction."""
    told = {
        "fs": restriction.fs,
        "net": restriction.net,
        "scope": restriction.scope,
        "rules": restriction.rules,
        "program": binascii.b2a_base64(restriction.program, newline=False).decode(),
        "asking": binascii.b2a_base64(restriction.asking, newline=False).decode(),
    }
    message = {"key": restriction.key, "restriction": told}
    return restriction.key, json.dumps(message).encode()


def _memory_file(content: bytes) -> int:
    file = os.memfd_create("nacre-stdin", os.MFD_CLOEXEC)
    try:
        with open(file, "wb", closefd=False) as whole:
            whole.write(content)
        os.lseek(file, 0, os.SEEK_SET)
    except BaseException:
        os.close(file)
        raise
    return file


def _contained(launch: Launch) -> dict[str, Any]:
    """What only a porter is told."""
    container = launch.hold.container
    if container is None:
        return {}
    return {
        "container": container.name,
        "described": _described(container),
        "lingers": launch.lingers,
    }


@lru_cache(maxsize=64)
def _described(container: Container) -> str:
    """A container as a text, which most requests have no use for: it is there already."""
    return json.dumps(asdict(container))
