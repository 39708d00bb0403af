"""The drivers of all peers that are there, for the length of a block."""

import os
import shutil
import signal
import uuid
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress
from pathlib import Path

import anyio

from nacre.cli.benchmarks.peers.driver import Driver, DriverError
from nacre.cli.benchmarks.peers.entrant import Racer
from nacre.cli.benchmarks.peers.known import PEERS, Peer
from nacre.cli.benchmarks.peers.pins import pins
from nacre.cli.benchmarks.row import Scale

__all__ = ("peers_folder", "racing_peers")

# All that a driver starts inherits it, by which it is found.
_MARK = "NACRE_BENCH_MARK"
_END_SECONDS = 5.0
_LOOK_SECONDS = 0.01


def peers_folder() -> Path:
    """Where peers are installed: NACRE_PEERS, or `.peers` where one is."""
    return Path(os.environ.get("NACRE_PEERS") or ".peers").absolute()


@asynccontextmanager
async def racing_peers(scratch: Path, scale: Scale) -> AsyncGenerator[list[Racer]]:
    """Every peer that is known, with its driver if that is ready, or why it is not.

    However the block ends, no driver is left, and nothing that one has started.
    """
    mark = uuid.uuid4().hex
    drivers: dict[Peer, Driver] = {}
    try:
        why_not: dict[Peer, str] = {}
        for number, peer in enumerate(PEERS):
            why_not[peer] = _lacking(peer)
            if not why_not[peer]:
                try:
                    drivers[peer] = await _start(peer, scratch / str(number), mark, scale)
                except DriverError as error:
                    why_not[peer] = str(error)
        # All of them start at the same time, and are waited for one after the other.
        yield [await _racer(peer, drivers.get(peer), why_not[peer]) for peer in PEERS]
    finally:
        with anyio.CancelScope(shield=True):
            await _end([*drivers.values()], mark)


def _lacking(peer: Peer) -> str:
    """What keeps a peer from being tried, and what to do about it."""
    folder = peers_folder()
    if not pins()[peer.pin].installed(folder):
        return f"not installed in {folder.name}; `make bench` installs it"
    if missing := [program for program in peer.needs if not shutil.which(program)]:
        return f"this host has no {' and no '.join(missing)}, which it needs"
    return ""


async def _start(peer: Peer, scratch: Path, mark: str, scale: Scale) -> Driver:
    """Start a driver with a home, a folder for its temporary files and a workspace, all empty."""
    for name in ("home", "tmp", "workspace"):
        (scratch / name).mkdir(parents=True)
    temporary = str(scratch / "tmp")
    own = {"HOME": str(scratch / "home"), "TMPDIR": temporary, "TMUX_TMPDIR": temporary}
    # What is meant for this Python is not meant for theirs.
    others = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("NACRE_", "PYTHON"))
    }
    return await Driver.start(
        peer.words(peers_folder()), scratch, others | own | {_MARK: mark}, scale
    )


async def _racer(peer: Peer, driver: Driver | None, why_not: str) -> Racer:
    if driver is None:
        return Racer(entrant=peer.entrant, why_not=why_not)
    try:
        version = await driver.ready()
    except DriverError as error:
        driver.kill()
        return Racer(entrant=peer.entrant, why_not=str(error))
    return Racer(entrant=peer.entrant, call=driver.call, stop=driver.kill, version=version)


async def _end(drivers: list[Driver], mark: str) -> None:
    for driver in drivers:
        await driver.leave()
    with anyio.move_on_after(_END_SECONDS):
        for driver in drivers:
            await driver.gone()
    with anyio.move_on_after(_END_SECONDS):
        # A process may fork while it is looked for.
        while _kill_marked(mark):  # noqa: ASYNC110 (the kernel does it)
            await anyio.sleep(_LOOK_SECONDS)
    for driver in drivers:
        await driver.close()


def _kill_marked(mark: str) -> bool:
    """Kill what drivers have started and left; whether there was something."""
    sign = f"{_MARK}={mark}".encode()
    found = False
    for entry in filter(str.isdecimal, os.listdir("/proc")):
        with suppress(OSError):
            if sign in Path(f"/proc/{entry}/environ").read_bytes():
                os.kill(int(entry), signal.SIGKILL)
                found = True
    return found
