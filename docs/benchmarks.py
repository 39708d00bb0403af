"""Writes what is made of benchmarks.json: the chart, and the tables of benchmarks.md.

`make benchmarks` measures anew before it runs this; `make docs` only runs this.
"""

import re
from collections.abc import Iterator
from pathlib import Path

from nacre.cli.benchmarks.chart import chart
from nacre.cli.benchmarks.row import Row, Timing, digits
from nacre.cli.benchmarks.saved import Saved, read_json

_FOLDER = Path(__file__).parent
_DATA, _CHART, _PAGE = (_FOLDER / f"benchmarks.{end}" for end in ("json", "svg", "md"))
_BLOCK = re.compile(r"(<!-- begin (\w+) -->\n).*?(<!-- end -->)", re.DOTALL)
_COMPARISONS = ("peers ", "ahead of ")


def read() -> Saved:
    """The run that the page is about."""
    return read_json(_DATA.read_text("utf-8"), _DATA.name)


def picture(run: Saved) -> str:
    """The chart."""
    return chart(run.rows, run.machine)


def page(run: Saved, text: str) -> str:
    """The page with its blocks made anew, and all else as it is."""
    blocks = {"machine": _machine, "peers": _peers, "compared": _compared, "rest": _rest}

    def made(block: re.Match[str]) -> str:
        lines = "\n".join(blocks[block[2]](run))
        return f"{block[1]}{lines}\n{block[3]}"

    return _BLOCK.sub(made, text)


def _machine(run: Saved) -> Iterator[str]:
    yield f"Measured on: {run.machine}."


def _peers(run: Saved) -> Iterator[str]:
    timed = sorted(
        ((row, row.figures) for row in run.rows if row.figures),
        key=lambda each: each[1].timings[0].median_ms,
    )
    works = [each.work for each in timed[0][1].timings]
    yield f"| | version | a script gets | {' | '.join(f'`{work}`' for work in works)} | to bare |"
    yield f"|---|---|---|{'--:|' * (len(works) + 1)}"
    for row, figures in timed:
        name = f"**{row.name}**" if figures.kind == "nacre" else row.name
        yield _line(name, figures.version, row.work, *map(_cell, figures.timings), row.measured)


def _cell(timing: Timing) -> str:
    return f"{digits(timing.median_ms)} ms ({digits(timing.p90_ms)}, {timing.n})"


def _compared(run: Saved) -> Iterator[str]:
    for row in _comparisons(run):
        if row.bar:
            verdict = "holds" if row.holds else "does **not** hold"
            yield f"- {row.work}: {row.measured}, bar {row.bar}, which {verdict} ({row.note})."
        else:
            yield f"- {row.work[0].upper()}{row.work[1:]}: {row.measured}; {row.note}."


def _rest(run: Saved) -> Iterator[str]:
    yield "| | measured | bar | holds | what |"
    yield "|---|--:|--:|---|---|"
    compared = {row.name for row in _comparisons(run)}
    for row in run.rows:
        if row.figures is None and row.name not in compared and row.measured != "-":
            holds = "" if row.holds is None else "yes" if row.holds else "**no**"
            what = f"{row.work}; {row.note}" if row.note else row.work
            yield _line(row.name, row.measured, row.bar, holds, what)
    if absent := [f"{row.name} ({row.note})" for row in run.rows if row.measured == "-"]:
        yield f"\nNot measured in this run: {'; '.join(absent)}."


def _comparisons(run: Saved) -> list[Row]:
    return [row for row in run.rows if row.name.startswith(_COMPARISONS)]


def _line(*cells: str) -> str:
    return f"| {' | '.join(cell.replace('|', '&#124;') for cell in cells)} |"


if __name__ == "__main__":
    _CHART.write_text(picture(read()), "utf-8")
    _PAGE.write_text(page(read(), _PAGE.read_text("utf-8")), "utf-8")
