"""The price of being held: `true` in each sandbox, and in a large workspace."""

import os
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from statistics import median
from typing import NamedTuple

from anyio import to_thread

from nacre.cli.benchmarks.baseline import BASH, in_bwrap, seconds_of
from nacre.cli.benchmarks.row import FailedToRunError, Row, Scale, at_most
from nacre.cli.benchmarks.subject import details_of, opened_tool, temporary_folder
from nacre.sandbox.probe import probe_bwrap
from nacre.tool import Bash

__all__ = ("measure_bubblewrap", "measure_landlock", "measure_spares", "measure_tree")

_LANDLOCK, _BUBBLEWRAP, _TREE = 1.4, 1.2, 1.1
_BURST = 50
_FILES_A_FOLDER = 100


class _Bars(NamedTuple):
    """The most that a call by a spare may take, relative to the standard library."""

    awaited: float
    sync: float
    hurried: float


_SPARES = {"landlock": _Bars(0.5, 0.6, 1.2), "bubblewrap": _Bars(0.7, 0.8, 4)}


async def measure_landlock(scale: Scale) -> list[Row]:
    """Time `true` under Landlock against the standard library, in turn."""
    runs = scale.of(300, quick=10)
    async with opened_tool("landlock") as tool:
        ours, theirs = await _in_turn(tool, runs, _bare)
    return [_row("landlock", ours, theirs, _LANDLOCK, "subprocess.run(['bash', '-c', 'true'])")]


async def measure_bubblewrap(scale: Scale) -> list[Row]:
    """Time `true` in a room against bubblewrap with the same words, in turn."""
    bwrap, why_not = probe_bwrap(())
    if bwrap is None:
        return [Row(name="bubblewrap", work="`true` in a room", measured="-", note=why_not)]
    runs = scale.of(200, quick=10)
    with temporary_folder() as folder:
        words = (*in_bwrap(bwrap, Path(folder)), *BASH, "true")

        async def same() -> float:
            return seconds_of(words)

        async with opened_tool("bubblewrap", folder) as tool:
            ours, theirs = await _in_turn(tool, runs, same)
    return [_row("bubblewrap", ours, theirs, _BUBBLEWRAP, "bwrap with the same words, each time")]


async def measure_spares(scale: Scale) -> list[Row]:
    """Time `true` by a shell that waits for it against the standard library.

    In turn, awaited and for a caller without a loop; and many of each back to back.
    """
    runs = scale.of(300, quick=10)
    rows: list[Row] = []
    for sandbox, bars in _SPARES.items():
        if sandbox == "bubblewrap" and (why_not := probe_bwrap(())[1]):
            rows.append(
                Row(name="spare bubblewrap", work="`true` in a room", measured="-", note=why_not)
            )
            continue
        than = f"subprocess.run(['bash', '-c', 'true']), by a spare under {sandbox}"
        async with opened_tool(sandbox, spares=2) as tool:
            ours, theirs = await _in_turn(tool, runs, _bare)
            rows.append(_row(f"spare {sandbox}", ours, theirs, bars.awaited, than))
            ours, theirs = await _back_to_back(tool, runs)
            than_hurried = f"{than}; each right after the last"
            rows.append(
                _row(f"spare {sandbox} back to back", ours, theirs, bars.hurried, than_hurried)
            )
            ours, theirs = await to_thread.run_sync(_sync_in_turn, tool, runs)
            rows.append(
                _row(f"spare {sandbox} sync", ours, theirs, bars.sync, f"{than}, call_sync")
            )
    return rows


async def measure_tree(scale: Scale) -> list[Row]:
    """Time `true` in a workspace of very many files against one in an empty one."""
    files = scale.of(300_000, quick=300)
    runs = scale.of(200, quick=10)
    with temporary_folder() as large:
        _fill(Path(large), files)
        async with opened_tool("landlock", large) as there, opened_tool("landlock") as empty:

            async def without() -> float:
                return await _seconds(empty)

            ours, theirs = await _in_turn(there, runs, without)
    return [_row("tree", ours, theirs, _TREE, f"an empty workspace; {files:,} files")]


async def _in_turn(
    tool: Bash, runs: int, other: Callable[[], Awaitable[float]]
) -> tuple[float, float]:
    ours: list[float] = []
    theirs: list[float] = []
    for _ in range(runs):
        theirs.append(await other())
        ours.append(await _seconds(tool))
    return median(ours), median(theirs)


async def _back_to_back(tool: Bash, runs: int) -> tuple[float, float]:
    ours: list[float] = []
    theirs: list[float] = []
    while len(ours) < runs:
        theirs += [seconds_of((*BASH, "true")) for _ in range(_BURST)]
        ours += [await _seconds(tool) for _ in range(_BURST)]
    return median(ours), median(theirs)


def _sync_in_turn(tool: Bash, runs: int) -> tuple[float, float]:
    ours: list[float] = []
    theirs: list[float] = []
    for _ in range(runs):
        theirs.append(seconds_of((*BASH, "true")))
        began = time.perf_counter()
        reply = tool.call_sync("Bash", {"command": "true"})
        ours.append(time.perf_counter() - began)
        details_of(reply)
    return median(ours), median(theirs)


async def _bare() -> float:
    return seconds_of((*BASH, "true"))


async def _seconds(tool: Bash) -> float:
    began = time.perf_counter()
    reply = await tool.call("Bash", {"command": "true"})
    took = time.perf_counter() - began
    details_of(reply)
    return took


def _fill(folder: Path, files: int) -> None:
    for number in range(files // _FILES_A_FOLDER):
        inner = folder / f"{number // 100}" / f"{number % 100}"
        inner.mkdir(parents=True)
        for name in range(_FILES_A_FOLDER):
            try:
                os.close(os.open(inner / str(name), os.O_CREAT | os.O_WRONLY, 0o600))
            except OSError as error:
                raise FailedToRunError(f"{files:,} files cannot be made: {error}") from error


def _row(name: str, ours: float, theirs: float, bar: float, than: str) -> Row:
    return at_most(
        name,
        ours / theirs,
        bar,
        "x",
        work=f"`true` by call, median, to {than}",
        note=f"{ours * 1e3:.2f} ms to {theirs * 1e3:.2f} ms",
    )
