"""Calls and verdicts of the five origins, as a file of cases has them.

The file is not part of the project: where it is not found there are no cases.
"""

import json
import os
import tomllib
from pathlib import Path
from typing import cast

from nacre.dialects.requirements import DOCUMENTED

__all__ = ("Case", "deliberate", "dialect_of", "load")

Case = dict[str, object]
_HERE = Path(__file__).resolve().parent
_CASES = _HERE.parents[2] / "shared" / "cases"
_DIALECTS = {"codegen-sandbox": "codegen"}
_REQUIRED = frozenset({"seed", "test", "doc", "measured", "source-derived"})


def load() -> list[Case]:
    """The cases that are to come out equal, or to be listed; none where there is no file."""
    folder = Path(os.environ.get("NACRE_CASES") or _CASES)
    try:
        found = cast("list[Case]", json.loads((folder / "seed_cases.json").read_text("utf-8")))
    except OSError:
        return []
    return [case for case in found if case["basis"] in _REQUIRED]


def dialect_of(case: Case) -> str:
    """Whose case it is."""
    system = str(case["system"])
    return _DIALECTS.get(system, system)


def deliberate() -> dict[str, str]:
    """The cases that come out differently on purpose, each with the reason."""
    found: dict[str, str] = {}
    for dialect in DOCUMENTED:
        text = (_HERE / dialect / "differences.toml").read_text("utf-8")
        found |= {each["case"]: each["reason"] for each in tomllib.loads(text)["difference"]}
    return found
