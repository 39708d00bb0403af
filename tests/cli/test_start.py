"""What a short `nacre run` needs, and what it leaves alone: all that is not needed costs its time."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import pytest

from hosts import nacre
from nacre.engine.chain import append, journal_database
from nacre.engine.journal import JOURNAL
from nacre.engine.ledger import Ledger
from nacre.engine.retention import Retention
from nacre.engine.store import JobRow, Store
from processes import alive, gone_blocking

_WITNESS = Path(__file__).with_name("witness.py")
# What it imports of others' making, and may: with it comes what these import themselves.
_NEEDED = (
    "array", "ast", "atexit", "binascii", "bisect", "click", "collections", "contextlib", "ctypes",
    "dataclasses", "datetime", "enum", "errno", "fcntl", "functools", "gc", "hashlib", "importlib",
    "inspect", "itertools", "json", "logging", "math", "operator", "os", "pathlib", "re",
    "reprlib", "resource", "select", "shlex", "signal", "socket", "sqlite3", "stat", "string",
    "struct", "subprocess", "termios", "threading", "time", "typing", "unicodedata", "urllib.parse",
    "weakref",
)  # fmt: skip
_ONLY_SOME_CALLS = {
    "nacre.adapters", "nacre.cli.prompt", "nacre.cli.verdicts", "nacre.container",
    "nacre.dialects.definitions", "nacre.engine.jobs", "nacre.engine.ledger", "nacre.engine.store",
    "nacre.engine.waiting", "nacre.policy.rules.cover", "nacre.policy.rules.grants",
    "nacre.policy.rules.load", "nacre.render.redact", "nacre.sandbox.contained",
    "nacre.sandbox.none", "nacre.sandbox.violations", "nacre.server",
    "nacre.syntax.parser.treesitter", "nacre.testing",
}  # fmt: skip
_JOBS, _ENTRIES = 10_000, 100_000
# Two runs differ by what else there is to be read on a machine; the history is much longer.
_NOISE, _HISTORY = 1 << 20, 30 << 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Witnessed:
    """What a command did."""

    code: int
    modules: set[str]
    touched: set[str]
    read: int


def witnessed(*words: str, state: Path, workspace: Path) -> Witnessed:
    output = state.parent / "witnessed.json"
    subprocess.run(
        [sys.executable, str(_WITNESS), str(output), *words],
        check=True,
        stdin=subprocess.DEVNULL,
        cwd=workspace,
        env={**os.environ, "NACRE_STATE": str(state)},
    )
    told = json.loads(output.read_text("utf-8"))
    beneath = [os.path.relpath(path, state) for path in told["touched"] if str(state) in path]
    return Witnessed(
        code=told["code"],
        modules=set(told["modules"]),
        # What is there as long as the run itself is called after it.
        touched={path for path in beneath if path.split("/")[0] not in {"tmp", "locks"}},
        read=told["read"],
    )


def imported(code: str) -> set[str]:
    code = f"import sys; before = set(sys.modules); {code}; print(*set(sys.modules) - before)"
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    return set(done.stdout.split())


def below(modules: set[str], names: set[str]) -> set[str]:
    return {each for each in modules if each in names or _parents(each) & names}


def _parents(module: str) -> set[str]:
    parts = module.split(".")
    return {".".join(parts[:count]) for count in range(1, len(parts))}


def test_a_short_run_imports_nothing_beyond_what_it_needs(state: Path, workspace: Path) -> None:
    run = witnessed("run", "--", "true", state=state, workspace=workspace)
    assert run.code == 0
    others = {each for each in run.modules if each.split(".")[0] != "nacre"}
    assert others - imported(f"import {', '.join(_NEEDED)}") == set()
    assert below(run.modules, _ONLY_SOME_CALLS) == set()


def test_a_run_that_prints_needs_little_more(state: Path, workspace: Path) -> None:
    quiet = witnessed("run", "--", "true", state=state, workspace=workspace)
    prints = witnessed("run", "--", "echo hello", state=state, workspace=workspace)
    more = prints.modules - quiet.modules
    assert below(more, {"nacre.render"}) == more


def test_no_event_loop_is_needed_to_run_a_script(state: Path, workspace: Path) -> None:
    loops = {"anyio", "asyncio", "trio", "ssl"}
    for words in (["true"], ["exit 3"], ["sleep 0.1; seq 100000"], ["rm -rf /"]):
        run = witnessed("run", "--", *words, state=state, workspace=workspace)
        assert below(run.modules, loops) == set()


def test_help_is_shown_without_the_tool(state: Path, workspace: Path) -> None:
    run = witnessed("run", "--help", state=state, workspace=workspace)
    unneeded = {"nacre.tool", "nacre.engine", "nacre.policy", "nacre.syntax", "nacre.dialects"}
    assert below(run.modules, unneeded) == set()


def test_a_run_reads_nothing_of_what_was_before(state: Path, workspace: Path) -> None:
    witnessed("run", "--", "true", state=state, workspace=workspace)
    young = witnessed("run", "--", "true", state=state, workspace=workspace)
    _grow_old(state)
    assert sum(path.stat().st_size for path in state.rglob("*")) > _HISTORY
    old = witnessed("run", "--", "true", state=state, workspace=workspace)
    assert old.touched == young.touched == {f"{JOURNAL}.lock", JOURNAL}
    assert abs(old.read - young.read) < _NOISE


def _grow_old(state: Path) -> None:
    ledger = Ledger(state / "jobs", store := Store(state / "nacre.db"), Retention(count=_JOBS))
    with closing(store):
        for row in _ended():
            record, outputs = ledger.create_files(row)
            for fd in (record, *outputs):
                os.close(fd)
            store.insert(row)
    journal = journal_database(state / JOURNAL)
    texts = [json.dumps({"call": f"{number}", "script": "true" * 50}) for number in range(_ENTRIES)]
    with closing(journal):
        journal.do(lambda db: append(db, texts))


def _ended() -> Iterator[JobRow]:
    for number in range(_JOBS):
        yield JobRow(
            id=f"old{number}",
            conversation="default",
            script="make",
            description="",
            cwd="/",
            detached=True,
            pid=1,
            mark=1,
            place="",
            born=1,
            streams=1,
            started=1e9 + number,
            ended=2e9 + number,
            outcome="exited",
            number=0,
            said=0,
        )


@pytest.mark.needs("bubblewrap")
def test_of_what_is_begun_for_a_script_that_is_refused_nothing_stays(
    state: Path, workspace: Path
) -> None:
    done = nacre("run", "--workspace", str(workspace), "--", "rm -rf /", state=state)
    assert done.code == 126
    gone_blocking(str(state))
    files = {path.name for path in state.rglob("*") if path.is_file()}
    assert files == {"journal.db", "journal.db.lock"}
    assert list((state / "tmp").iterdir()) == []


def test_of_what_is_begun_for_a_setting_that_is_none_nothing_stays(
    state: Path, workspace: Path
) -> None:
    words = ("--workspace", str(workspace), "--confinement", "tank", "--", "true")
    assert nacre("run", *words, state=state).code == 125
    assert alive(str(state)) == []
