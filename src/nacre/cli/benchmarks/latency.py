"""How soon a call returns once it should: after a cancellation, after its timeout."""

import threading
import time
from collections.abc import Sequence
from statistics import median, quantiles

from nacre.cli.benchmarks.row import FailedToRunError, Row, Scale, at_most
from nacre.cli.benchmarks.subject import opened_tool
from nacre.process.cancel import CancelToken
from nacre.tool import Bash, ToolContext

__all__ = ("measure_cancel", "measure_timeout")

_SCRIPT = "sleep 30"
_MOST_MILLISECONDS = 100.0
_LONGEST_SECONDS = 0.2
# Its multiples modulo 1 fall everywhere evenly and in no order, every time the same.
_GOLDEN = 0.6180339887498949


async def measure_cancel(scale: Scale) -> list[Row]:
    """Cancel calls from another thread, at any moment of their life."""
    runs = scale.of(100, quick=10)
    async with opened_tool() as tool:
        late = [await _cancelled(tool, _moment(n)) for n in range(runs)]
    return [_row("cancel", late, work=f"from cancel() in a thread to the return of `{_SCRIPT}`")]


async def measure_timeout(scale: Scale) -> list[Row]:
    """Let calls run into timeouts of all lengths."""
    runs = scale.of(100, quick=10)
    async with opened_tool() as tool:
        late = [await _timed_out(tool, _moment(n)) for n in range(runs)]
    return [_row("timeout", late, work=f"from the deadline to the return of `{_SCRIPT}`, killed")]


def _moment(n: int) -> float:
    return (n + 1) * _GOLDEN % 1 * _LONGEST_SECONDS


async def _cancelled(tool: Bash, after: float) -> float:
    token = CancelToken()
    moments: list[float] = []

    def cancel() -> None:
        moments.append(time.perf_counter())
        token.cancel()

    timer = threading.Timer(after, cancel)
    timer.start()
    await _call(tool, {"command": _SCRIPT}, token, expected="stopped")
    ended = time.perf_counter()
    timer.join()
    return ended - moments[0]


async def _timed_out(tool: Bash, after: float) -> float:
    deadline = time.perf_counter() + after
    await _call(tool, {"command": _SCRIPT, "timeout": after}, None, expected="timed_out")
    return time.perf_counter() - deadline


async def _call(
    tool: Bash, arguments: dict[str, object], cancel: CancelToken | None, *, expected: str
) -> None:
    reply = await tool.call("Bash", arguments, ToolContext(working_dir=".", cancel=cancel))
    if (reply.details or {}).get("outcome") != expected:
        raise FailedToRunError(f"a call that must end as {expected} was answered {reply.text!r}")


def _row(name: str, late: Sequence[float], *, work: str) -> Row:
    p95 = quantiles(late, n=20, method="inclusive")[-1]
    return at_most(
        name,
        p95 * 1e3,
        _MOST_MILLISECONDS,
        "ms",
        work=f"{work}, p95 of {len(late)}",
        note=f"median {median(late) * 1e3:.1f} ms, worst {max(late) * 1e3:.1f} ms",
    )
