"""The price of one call: the shortest script there is, against the standard library."""

import time
from statistics import median

from nacre.cli.benchmarks.baseline import BASH, seconds_of
from nacre.cli.benchmarks.row import Row, Scale, at_most
from nacre.cli.benchmarks.subject import details_of, opened_tool

__all__ = ("measure",)

_MOST = 1.5


async def measure(scale: Scale) -> list[Row]:
    """Time `true` both ways, in turn."""
    runs = scale.of(300, quick=20)
    ours: list[float] = []
    theirs: list[float] = []
    async with opened_tool() as tool:
        for _ in range(runs):
            theirs.append(seconds_of((*BASH, "true")))
            began = time.perf_counter()
            reply = await tool.call("Bash", {"command": "true"})
            ours.append(time.perf_counter() - began)
            details_of(reply)
    return [
        at_most(
            "cold",
            median(ours) / median(theirs),
            _MOST,
            "x",
            work=f"`true` by call, median of {runs}, to subprocess.run(['bash', '-c', 'true'])",
            note=f"{median(ours) * 1e3:.2f} ms to {median(theirs) * 1e3:.2f} ms",
        )
    ]
