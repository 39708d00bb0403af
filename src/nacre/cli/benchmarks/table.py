"""Rows as a person reads them."""

import os
import platform
import re
import sys
from collections.abc import Sequence

from nacre.cli.benchmarks.row import Row
from nacre.cli.terminal import coloured

__all__ = ("machine", "table")

_VERSION = re.compile(r"[\d.]*\d")

_HEADINGS = ("NAME", "MEASURED", "BAR", "HOLDS")


def table(rows: Sequence[Row]) -> str:
    """A line for each row, its note below it."""
    cells = [_HEADINGS, *((row.name, row.measured, row.bar, _holds(row)) for row in rows)]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    indent = "  ".join(" " * width for width in widths)
    lines = [f"{_aligned(_HEADINGS, widths)}  WORK"]
    for row, cell in zip(rows, cells[1:], strict=True):
        line = f"{_aligned(cell, widths)}  {row.work}"
        lines.append(coloured(line, "red", sys.stdout) if row.holds is False else line)
        if row.note:
            lines.append(f"{indent}  {coloured(row.note, 'grey', sys.stdout)}")
    return "\n".join(lines)


def machine() -> str:
    """Where the figures were got; without it they mean little."""
    load = os.getloadavg()[0]
    release = _VERSION.match(platform.release())
    return (
        f"{os.cpu_count()} cpus, {platform.system()} {release[0] if release else '?'},"
        f" Python {platform.python_version()}, load {load:.1f}"
    )


def _aligned(cells: Sequence[str], widths: Sequence[int]) -> str:
    return "  ".join(f"{cell:{width}}" for cell, width in zip(cells, widths, strict=True))


def _holds(row: Row) -> str:
    if row.holds is None:
        return "-"
    return "yes" if row.holds else "NO"
