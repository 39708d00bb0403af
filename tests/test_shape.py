"""The shape of the project, kept by a test."""

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import nacre

ROOT = Path(__file__).parents[1]
SOURCE = Path(nacre.__file__).parent
MODULES = sorted(SOURCE.rglob("*.py"))
_ESCAPE_OR_SET = re.compile(r"\\.|\[\^?\]?[^\]]*\]", re.DOTALL)
_GIVES_NOTHING_BACK = re.compile(r"[*+?}]\+|\(\?>")


def _name(path: Path) -> str:
    return str(path.relative_to(SOURCE))


@pytest.mark.parametrize("path", MODULES, ids=_name)
def test_a_module_says_what_it_is_for_and_stays_small(path: Path) -> None:
    text = path.read_text("utf-8")
    assert ast.get_docstring(ast.parse(text)), "no docstring"
    assert len(text.splitlines()) <= 400


def test_nothing_is_called_utils_helpers_or_manager() -> None:
    banned = {"utils", "util", "helpers", "helper", "common", "manager", "misc"}
    assert not [path for path in MODULES if path.stem in banned]


def test_the_public_names_are_these() -> None:
    assert nacre.__all__ == (
        "Answer",
        "Bash",
        "CallError",
        "CancelToken",
        "ConfigError",
        "Consent",
        "JobNotFoundError",
        "NacreError",
        "Question",
        "Reply",
        "RuleError",
        "SandboxError",
        "StateError",
        "ToolContext",
        "WardenError",
    )
    for name in nacre.__all__:
        assert getattr(nacre, name).__name__ == name
    with pytest.raises(AttributeError, match="has no attribute 'nonsense'"):
        _ = nacre.nonsense


def test_importing_nacre_imports_nothing_it_does_not_need() -> None:
    code = "import sys; before = set(sys.modules); import nacre; print(*set(sys.modules) - before)"
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    found = {name.partition(".")[0] for name in done.stdout.split()}
    assert found <= {"nacre", "importlib", "warnings"}


def test_another_system_is_refused_in_words() -> None:
    code = "import sys; sys.platform = 'win32'; import nacre; nacre.Bash"
    done = subprocess.run([sys.executable, "-c", code], check=False, capture_output=True, text=True)
    assert "nacre runs scripts on Linux only, and this is 'win32'" in done.stderr


def test_importing_the_tool_leaves_out_what_only_some_calls_need() -> None:
    code = "import sys; from nacre import Bash; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    heavy = {"sqlite3", "re2", "platformdirs", "click", "asyncio", "trio"}
    assert set(done.stdout.split()) & heavy == set()


def test_no_file_of_the_project_holds_a_path_of_somebodys_machine() -> None:
    found = [
        path
        for folder in ("src", "docs", "tests")
        for path in (ROOT / folder).rglob("*")
        if path.suffix in {".py", ".md", ".toml"}
        and path != Path(__file__)
        and any(part in path.read_text("utf-8") for part in ("/root/", "/home/user", "/Users/"))
    ]
    assert found == []


def test_no_pattern_has_a_possessive_quantifier_or_an_atomic_group() -> None:
    """Python 3.11.0 to 3.11.4 match them wrongly: `rm -"r"f /` was read as another command."""
    found = [
        (_name(path), text)
        for path in MODULES
        for text in _texts(ast.parse(path.read_text("utf-8")))
        if _has_shape_of_pattern(text) and _GIVES_NOTHING_BACK.search(_ESCAPE_OR_SET.sub("x", text))
    ]
    assert found == []


def _texts(tree: ast.AST) -> Iterator[str]:
    """Every text that is written in a module, with a letter for each value put in."""
    parts: set[ast.AST] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr):
            parts.update(node.values)
            yield "".join(
                str(part.value) if isinstance(part, ast.Constant) else "x" for part in node.values
            )
        elif isinstance(node, ast.Constant) and node not in parts:
            yield node.value.decode("latin-1") if isinstance(node.value, bytes) else str(node.value)


def _has_shape_of_pattern(text: str) -> bool:
    """Not so `g++`, and a list of marks."""
    return any(sign in text for sign in "[(\\")
