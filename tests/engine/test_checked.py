"""The engine asks before it starts anything."""

import os
from collections.abc import Generator
from dataclasses import replace
from pathlib import Path

import pytest

from nacre.config.layers import gather
from nacre.config.policy import ScriptChecker
from nacre.engine.assemble import Settings, assemble
from nacre.engine.engine import Engine
from nacre.engine.occasion import Occasion
from nacre.model.call import Run
from nacre.model.outcome import Denied, Exited, Outcome, Unstarted
from nacre.model.transcript import Limit
from nacre.model.verdict import Decision, Verdict
from nacre.syntax.script import Surroundings
from nacre.testing import AllowEverything
from processes import descriptors, threads

pytestmark = pytest.mark.anyio

RULES = {"deny": ["Bash(touch denied:*)"], "ask": ["Bash(touch asked:*)"]}


@pytest.fixture
def checked(state: Path) -> Generator[Engine]:
    layers = gather(None, rules=RULES).layers
    engine = assemble(Settings(state=state), ScriptChecker("nacre", layers))
    yield engine
    engine.close()


def run(script: str, **settings: object) -> Run:
    return Run(script=script, limit=Limit(head=1000, tail=1000), **settings)  # pyright: ignore[reportArgumentType]


def decision(outcome: Outcome) -> Decision:
    return outcome.verdict.decision if isinstance(outcome, Denied) else Decision.ALLOW


@pytest.mark.parametrize(
    ("script", "expected"),
    [
        ("touch marker", Decision.ALLOW),
        ("touch marker; touch denied", Decision.DENY),
        ("touch marker; touch asked", Decision.ASK),
        ("touch marker; git add -A", Decision.DENY),
        ("touch marker; bash -c 'touch denied'", Decision.DENY),
        ("touch marker; echo $(", Decision.ASK),
        (f"touch marker; : {'x' * 50_000}; touch denied", Decision.DENY),
    ],
)
@pytest.mark.parametrize("background", [False, True])
async def test_a_denied_script_does_not_begin(
    checked: Engine,
    occasion: Occasion,
    workspace: Path,
    script: str,
    expected: Decision,
    *,
    background: bool,
) -> None:
    result = await checked.run(run(script, background=background), occasion)
    assert decision(result.outcome) is expected
    if expected is not Decision.ALLOW:
        assert not (workspace / "marker").exists()
        assert result.job is None


async def test_a_denied_script_starts_no_process_and_makes_no_file(
    state: Path, occasion: Occasion
) -> None:
    engine = assemble(Settings(state=state), ScriptChecker("nacre"))
    children = _children()
    await engine.run(run("git add -A"), occasion)
    before = descriptors(), threads()
    for _ in range(3):
        await engine.run(run("git add -A"), occasion)
    assert (descriptors(), threads(), _children()) == (*before, children)
    assert not state.exists()
    engine.close()


def _children() -> set[str]:
    return set(Path(f"/proc/{os.getpid()}/task/{os.getpid()}/children").read_text().split())


async def test_the_checker_is_told_where_the_script_would_start(
    state: Path, occasion: Occasion, workspace: Path
) -> None:
    asked: list[tuple[str, Surroundings]] = []

    class Listener(AllowEverything):
        def check(self, text: str, surroundings: Surroundings) -> Verdict:
            asked.append((text, surroundings))
            return Verdict(decision=Decision.DENY, reason="no")

    engine = assemble(Settings(state=state), Listener())
    here = replace(occasion, environ={"HOME": "/home/someone"})
    await engine.run(run("ls"), here)
    await engine.run(run("ls", cwd=Path("sub")), here)
    await engine.run(run("ls"), replace(occasion, environ={}))
    engine.close()
    assert [each.cwd for _, each in asked] == [str(workspace), f"{workspace}/sub", str(workspace)]
    assert [each.home for _, each in asked] == ["/home/someone", "/home/someone", None]


@pytest.mark.parametrize(
    ("script", "reason"),
    [
        ("touch denied\0", "the script holds a NUL character"),
        ("touch denied \ud800", "the script holds '\\ud800', which is no character"),
    ],
)
async def test_what_bash_could_not_be_given_is_not_called_denied(
    checked: Engine, occasion: Occasion, script: str, reason: str
) -> None:
    result = await checked.run(run(script), occasion)
    assert isinstance(result.outcome, Unstarted)
    assert result.outcome.reason.startswith(reason)


async def test_an_allowed_script_runs_as_before(checked: Engine, occasion: Occasion) -> None:
    result = await checked.run(run("echo hi; exit 3"), occasion)
    assert (result.outcome, result.transcript.head) == (Exited(3), b"hi\n")
