"""`nacre bench` through a real process, at its quick scale: the shape, not the figures."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

FIELDS = {"name", "work", "measured", "bar", "holds", "note", "figures", "scale", "machine"}
ROWS = {
    "cold": ["cold"],
    "landlock": ["landlock"],
    "bubblewrap": ["bubblewrap"],
    "spares": [
        f"spare {sandbox}{way}"
        for sandbox in ("landlock", "bubblewrap")
        for way in ("", " back to back", " sync")
    ],
    "tree": ["tree"],
    "flood": ["flood", "flood memory"],
    "lines": ["lines memory", "lines tail"],
    "jobs": ["jobs", "jobs memory", "jobs threads", "jobs warden"],
    "journal": ["journal"],
    "cancel": ["cancel"],
    "timeout": ["timeout"],
    "concurrent": ["concurrent", "concurrent leaks"],
    "import": ["import", "import Bash", "nacre run"],
    "check": ["check p50", "check p99", "check max"],
    "guards": ["guards"],
}


def bench(temporary: Path, *arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
    own = {"NACRE_STATE": str(temporary / "state"), "TMPDIR": str(temporary)}
    return subprocess.run(
        [sys.executable, "-m", "nacre", "bench", *arguments],
        capture_output=True,
        check=False,
        cwd=temporary,
        env={**os.environ, **own, **variables},
        text=True,
        timeout=60,
    )


@pytest.mark.parametrize("name", ROWS)
def test_a_benchmark_runs_and_gives_its_rows(name: str, tmp_path: Path) -> None:
    done = bench(tmp_path, "--quick", "--json", "--only", name)

    assert (done.returncode, done.stderr) == (0, "")
    rows = json.loads(done.stdout)
    assert [row["name"] for row in rows] == ROWS[name]
    assert all(row.keys() == FIELDS for row in rows)
    assert {row["scale"] for row in rows} == {"quick"}
    assert all((row["holds"] is None) == (row["bar"] == "") for row in rows)


def test_scripts_and_cases_may_be_named(tmp_path: Path) -> None:
    folder = tmp_path / "cases"
    folder.mkdir()
    (folder / "gha_run_blocks.json").write_text(json.dumps(["ls -la", "make test"] * 8))
    cases = [
        {"level": "must", "command": "git add -A", "expected": "deny"},
        {"level": "must", "command": "git add x", "expected": "allow"},
        {"level": "should", "command": "ls", "expected": "deny", "also_ok": ["ask"]},
        {"level": "seed", "command": "npm x", "expected": "ask", "cwd": "/srv",
         "rules": {"ask": ["Bash(npm:*)"]}},
    ]  # fmt: skip
    (folder / "analysis_cases.json").write_text(json.dumps([x for x in cases for _ in range(20)]))
    names = {"NACRE_CORPUS": str(folder), "NACRE_CASES": str(folder)}
    done = bench(tmp_path, "--quick", "--json", "--only=check", "--only=guards", **names)

    rows = {row["name"]: row for row in json.loads(done.stdout)}
    assert rows["check p50"]["work"].startswith("4 scripts of gha_run_blocks.json")
    assert {name: row["measured"] for name, row in rows.items() if "guards" in name} == {
        "guards seed caught": "1 of 1",
        "guards must caught": "1 of 1",
        "guards must allowed": "1 of 1",
        "guards should caught": "0 of 1",
    }
    done = bench(tmp_path, "--only", "check", NACRE_CORPUS=str(tmp_path))
    assert (done.returncode, done.stdout) == (1, "")
    assert "has no gha_run_blocks.json" in done.stderr


def test_what_does_not_depend_on_speed_holds_at_any_scale(tmp_path: Path) -> None:
    names = ("lines", "jobs", "concurrent")
    done = bench(tmp_path, "--quick", "--json", *(f"--only={name}" for name in names))

    held = {row["name"]: row["holds"] for row in json.loads(done.stdout)}
    exact = ("lines memory", "lines tail", "jobs", "jobs memory", "jobs threads")
    assert {name: held[name] for name in (*exact, "concurrent leaks")} == dict.fromkeys(
        (*exact, "concurrent leaks"), True
    )


def test_nothing_is_left_in_the_temporary_folder_or_the_state(tmp_path: Path) -> None:
    bench(tmp_path, "--quick", "--only", "jobs")

    assert list(tmp_path.iterdir()) == []


def test_the_table_ends_with_the_machine_and_a_warning_that_it_was_quick(tmp_path: Path) -> None:
    done = bench(tmp_path, "--quick", "--only", "cold", "--only", "lines")

    heading, *_, machine, warning = done.stdout.splitlines()
    assert heading.split() == ["NAME", "MEASURED", "BAR", "HOLDS", "WORK"]
    assert "lines tail    exact" in done.stdout
    assert re.match(rf"{os.cpu_count()} cpus, Linux \d+\.[\d.]*\d, Python ", machine)
    assert warning == "quick run: too little work for its figures to mean anything"


def test_an_unknown_benchmark_is_refused_in_one_sentence(tmp_path: Path) -> None:
    done = bench(tmp_path, "--only", "warm")

    assert (done.returncode, done.stdout) == (2, "")
    assert len(done.stderr.splitlines()) == 1
    assert "'warm' is not one of 'cold', 'landlock'," in done.stderr


def test_a_benchmark_that_cannot_run_says_why_even_when_quick(tmp_path: Path) -> None:
    done = bench(tmp_path, "--quick", "--json", "--only", "cold", PATH="/nonexistent")

    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith("nacre: the benchmark 'cold' could not run: ")
    assert len(done.stderr.splitlines()) == 1


def test_a_run_that_was_saved_is_shown_again(tmp_path: Path) -> None:
    saved = tmp_path / "run.json"
    saved.write_text(bench(tmp_path, "--quick", "--json", "--only", "cold").stdout, "utf-8")
    row, *_ = json.loads(saved.read_text("utf-8"))

    table = bench(tmp_path, "--from", str(saved)).stdout
    assert table.splitlines()[1].split()[:3] == ["cold", *row["measured"].split()]
    assert table.splitlines()[-2:] == [row["machine"], table.splitlines()[-1]]
    again = bench(tmp_path, "--from", str(saved), "--json").stdout
    assert json.loads(again) == json.loads(saved.read_text("utf-8"))


def test_a_bar_that_does_not_hold_in_a_full_run_is_the_exit_code(tmp_path: Path) -> None:
    saved = tmp_path / "run.json"
    row = {"name": "cold", "work": "", "measured": "9 x", "bar": "<= 1 x", "holds": False,
           "note": "", "figures": None, "scale": "full", "machine": "here"}  # fmt: skip
    saved.write_text(json.dumps([row]), "utf-8")
    assert bench(tmp_path, "--from", str(saved)).returncode == 1
    saved.write_text(json.dumps([row | {"holds": True}]), "utf-8")
    assert bench(tmp_path, "--from", str(saved)).returncode == 0


@pytest.mark.parametrize("text", ["", "[]", "{}", "[1]", '[{"name": "cold"}]', "\xff"])
def test_a_file_that_is_no_run_is_refused_in_words(text: str, tmp_path: Path) -> None:
    (tmp_path / "run.json").write_text(text, "latin-1")
    done = bench(tmp_path, "--from", "run.json")

    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith("nacre: run.json ")
    assert len(done.stderr.splitlines()) == 1


def test_what_cannot_be_read_or_written_or_does_not_fit_together_is_told(tmp_path: Path) -> None:
    missing = bench(tmp_path, "--from", "missing.json")
    assert missing.stderr.startswith("nacre: missing.json cannot be read: ")
    unwritten = bench(tmp_path, "--quick", "--only", "cold", "--chart", "no/where.svg")
    assert unwritten.stderr.startswith("nacre: the chart cannot be written: ")
    both = bench(tmp_path, "--from", "run.json", "--quick")
    assert both.returncode == 2
    assert "--from shows a whole run; leave out --only and --quick" in both.stderr
