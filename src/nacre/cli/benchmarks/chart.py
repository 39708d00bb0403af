"""Rows with raw figures as a picture: a bar for each, on a logarithmic scale, in SVG."""

import math
from collections.abc import Iterator, Sequence
from html import escape

from nacre.cli.benchmarks.row import Figures, Row, digits

__all__ = ("chart",)

_WIDTH, _LABELS, _PLOT = 880, 330, 440
_TOP, _ROW, _BAR, _BOTTOM = 96, 26, 14, 44
_LEGEND = (
    "Medians of one run, on a logarithmic scale; the thin line goes to the 90th percentile.",
    "Full bars are confined, hatched ones are not; a broken outline is a shell that is kept open.",
)
# Light or dark is the reader's choice. No two bars are told apart by colour alone.
_STYLE = """
text { font: 13px system-ui, sans-serif; fill: #1f2328; }
.title { font-size: 16px; font-weight: 600; }
.faint { font-size: 12px; fill: #59636e; }
.nacre text { font-weight: 600; }
.nacre .faint { font-weight: 400; }
.grid { stroke: #d1d9e0; }
.bar { fill: #818b98; stroke: #59636e; stroke-width: 1.5; }
.hatch { stroke: #818b98; stroke-width: 2; }
.unconfined .bar { fill: url(#hatched); }
.nacre .bar { fill: #0a7d77; stroke: #0a7d77; }
.kept .bar { stroke-dasharray: 4 3; }
.late { stroke: #1f2328; stroke-width: 1.5; }
@media (prefers-color-scheme: dark) {
  text { fill: #f0f6fc; }
  .faint { fill: #9198a1; }
  .grid { stroke: #3d444d; }
  .bar { fill: #656c76; stroke: #9198a1; }
  .hatch { stroke: #656c76; }
  .unconfined .bar { fill: url(#hatched); }
  .nacre .bar { fill: #3fc1b5; stroke: #3fc1b5; }
  .late { stroke: #f0f6fc; }
}
"""


def chart(rows: Sequence[Row], machine: str) -> str:
    """A picture of the rows that have raw figures: what the first script took, the quickest on top."""
    shown = sorted(
        ((row, row.figures) for row in rows if row.figures), key=lambda each: _ms(each[1])
    )
    height = _TOP + _ROW * len(shown) + _BOTTOM
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {height}"',
            ' role="img" aria-labelledby="title desc">',
            *_heading(shown, machine),
            *_body(shown, height),
            "</svg>\n",
        ]
    )


def _heading(shown: Sequence[tuple[Row, Figures]], machine: str) -> Iterator[str]:
    work = shown[0][1].timings[0].work if shown else "nothing"
    title = f"What one call of `{work}` takes, in milliseconds"
    told = "; ".join(f"{row.name} {digits(_ms(figures))} ms" for row, figures in shown)
    yield f'<title id="title">{escape(title)}</title>'
    yield f'<desc id="desc">Medians of one run, the quickest first: {escape(told)}.</desc>'
    yield f"<style>{_STYLE}</style>"
    yield (
        '<defs><pattern id="hatched" width="6" height="6" patternUnits="userSpaceOnUse"'
        ' patternTransform="rotate(45)"><line class="hatch" x1="1" y1="0" x2="1" y2="6"/>'
        "</pattern></defs>"
    )
    yield f'<text class="title" x="16" y="26">{escape(title)}</text>'
    for number, line in enumerate((*_LEGEND, machine)):
        yield f'<text class="faint" x="16" y="{46 + 17 * number}">{escape(line)}</text>'


def _body(shown: Sequence[tuple[Row, Figures]], height: int) -> Iterator[str]:
    if not shown:
        return
    lowest = math.floor(math.log10(min(_ms(figures) for _, figures in shown)))
    highest = math.ceil(math.log10(max(each.timings[0].p90_ms for _, each in shown)))
    decades = max(highest - lowest, 1)

    def across(milliseconds: float) -> float:
        share = (math.log10(milliseconds) - lowest) / decades
        return round(_LABELS + _PLOT * share, 1)

    for power in range(lowest, lowest + decades + 1):
        x = across(10**power)
        yield f'<line class="grid" x1="{x}" y1="{_TOP}" x2="{x}" y2="{height - _BOTTOM + 6}"/>'
        yield (
            f'<text class="faint" x="{x}" y="{height - _BOTTOM + 22}" text-anchor="middle">'
            f"{10**power:g} ms</text>"
        )
    for number, (row, figures) in enumerate(shown):
        timing = figures.timings[0]
        ends = across(timing.median_ms), across(max(timing.p90_ms, timing.median_ms))
        yield from _bar(row, figures, _TOP + _ROW * number, ends)


def _bar(row: Row, figures: Figures, top: int, ends: tuple[float, float]) -> Iterator[str]:
    held = "confined" if figures.confined else "unconfined"
    words = f"{figures.shell}, {'confined' if figures.confined else 'not confined'}"
    value = f"{digits(_ms(figures))} ms"
    middle, baseline = top + _ROW / 2, top + _ROW / 2 + 4.5
    yield f'<g class="{escape(figures.kind)} {escape(figures.shell)} {held}">'
    yield f"<title>{escape(f'{row.name}: {value}; {row.work}')}</title>"
    yield f'<text x="16" y="{baseline}">{escape(row.name)}</text>'
    yield (
        f'<text class="faint" x="{_LABELS - 12}" y="{baseline}" text-anchor="end">'
        f"{escape(words)}</text>"
    )
    width = max(round(ends[0] - _LABELS, 1), 1)
    yield (
        f'<rect class="bar" x="{_LABELS}" y="{middle - _BAR / 2}" width="{width}" height="{_BAR}"/>'
    )
    yield f'<line class="late" x1="{ends[0]}" y1="{middle}" x2="{ends[1]}" y2="{middle}"/>'
    yield f'<text x="{ends[1] + 8}" y="{baseline}">{escape(value)}</text></g>'


def _ms(figures: Figures) -> float:
    """What it is placed by: the first script's median."""
    return figures.timings[0].median_ms
