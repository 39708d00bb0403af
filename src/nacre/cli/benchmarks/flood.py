"""A script that writes as fast as it can: the rate, and that memory does not follow it."""

import time

from nacre.cli.benchmarks.baseline import BASH, seconds_of
from nacre.cli.benchmarks.gauge import PeakMemory
from nacre.cli.benchmarks.row import FailedToRunError, Row, Scale, at_least
from nacre.cli.benchmarks.subject import details_of, opened_tool

__all__ = ("measure",)

_MIB = 1 << 20
_LEAST_RATE = 0.85
_MOST_MIB = 32
# However slow the machine is: then something hangs.
_PATIENCE_SECONDS = 600


async def measure(scale: Scale) -> list[Row]:
    """Time one writer into a call and into `cat >/dev/null`, in turn."""
    size = scale.of(10 * 1024, quick=64) * _MIB
    runs = 2
    writer = f"head -c {size} /dev/zero"
    ours: list[float] = []
    theirs: list[float] = []
    async with opened_tool() as tool:
        peak = PeakMemory()
        for _ in range(runs):
            theirs.append(seconds_of((*BASH, f"{writer} | cat >/dev/null")))
            began = time.perf_counter()
            reply = await tool.call("Bash", {"command": writer, "timeout": _PATIENCE_SECONDS})
            ours.append(time.perf_counter() - began)
            seen = details_of(reply)["omitted_bytes"]
            if seen != size:
                raise FailedToRunError(f"{writer!r} wrote {size} bytes; {seen} were seen")
        memory = peak.row("flood memory", _MOST_MIB, work=f"while {runs} calls say {size:,} bytes")
    rates = [size / _MIB / min(seconds) for seconds in (ours, theirs)]
    rate = at_least(
        "flood",
        rates[0] / rates[1],
        _LEAST_RATE,
        "x",
        work=f"rate of `{writer}` by a call that spills, best of {runs}, to the same | cat >/dev/null",
        note=f"{rates[0]:,.0f} MiB/s to {rates[1]:,.0f} MiB/s",
    )
    return [rate, memory]
