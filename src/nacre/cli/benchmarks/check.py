"""Reading and judging scripts: how long it takes, and how often the guards are right."""

import json
import os
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from statistics import quantiles
from typing import cast

from nacre.cli.benchmarks.row import FailedToRunError, Row, Scale, at_most
from nacre.cli.stream import Answers
from nacre.config.policy import ScriptChecker
from nacre.syntax.script import Surroundings

__all__ = ("measure_cases", "measure_check")

_WHERE = Surroundings(cwd="/srv/app", home="/home/u")
_CORPUS, _CASES = "gha_run_blocks.json", "analysis_cases.json"
# For each script, so that what else the machine does is not counted.
_TRIES = 3
_BARS = {"p50": 0.3, "p99": 5.0, "max": 50.0}
# Of each level of cases: which share must come out right, in percent.
_LEAST = {"seed": 100.0, "must": 100.0, "should": 90.0}
_LINES = (
    'git commit -m "fix: handle $HOME"',
    "npm ci && npm run build -- --mode production",
    'for f in *.txt; do wc -l "$f"; done | sort -n',
    'if [ -z "$TAG" ]; then echo "no tag" >&2; exit 1; fi',
    "curl -fsSL https://example.org/data.json | jq -r '.items[].name'",
    "cat > out.cfg <<EOF\nname=${NAME:-none}\ndate=$(date +%F)\nEOF",
    "find . -name '*.py' -print0 | xargs -0 grep -n import || true",
    "timeout 60 bash -c 'until nc -z localhost 80; do sleep 1; done'",
)


async def measure_check(scale: Scale) -> list[Row]:
    """Check many scripts, each by itself."""
    scripts, what = _scripts(scale.of(4, quick=1))
    checker = ScriptChecker("nacre")
    checker.check("true", _WHERE)
    took = sorted(min(_times(checker, script)) for script in scripts)
    cuts = quantiles(took, n=100)
    found = {"p50": cuts[49], "p99": cuts[98], "max": took[-1]}
    work = f"{len(scripts):,} {what}, read and judged, best of {_TRIES} each"
    return [at_most(f"check {name}", found[name], _BARS[name], "ms", work=work) for name in _BARS]


async def measure_cases(scale: Scale) -> list[Row]:
    """Compare verdicts with what they should be, where such cases are at hand."""
    file = _near("NACRE_CASES", "cases", _CASES)
    if file is None:
        note = "NACRE_CASES names the folder that has them"
        return [Row(name="guards", work=f"{_CASES} is not here", measured="-", note=note)]
    cases = cast("Sequence[Mapping[str, object]]", _loaded(file))[:: scale.of(1, quick=20)]
    answers = Answers("nacre", (), _WHERE)
    right: dict[tuple[str, bool], list[bool]] = {}
    for case in cases:
        kind = str(case["level"]), case["expected"] == "allow"
        right.setdefault(kind, []).append(_is_right(answers, case))
    kinds = ((level, allowed) for level in _LEAST for allowed in (False, True))
    return [_share(*kind, right[kind]) for kind in kinds if kind in right]


def _times(checker: ScriptChecker, script: str) -> Iterator[float]:
    for _ in range(_TRIES):
        began = time.perf_counter()
        checker.check(script, _WHERE)
        yield (time.perf_counter() - began) * 1e3


def _scripts(size: int) -> tuple[Sequence[str], str]:
    """Scripts that people wrote, if they are at hand, or a mix of usual lines."""
    file = _near("NACRE_CORPUS", "corpus", _CORPUS)
    if file is not None:
        found = cast("Sequence[str]", _loaded(file))
        return found[: len(found) * size // 4], f"scripts of {_CORPUS}"
    mixed = [
        "\n".join(_LINES[(first + step * second) % len(_LINES)] for second in range(first % 12 + 1))
        for first in range(100 * size)
        for step in (1, 3, 5)
    ]
    return mixed, f"generated scripts ({_CORPUS} is not here; NACRE_CORPUS names its folder)"


def _is_right(answers: Answers, case: Mapping[str, object]) -> bool:
    asked = {"script": case["command"], "cwd": case.get("cwd"), "rules": case.get("rules")}
    answer = cast("dict[str, object]", json.loads(answers.to(json.dumps(asked).encode())))
    also = cast("Sequence[object]", case.get("also_ok") or ())
    return answer.get("decision") in {case["expected"], *also}


def _share(level: str, allowed: bool, right: Sequence[bool]) -> Row:  # noqa: FBT001 (half a key)
    share = 100 * sum(right) / len(right)
    return Row(
        name=f"guards {level} {'allowed' if allowed else 'caught'}",
        work=f"cases of the level {level!r} that must {'' if allowed else 'not '}be allowed",
        measured=f"{sum(right)} of {len(right)}",
        bar=f">= {_LEAST[level]:g} %",
        holds=share >= _LEAST[level],
        note=f"{share:.1f} %",
    )


def _near(variable: str, folder: str, name: str) -> Path | None:
    """A file in the folder a variable names, or beside the project."""
    named = os.environ.get(variable)
    file = Path(named or f"../shared/{folder}", name)
    if named and not file.exists():
        raise FailedToRunError(f"{variable}={named!r} has no {name}")
    return file if file.exists() else None


def _loaded(file: Path) -> Sequence[object]:
    try:
        return cast("Sequence[object]", json.loads(file.read_bytes()))
    except ValueError as error:
        raise FailedToRunError(f"{file} is not JSON: {error}") from None
