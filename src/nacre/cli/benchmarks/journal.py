"""The price of being written down: the same calls with a journal and without."""

import os
import time
from pathlib import Path
from statistics import median
from typing import NamedTuple

from nacre.cli.benchmarks.row import FailedToRunError, Row, Scale, at_most
from nacre.cli.benchmarks.subject import LIMIT, temporary_folder
from nacre.config.policy import ScriptChecker
from nacre.engine.assemble import Settings, assemble
from nacre.engine.engine import Engine
from nacre.engine.entries import Asked, Noting
from nacre.engine.journal import JOURNAL, Journal, read_journal
from nacre.engine.occasion import Occasion
from nacre.model.call import Run
from nacre.model.outcome import Exited
from nacre.model.result import Result

__all__ = ("measure",)

_MOST_MILLISECONDS = 0.2
# Enough for the thread that writes to have its turn several times within each round.
_CALLS = 50
_RUN = Run(script="true", limit=LIMIT, description="do nothing, and say so")
_ASKED = Asked(dialect="nacre", tool="Bash", conversation="bench")


class _Spent(NamedTuple):
    """What a round took, in milliseconds a call."""

    seconds: float
    processor: float


async def measure(scale: Scale) -> list[Row]:
    """Time rounds of `true` on one engine, written down and not, in turn."""
    rounds = scale.of(24, quick=2)
    plain: list[_Spent] = []
    noted: list[_Spent] = []
    with temporary_folder() as state:
        path = Path(state, JOURNAL)
        engine, journal = (
            assemble(Settings(state=Path(state)), ScriptChecker("nacre")),
            Journal(path),
        )
        occasion = Occasion(cwd=Path(state), conversation="bench", environ=dict(os.environ))
        try:
            await _round(engine, occasion, journal)  # it starts the warden, and opens the file
            for _ in range(rounds):
                plain.append(await _round(engine, occasion, None))
                noted.append(await _round(engine, occasion, journal))
        finally:
            engine.close()
            journal.close()
        sizes = [len(entry.text) for entry in read_journal(path)]
    if len(sizes) < (rounds + 1) * _CALLS:
        raise FailedToRunError(f"the journal has {len(sizes)} entries, and should have more")
    return [_row(plain, noted, sum(sizes) / len(sizes))]


async def _round(engine: Engine, occasion: Occasion, journal: Journal | None) -> _Spent:
    began, used = time.perf_counter(), time.process_time()
    for _ in range(_CALLS):
        if journal is None:
            _require_success(await engine.run(_RUN, occasion))
        else:
            with Noting(journal, _ASKED) as noting:
                noting.call = _RUN
                noting.came = _require_success(await engine.run(_RUN, occasion))
    took, spent = time.perf_counter() - began, time.process_time() - used
    return _Spent(took / _CALLS * 1e3, spent / _CALLS * 1e3)


def _require_success(result: Result) -> Result:
    if result.outcome != Exited(0):
        raise FailedToRunError(f"{_RUN.script!r} ended with {result.outcome}")
    return result


def _row(plain: list[_Spent], noted: list[_Spent], size: float) -> Row:
    # Of neighbours, so that a machine that gets slower or faster does it to both.
    longer = median(b.seconds - a.seconds for a, b in zip(plain, noted, strict=True))
    more = median(b.processor - a.processor for a, b in zip(plain, noted, strict=True))
    return at_most(
        "journal",
        longer,
        _MOST_MILLISECONDS,
        "ms",
        work=f"`true` by an engine, written down, to the same unwritten; {len(plain)} rounds of {_CALLS}",
        note=f"{median(a.seconds for a in plain):.2f} ms unwritten; {more:.2f} ms of processor"
        f" time, {size:,.0f} bytes an entry",
    )
