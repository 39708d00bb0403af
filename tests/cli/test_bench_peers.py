"""`nacre bench --only peers`: real drivers that misbehave, and what is said of them.

A peer is installed where a folder has its name, a marker and a Python. Here the Python is a program that plays the driver, well or badly.
"""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from nacre.cli.benchmarks.peers.compared import compared
from nacre.cli.benchmarks.peers.entrant import Entrant, Kind, Shell
from nacre.cli.benchmarks.peers.known import PEERS
from nacre.cli.benchmarks.peers.pins import Pin, pins
from nacre.cli.benchmarks.row import Figures, Row, Timing
from nacre.cli.benchmarks.saved import read_json
from processes import come_blocking, gone_blocking, tag

BASELINES = ["subprocess.run", "posix_spawn", "bwrap"]
OURS = ["nacre landlock", "nacre bubblewrap"]
TAG = tag()
# How each misbehaves, at its second call; `how` is what the driver is told, by which a peer has several ways.
DRIVER = """#!{python}
import json, subprocess, sys, time
name, how = {name!r}, sys.argv[2]
print(json.dumps({{"version": "9.9"}}), flush=True)
for number, line in enumerate(sys.stdin):
    output = subprocess.run(["bash", "-c", json.loads(line)], capture_output=True, text=True).stdout
    if number and name == "langchain":
        time.sleep(0.1)
    if number and name == "mini-swe-agent":
        sys.exit("the model is on holiday")
    if number and name == "inspect-ai":
        print("Welcome to", name)
    if number and how == "session":
        subprocess.Popen(["setsid", "sleep", {tag!r}])
        time.sleep(600)
    if name == "openhands":
        output = ""
    if number and how == "tmux":
        while True:
            print("garbage", end="")
    print(json.dumps({{"seconds": 0.0 if how == "execute" else 0.25, "output": output}}), flush=True)
"""


def installed(pin: Pin, peers: Path, tagged: str) -> None:
    program = pin.folder(peers) / "bin" / "python"
    program.parent.mkdir(parents=True)
    text = DRIVER.format(python=sys.executable, name=pin.name, tag=tagged)
    program.write_text(text, "utf-8")
    program.chmod(0o755)
    pin.mark(peers)


def bench(temporary: Path, *arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
    own = {
        "NACRE_PEERS": str(temporary / "peers"),
        "NACRE_STATE": str(temporary / "state"),
        "TMPDIR": str(temporary),
    }
    return subprocess.run(
        [sys.executable, "-m", "nacre", "bench", *arguments],
        capture_output=True,
        check=False,
        cwd=temporary,
        env={**os.environ, **own, **variables},
        text=True,
        timeout=100,
    )


def rows_of(done: subprocess.CompletedProcess[str]) -> dict[str, Row]:
    assert (done.returncode, done.stderr) == (0, "")
    return {row.name: row for row in read_json(done.stdout, "its output").rows}


@pytest.fixture(scope="module")
def rows(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Row]]:
    """The rows of one run, in which every peer but one is installed."""
    temporary = tmp_path_factory.mktemp("bench")
    peers = temporary / "peers"
    for pin in pins().values():
        if pin.name != "sandbox-runtime":
            installed(pin, peers, TAG)
    # So that there is a tmux, whether this host has one or not.
    (temporary / "path").mkdir()
    (temporary / "path" / "tmux").symlink_to("/bin/true")
    path = f"{os.environ['PATH']}:{temporary / 'path'}"
    yield rows_of(bench(temporary, "--quick", "--json", "--only", "peers", PATH=path))
    assert sorted(each.name for each in temporary.iterdir()) == ["path", "peers"]


def test_without_peers_there_are_the_plain_ways_and_nacre(tmp_path: Path) -> None:
    rows = rows_of(bench(tmp_path, "--quick", "--json", "--only", "peers"))

    peers = [peer.entrant.name for peer in PEERS]
    assert [*rows][: 5 + len(peers)] == [*BASELINES, *OURS, *peers]
    notes = {rows[peer.entrant.name].note for peer in PEERS}
    assert notes == {"not installed in peers; `make bench` installs it"}
    assert rows["posix_spawn"].work == (
        "a fresh shell, not confined: as a C program would, its output by one pipe"
    )


@pytest.mark.needs("bubblewrap")
def test_what_runs_a_fresh_confined_shell_is_a_bar_for_nacre(
    rows: dict[str, Row],
) -> None:
    for sandbox in ("landlock", "bubblewrap"):
        row = rows[f"peers {sandbox}"]
        assert row.bar == "<= 1 x"
        assert "to the nearest of 1 that run a fresh confined shell" in row.work


def test_a_peer_that_answers_has_raw_figures(rows: dict[str, Row]) -> None:
    works = ("true", "echo $((6 * 7))")
    assert rows["anthropic bash"].figures == Figures(
        kind="peer",
        shell=Shell.KEPT,
        confined=False,
        version="9.9",
        timings=tuple(Timing(work=work, n=2, median_ms=250.0, p90_ms=250.0) for work in works),
    )
    figures = rows["subprocess.run"].figures
    assert figures is not None
    assert (figures.kind, figures.shell, figures.confined) == ("baseline", "fresh", False)
    assert all(0 < timing.median_ms <= timing.p90_ms for timing in figures.timings)


def test_what_a_driver_says_counts_and_not_how_long_it_takes_to_say_it(
    rows: dict[str, Row],
) -> None:
    assert rows["langchain shell"].figures == rows["anthropic bash"].figures


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("mini-swe-agent", "its driver exited with code 1: the model is on holiday"),
        ("inspect-ai local", "it printed 'Welcome to inspect-ai', no answer"),
        ("swe-rex session", "it gave no answer within 2 s"),
        ("swe-rex execute", "it answered {'seconds': 0.0, 'output': ''}, which has no time"),
        ("openhands subprocess", "it answered without what the script prints"),
        ("openhands tmux", "it printed 1,048,576 bytes instead of an answer"),
        (
            "codex sandbox",
            "its driver exited with code 1: npm has brought no codex for this machine",
        ),
        ("sandbox-runtime srt", "not installed in peers; `make bench` installs it"),
    ],
)
def test_a_peer_that_fails_is_out_and_its_row_says_why(
    name: str, said: str, rows: dict[str, Row]
) -> None:
    row = rows[name]
    assert (row.measured, row.holds, row.figures, row.note) == ("-", None, None, said)


def test_nothing_is_left_of_a_driver_that_hangs(rows: dict[str, Row]) -> None:
    assert rows["swe-rex session"].figures is None
    gone_blocking(TAG)


def test_nothing_is_left_of_a_run_that_is_interrupted(tmp_path: Path) -> None:
    tagged = tag()
    installed(pins()["swe-rex"], tmp_path / "peers", tagged)
    own = {"NACRE_PEERS": str(tmp_path / "peers"), "TMPDIR": str(tmp_path)}
    with subprocess.Popen(
        [sys.executable, "-m", "nacre", "bench", "--only", "peers"],
        cwd=tmp_path,
        env={**os.environ, **own},
        stdout=subprocess.DEVNULL,
    ) as running:
        come_blocking(tagged, 30)
        running.send_signal(signal.SIGINT)
        assert running.wait(30) == 130
    gone_blocking(tagged)
    assert [each.name for each in tmp_path.iterdir()] == ["peers"]


def test_a_program_that_the_host_lacks_is_named(tmp_path: Path) -> None:
    for pin in pins().values():
        pin.folder(tmp_path / "peers").mkdir(parents=True)
        pin.mark(tmp_path / "peers")
    bare = tmp_path / "bare"
    bare.mkdir()
    (bare / "bash").symlink_to("/bin/bash")
    rows = rows_of(bench(tmp_path, "--quick", "--json", "--only", "peers", PATH=str(bare)))

    assert str(rows["sandbox-runtime api"].note).endswith("no socat and no rg, which it needs")
    assert rows["openhands tmux"].note == "this host has no tmux, which it needs"
    # Here all that is there of an environment is the marker.
    assert "its driver cannot be started: " in rows["langchain shell"].note


def entrant(name: str, kind: Kind, shell: Shell, *, confined: bool) -> Entrant:
    return Entrant(name=name, kind=kind, shell=shell, confined=confined)


def timed(*milliseconds: float) -> tuple[Timing, ...]:
    works = ("true", "echo 42")
    return tuple(
        Timing(work=work, n=9, median_ms=each, p90_ms=each)
        for work, each in zip(works, milliseconds, strict=True)
    )


NACRE = entrant("nacre landlock", Kind.NACRE, Shell.FRESH, confined=True)
HELD = entrant("held", Kind.PEER, Shell.FRESH, confined=True)
LOOSE = entrant("loose", Kind.PEER, Shell.FRESH, confined=False)
OPEN = entrant("open", Kind.PEER, Shell.KEPT, confined=False)


def test_the_bar_is_the_worst_of_all_works_to_whoever_promises_the_same() -> None:
    both = {NACRE: timed(1, 3), HELD: timed(4, 2), OPEN: timed(0.5, 0.5), LOOSE: timed(0.8, 0.8)}

    bar, ahead = compared(both, [NACRE])

    assert (bar.name, bar.measured, bar.holds) == ("peers landlock", "1.50 x", False)
    assert bar.note == "`echo 42`, to held"
    assert (ahead.measured, ahead.holds) == ("2 of 3", None)
    assert ahead.note == (
        "a shell kept open, not confined: open 0.50 ms; a fresh shell, not confined: loose 0.80 ms"
    )


def test_a_faster_shell_that_is_not_confined_is_no_bar() -> None:
    bar, ahead = compared({NACRE: timed(1, 1), HELD: timed(2, 2), OPEN: timed(0.1, 0.1)}, [NACRE])

    assert (bar.measured, bar.holds) == ("0.50 x", True)
    assert ahead.note == "a shell kept open, not confined: open 0.10 ms"


def test_without_anyone_who_promises_the_same_there_is_no_bar() -> None:
    bar, ahead = compared({NACRE: timed(1, 1), LOOSE: timed(2, 2)}, [NACRE])

    assert (bar.measured, bar.bar, bar.holds) == ("-", "", None)
    assert (ahead.measured, ahead.note) == ("0 of 1", "nobody")
    assert [row.note for row in compared({HELD: timed(1, 1)}, [NACRE])] == [
        "it is not there itself"
    ]
