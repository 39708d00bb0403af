"""The plain ways to run a script, which everything else is measured against."""

import os
import subprocess  # noqa: TID251 (what nacre is measured against)
import time
from collections.abc import Sequence
from pathlib import Path

from nacre.cli.benchmarks.baseline import BASH, in_bwrap
from nacre.cli.benchmarks.peers.entrant import Answer, Entrant, Kind, Racer, Shell
from nacre.cli.benchmarks.row import FailedToRunError
from nacre.process.bash import find_bash
from nacre.sandbox.probe import probe_bwrap

__all__ = ("BARE", "plain_racers")

_CHUNK_BYTES = 64 * 1024


def _baseline(name: str, remark: str, *, confined: bool = False) -> Entrant:
    return Entrant(
        name=name, kind=Kind.BASELINE, shell=Shell.FRESH, confined=confined, remark=remark
    )


BARE = _baseline("subprocess.run", "Python's own")
_FLOOR = _baseline("posix_spawn", "as a C program would, its output by one pipe")
_BWRAP = _baseline("bwrap", "with nacre's words, each time", confined=True)


def plain_racers(scratch: Path) -> list[Racer]:
    """The plain ways that this host has."""

    async def bare(script: str) -> Answer:
        return _run((*BASH, script))

    async def floor(script: str) -> Answer:
        return _spawn(script)

    bwrap, why_not = probe_bwrap(())
    racers = [Racer(entrant=BARE, call=bare), Racer(entrant=_FLOOR, call=floor)]
    if bwrap is None:
        return [*racers, Racer(entrant=_BWRAP, why_not=why_not)]
    workspace = scratch / "bwrap"
    workspace.mkdir()
    # By its path: inside, PATH may lead elsewhere.
    words = (*in_bwrap(bwrap, workspace), find_bash() or BASH[0], BASH[1])

    async def cold(script: str) -> Answer:
        return _run((*words, script))

    return [*racers, Racer(entrant=_BWRAP, call=cold)]


def _run(argv: Sequence[str]) -> Answer:
    began = time.perf_counter()
    done = subprocess.run(argv, capture_output=True, check=True)
    return Answer(time.perf_counter() - began, done.stdout.decode())


def _spawn(script: str) -> Answer:
    """The least there is to do: spawn bash, read a pipe until it ends, wait."""
    began = time.perf_counter()
    reader, writer = os.pipe()
    onto = [(os.POSIX_SPAWN_DUP2, writer, 1), (os.POSIX_SPAWN_DUP2, writer, 2)]
    pid = os.posix_spawnp(BASH[0], (*BASH, script), os.environ, file_actions=onto)
    os.close(writer)
    output = b""
    while data := os.read(reader, _CHUNK_BYTES):
        output += data
    os.close(reader)
    _, status = os.waitpid(pid, 0)
    seconds = time.perf_counter() - began
    if status:
        raise FailedToRunError(f"{script!r} ended with the status {status}")
    return Answer(seconds, output.decode())
