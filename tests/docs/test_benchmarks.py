"""The page of benchmarks says what its data say: nobody writes a figure by hand."""

import importlib.util
from types import ModuleType
from xml.etree import ElementTree as ET

import pytest

from docs.pages import ROOT

DOCS = ROOT / "docs"
SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture(scope="module")
def benchmarks() -> ModuleType:
    """`docs/benchmarks.py`, which is a script."""
    spec = importlib.util.spec_from_file_location("benchmarks", DOCS / "benchmarks.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_tables_follow_from_the_data(benchmarks: ModuleType) -> None:
    text = (DOCS / "benchmarks.md").read_text("utf-8")
    assert benchmarks.page(benchmarks.read(), text) == text, "run `make docs`"


def test_the_chart_follows_from_the_data(benchmarks: ModuleType) -> None:
    drawn = (DOCS / "benchmarks.svg").read_text("utf-8")
    assert benchmarks.picture(benchmarks.read()) == drawn, "run `make docs`"


def test_every_entrant_that_was_timed_is_in_the_table_and_in_the_chart(
    benchmarks: ModuleType,
) -> None:
    text = (DOCS / "benchmarks.md").read_text("utf-8")
    titles = {
        (group.findtext(f"{SVG}title") or "").partition(":")[0]
        for group in ET.parse(DOCS / "benchmarks.svg").iter(f"{SVG}g")
    }
    timed = {row.name for row in benchmarks.read().rows if row.figures}
    assert titles == timed
    assert {"subprocess.run", "posix_spawn", "nacre landlock"} <= timed
    assert {name for name in timed if f"| {name} |" not in text.replace("*", "")} == set()


def test_the_page_names_every_row_of_the_comparison(benchmarks: ModuleType) -> None:
    text = (DOCS / "benchmarks.md").read_text("utf-8")
    told = text[: text.index("## Beside other tools")]
    assert [
        row.name for row in benchmarks.read().rows if row.figures and f"`{row.name}`" not in told
    ] == []


def test_the_data_are_of_a_whole_run(benchmarks: ModuleType) -> None:
    assert benchmarks.read().scale.value == "full"
