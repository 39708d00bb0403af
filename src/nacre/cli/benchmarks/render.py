"""The price of showing output: it follows what was kept, not what was said."""

import time
from statistics import median

from nacre.capture.recorder import Recorder
from nacre.cli.benchmarks.row import Row, Scale, at_most
from nacre.cli.benchmarks.subject import LIMIT
from nacre.dialects.select import select
from nacre.model.call import Run
from nacre.model.outcome import Exited
from nacre.model.result import Result
from nacre.model.transcript import Transcript
from nacre.render.redaction import Redaction

__all__ = ("measure",)

_MOST = 1.2
_KEPT = LIMIT.head + LIMIT.tail
_LINES = b"".join(
    b"2031-05-02 10:%02d:%02d INFO  worker.%d: item %d took %d ms\n" % (n // 60, n % 60, n, n, n)
    for n in range(3600)
)
_SECRETS = {"DEPLOY_TOKEN": "kept-from-every-reply", "BACKUP_KEY": "this-one-as-well"}


async def measure(scale: Scale) -> list[Row]:
    """Redact and render two transcripts, one of much output and one of what is kept of it."""
    size = scale.of(100_000_000, quick=2_000_000)
    runs = scale.of(50, quick=3)
    much, kept = _said(size), _said(_KEPT)
    pairs = [(_seconds_of(much), _seconds_of(kept)) for _ in range(runs)]
    ours, theirs = map(median, zip(*pairs, strict=True))
    return [
        at_most(
            "render",
            ours / theirs,
            _MOST,
            "x",
            work=f"a reply about {size:,} bytes, median of {runs}, to one about {_KEPT:,}, all of which are kept",
            note=f"{ours * 1e3:.2f} ms to {theirs * 1e3:.2f} ms, redacted, cleaned and cut",
        )
    ]


def _said(size: int) -> Transcript:
    """What is kept of so many bytes of log lines."""
    recorder = Recorder(LIMIT)
    while recorder.total < size:
        recorder.feed(memoryview(_LINES)[: size - recorder.total])
    return recorder.transcript()


def _seconds_of(transcript: Transcript) -> float:
    """How long it takes to make a reply of a transcript."""
    began = time.perf_counter()
    result = Result(outcome=Exited(0), transcript=transcript)
    shown = Redaction(lambda: _SECRETS, None).result(result)
    select("nacre").render(Run(script="make", limit=LIMIT), shown)
    return time.perf_counter() - began
