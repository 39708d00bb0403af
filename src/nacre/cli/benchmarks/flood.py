"""A script that writes as fast as it can: the rate, and that memory does not follow it."""

import time

from nacre.cli.benchmarks.baseline import BASH, seconds_of
from nacre.cli.benchmarks.gauge import PeakMemory
from nacre.cli.benchmarks.row import FailedToRunError, Row, Scale, at_least
from nacre.cli.benchmarks.subject import opened_engine

__all__ = ("measure",)

_MIB = 1 << 20
_LEAST_RATE = 0.7
_MOST_MIB = 32


async def measure(scale: Scale) -> list[Row]:
    """Time one writer into us and into `cat >/dev/null`, in turn."""
    size = scale.of(1024, quick=64) * _MIB
    runs = scale.of(7, quick=2)
    writer = f"head -c {size} /dev/zero"
    ours: list[float] = []
    theirs: list[float] = []
    async with opened_engine() as run:
        peak = PeakMemory()
        for _ in range(runs):
            theirs.append(seconds_of((*BASH, f"{writer} | cat >/dev/null")))
            began = time.perf_counter()
            said = await run(writer)
            ours.append(time.perf_counter() - began)
            if said.total != size:
                raise FailedToRunError(f"{writer!r} wrote {size} bytes; {said.total} were seen")
        memory = peak.row("flood memory", _MOST_MIB, work=f"while it reads {runs} x {size:,} bytes")
    rates = [size / _MIB / min(seconds) for seconds in (ours, theirs)]
    rate = at_least(
        "flood",
        rates[0] / rates[1],
        _LEAST_RATE,
        "x",
        work=f"rate of `{writer}`, no spill, best of {runs}, to the same | cat >/dev/null",
        note=f"{rates[0]:,.0f} MiB/s to {rates[1]:,.0f} MiB/s",
    )
    return [rate, memory]
