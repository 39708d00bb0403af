"""The chart of `nacre bench`: SVG that can be read, by machines and by those who see no colour."""

from xml.etree import ElementTree as ET

import pytest

from nacre.cli.benchmarks.chart import chart
from nacre.cli.benchmarks.row import Figures, Row, Timing

SVG = "{http://www.w3.org/2000/svg}"


def row(name: str, milliseconds: float, *, kind: str = "peer", kept: bool = False) -> Row:
    timing = Timing(work="true", n=9, median_ms=milliseconds, p90_ms=milliseconds * 2)
    figures = Figures(
        kind=kind,
        shell="kept" if kept else "fresh",
        confined=kind == "nacre",
        version="1",
        timings=(timing,),
    )
    return Row(name=name, work="a shell", measured="1 x", figures=figures)


ROWS = (
    row("slow & <old>", 640.0),
    row("open", 0.2, kept=True),
    row("nacre", 0.9, kind="nacre"),
    Row(name="without figures", work="", measured="-"),
)


@pytest.fixture
def svg() -> ET.Element:
    return ET.fromstring(chart(ROWS, "2 cpus & more"))


def groups(svg: ET.Element) -> list[ET.Element]:
    return svg.findall(f"{SVG}g")


def test_there_is_a_bar_for_each_row_with_figures_the_quickest_first(
    svg: ET.Element,
) -> None:
    titles = [group.findtext(f"{SVG}title") for group in groups(svg)]
    assert titles == [
        "open: 0.20 ms; a shell",
        "nacre: 0.90 ms; a shell",
        "slow & <old>: 640 ms; a shell",
    ]
    assert all(len(group.findall(f"{SVG}rect")) == 1 for group in groups(svg))


def test_a_bar_ends_where_the_logarithm_of_its_median_is(svg: ET.Element) -> None:
    grid = [float(line.attrib["x1"]) for line in svg.findall(f"{SVG}line[@class='grid']")]
    labels = [text.text for text in svg.findall(f"{SVG}text[@text-anchor='middle']")]
    assert labels == ["0.1 ms", "1 ms", "10 ms", "100 ms", "1000 ms", "10000 ms"]
    decade = grid[1] - grid[0]
    ends = [float(bar.attrib["x"]) + float(bar.attrib["width"]) for bar in svg.iter(f"{SVG}rect")]
    places = [(end - grid[0]) / decade for end in ends]
    assert places == pytest.approx([0.301, 0.954, 3.806], abs=0.01)


def test_what_colour_shows_is_said_in_words_and_shapes_too(svg: ET.Element) -> None:
    assert [group.attrib["class"] for group in groups(svg)] == [
        "peer kept unconfined",
        "nacre fresh confined",
        "peer fresh unconfined",
    ]
    words = [group.findtext(f"{SVG}text[@class='faint']") for group in groups(svg)]
    assert words == ["kept, not confined", "fresh, confined", "fresh, not confined"]
    style = svg.findtext(f"{SVG}style") or ""
    assert ".unconfined .bar { fill: url(#hatched); }" in style
    assert ".kept .bar { stroke-dasharray: 4 3; }" in style
    assert "@media (prefers-color-scheme: dark)" in style


def test_it_says_what_it_is_to_those_who_do_not_see_it(svg: ET.Element) -> None:
    assert svg.attrib["role"] == "img"
    assert svg.attrib["aria-labelledby"] == "title desc"
    assert svg.findtext(f"{SVG}title") == "What one call of `true` takes, in milliseconds"
    assert "open 0.20 ms; nacre 0.90 ms; slow & <old> 640 ms." in str(svg.findtext(f"{SVG}desc"))
    assert "2 cpus & more" in [text.text for text in svg.findall(f"{SVG}text")]


def test_everything_is_inside_the_picture(svg: ET.Element) -> None:
    *_, width, height = map(float, svg.attrib["viewBox"].split())
    for each in svg.iter():
        for name, most in (("x", width), ("x1", width), ("x2", width), ("y", height)):
            assert 0 <= float(each.attrib.get(name, 0)) <= most


def test_rows_without_figures_make_an_empty_picture_that_is_whole() -> None:
    assert groups(ET.fromstring(chart(ROWS[-1:], ""))) == []


def test_one_row_alone_has_a_scale() -> None:
    svg = ET.fromstring(chart([row("only", 1.0)], ""))
    assert len(groups(svg)) == 1
