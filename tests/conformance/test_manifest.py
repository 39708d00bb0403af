"""Every requirement has its test, and every test of a requirement its entry."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from nacre.dialects.requirements import DOCUMENTED, Requirement, requirements

ROOT = Path(__file__).parents[2]
ENTRIES = [entry for dialect in DOCUMENTED for entry in requirements(dialect)]


def marked(path: Path) -> Iterator[tuple[str, str]]:
    """The requirements that the tests of a file name, each with the test."""
    for node in ast.parse(path.read_text("utf-8")).body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            for decorator in node.decorator_list:
                if isinstance(decorator, ast.Call) and ast.unparse(decorator.func) == (
                    "pytest.mark.requirement"
                ):
                    for argument in decorator.args:
                        yield ast.literal_eval(argument), f"{path.relative_to(ROOT)}::{node.name}"


def proofs() -> list[tuple[str, str]]:
    return [pair for path in sorted(ROOT.glob("tests/**/test_*.py")) for pair in marked(path)]


def test_every_requirement_has_its_test_and_every_such_test_its_entry() -> None:
    assert sorted(proofs()) == sorted((entry.id, entry.test) for entry in ENTRIES)


def test_an_id_is_used_once_and_names_its_dialect() -> None:
    ids = [entry.id for entry in ENTRIES]
    assert len(set(ids)) == len(ids)
    assert {entry.dialect for entry in ENTRIES} == {*DOCUMENTED}


def test_there_are_enough_of_them() -> None:
    assert len(ENTRIES) >= 150
    for dialect in DOCUMENTED:
        assert len(requirements(dialect)) >= 20


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.id)
def test_an_entry_is_a_sentence_with_its_section(entry: Requirement) -> None:
    assert entry.section
    assert entry.says.endswith(".")
    assert not entry.differs or entry.differs.endswith(".")
