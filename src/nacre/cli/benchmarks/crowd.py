"""A thousand confined calls at the same time: they do not queue, and they leave nothing behind."""

import resource
import subprocess  # noqa: TID251 (what nacre is measured against)
import time
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from pathlib import Path

import anyio

from nacre.cli.benchmarks.baseline import BASH, in_bwrap
from nacre.cli.benchmarks.gauge import Holdings
from nacre.cli.benchmarks.row import FailedToRunError, Row, Scale, at_most
from nacre.cli.benchmarks.subject import details_of, opened_tool, temporary_folder
from nacre.model.reply import Reply
from nacre.sandbox.probe import probe_bwrap
from nacre.tool import Bash

__all__ = ("measure",)

_MOST_SECONDS = 4.0
_MOST_RATIO = 1.3
# What a call left is ended by then.
_GONE_SECONDS = 2.0
_LOOK_SECONDS = 0.01


async def measure(scale: Scale) -> list[Row]:
    """Start calls together in each sandbox, and as many processes without nacre."""
    calls = scale.of(1000, quick=20)
    script = f"sleep {scale.of(10, quick=1) / 10:g}"
    work = f"{calls:,} calls of `{script}` at once, until the last returns"
    with _all_descriptors():
        landlock, leaks = await _together("landlock", calls, script)
        bare = _bare((*BASH, script), calls)
        rows = [
            at_most(
                "crowd landlock",
                landlock,
                _MOST_SECONDS,
                "s",
                work=work,
                note=f"{bare:.2f} s by as many bare bash",
            )
        ]
        bwrap, why_not = probe_bwrap(())
        if bwrap is None:
            rows.append(Row(name="crowd bubblewrap", work=work, measured="-", note=why_not))
        else:
            room, more = await _together("bubblewrap", calls, script)
            leaks += more
            with temporary_folder() as folder:
                bare = _bare((*in_bwrap(bwrap, Path(folder)), *BASH, script), calls)
            rows.append(
                at_most(
                    "crowd bubblewrap",
                    room / bare,
                    _MOST_RATIO,
                    "x",
                    work=f"{work}, to as many bwraps with the same words",
                    note=f"{room:.2f} s to {bare:.2f} s",
                )
            )
    return [*rows, _leaks_row(leaks)]


async def _together(sandbox: str, calls: int, script: str) -> tuple[float, list[str]]:
    """How long calls take together, and what they leave behind."""
    nobody = Holdings.now()
    async with opened_tool(sandbox) as tool:
        before, files = Holdings.now(), _files(tool)
        replies: list[Reply] = []

        async def call() -> None:
            replies.append(await tool.call("Bash", {"command": script}))

        began = time.perf_counter()
        async with anyio.create_task_group() as tasks:
            for _ in range(calls):
                tasks.start_soon(call)
        seconds = time.perf_counter() - began
        left = await _left(before)
        left += [f"{sandbox}: {path}" for path in _files(tool) - files]
    for reply in replies:
        details_of(reply)
    after = Holdings.now()
    if after.descendants > nobody.descendants:
        left.append(f"{sandbox}: {after} once it is closed")
    return seconds, left


async def _left(before: Holdings) -> list[str]:
    """What this process holds beyond what it held, once that has had its time to end."""
    until = time.monotonic() + _GONE_SECONDS
    while not (after := Holdings.now()).within(before):
        if time.monotonic() > until:
            return [f"{before} before; {after} after"]
        await anyio.sleep(_LOOK_SECONDS)
    return []


def _files(tool: Bash) -> set[str]:
    return {str(path) for path in tool.state.rglob("*")}


def _bare(argv: Sequence[str], count: int) -> float:
    """How long as many processes take that the standard library starts at once."""
    began = time.perf_counter()
    started = [subprocess.Popen(argv, stdout=subprocess.PIPE) for _ in range(count)]
    for process in started:
        process.communicate()
        if process.returncode:
            raise FailedToRunError(f"{argv[0]} has ended with {process.returncode}")
    return time.perf_counter() - began


@contextmanager
def _all_descriptors() -> Generator[None]:
    """Have as many descriptors as this process can have: else calls wait for each other."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def _leaks_row(leaks: Sequence[str]) -> Row:
    return Row(
        name="crowd leaks",
        work="descriptors, threads, descendants and files of this process, after them to before",
        measured="some" if leaks else "none",
        bar="none",
        holds=not leaks,
        note="; ".join(leaks[:3]),
    )
