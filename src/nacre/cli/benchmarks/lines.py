"""Very many short lines: memory does not follow them, and the last ones are exact."""

import time

from nacre.cli.benchmarks.gauge import PeakMemory
from nacre.cli.benchmarks.row import Row, Scale
from nacre.cli.benchmarks.subject import LIMIT, opened_engine

__all__ = ("measure",)

_MOST_MIB = 32


async def measure(scale: Scale) -> list[Row]:
    """Count to ten million and look at what was kept."""
    count = scale.of(10_000_000, quick=500_000)
    async with opened_engine() as run:
        peak = PeakMemory()
        began = time.perf_counter()
        said = await run(f"seq {count}")
        seconds = time.perf_counter() - began
        memory = peak.row("lines memory", _MOST_MIB, work=f"while it reads {count:,} lines")
    exact = said.tail == _last(count, LIMIT.tail) and said.total == _bytes(count)
    tail = Row(
        name="lines tail",
        work=f"the last {LIMIT.tail:,} bytes of `seq {count}`, and how many bytes there were",
        measured="exact" if exact else "wrong",
        bar="exact",
        holds=exact,
        note=f"{seconds:.2f} s, {said.total:,} bytes",
    )
    return [memory, tail]


def _last(count: int, size: int) -> bytes:
    """The last bytes of `seq count`; every line is two bytes at least."""
    first = max(1, count - size // 2)
    return b"".join(b"%d\n" % n for n in range(first, count + 1))[-size:]


def _bytes(count: int) -> int:
    """The length of `seq count`: its newlines and, for each place, the numbers that reach it."""
    powers = (int(f"1{'0' * place}") for place in range(len(str(count))))
    return count + sum(count - power + 1 for power in powers)
