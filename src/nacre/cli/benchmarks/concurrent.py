"""Many calls at the same time: they do not queue, and they leave nothing behind."""

import time

import anyio

from nacre.cli.benchmarks.gauge import Holdings
from nacre.cli.benchmarks.row import Row, Scale, at_most
from nacre.cli.benchmarks.subject import details_of, opened_tool
from nacre.model.reply import Reply

__all__ = ("measure",)

_SCRIPT = "sleep 0.2"
_MOST_SECONDS = 2.0


async def measure(scale: Scale) -> list[Row]:
    """Start calls together, wait for all, and count what this process holds."""
    calls = scale.of(200, quick=20)
    async with opened_tool() as tool:
        before = Holdings.now()
        replies: list[Reply] = []

        async def call() -> None:
            replies.append(await tool.call("Bash", {"command": _SCRIPT}))

        began = time.perf_counter()
        async with anyio.create_task_group() as tasks:
            for _ in range(calls):
                tasks.start_soon(call)
        seconds = time.perf_counter() - began
        after = Holdings.now()
    for reply in replies:
        details_of(reply)
    took = at_most(
        "concurrent",
        seconds,
        _MOST_SECONDS,
        "s",
        work=f"{calls} calls of `{_SCRIPT}` at once, until the last returns",
        note="0.20 s is what the script itself takes",
    )
    clean = after.within(before)
    leaks = Row(
        name="concurrent leaks",
        work="descriptors, threads and descendants of this process, after them to before",
        measured="none" if clean else "some",
        bar="none",
        holds=clean,
        note=f"{before} before; {after} after",
    )
    return [took, leaks]
