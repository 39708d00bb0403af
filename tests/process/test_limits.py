"""Limits that a script inherits, and that the warden does not keep."""

import os
import resource
import signal
import subprocess
import sys
from collections.abc import Generator
from dataclasses import replace
from pathlib import Path

import pytest

from nacre.model.launch import Hold
from nacre.process.link import Link
from process.runs import Said, launch, linked, run
from processes import kill_all, tag

FILES, SIZE, DATA, CPU, CORE = (
    resource.RLIMIT_NOFILE,
    resource.RLIMIT_FSIZE,
    resource.RLIMIT_DATA,
    resource.RLIMIT_CPU,
    resource.RLIMIT_CORE,
)
MIB = 1 << 20
# What a warden does, with a script that has forked before its limits are fixed.
_LATE = """
import ctypes, resource, subprocess, sys  # nacre.process.warden
sys.path[:0] = {path!r}
from nacre.process.limits import Limits
from nacre.process.marks import Marks
ctypes.CDLL(None).prctl(36, 1, 0, 0, 0)
limits = Limits()
other = subprocess.Popen(["sleep", {tag!r}], stdout=-3, stderr=-3)
with Marks().spawning() as mark:
    script = "(sleep {tag} & echo $!); sleep {tag} & echo $!; echo $$; read"
    shell = subprocess.Popen(["bash", "-c", script], stdin=-1, stdout=-1, stderr=-3, text=True)
    pids = [int(shell.stdout.readline()) for _ in range(3)]
    limits.lend([[7, 99]])
    limits.fix(shell.pid, mark)
print(*(resource.prlimit(pid, 7)[1] for pid in (*pids, other.pid)))
"""


@pytest.fixture(scope="module")
def link() -> Generator[Link]:
    with linked() as link:
        yield link


def limited(link: Link, script: str, *limits: tuple[int, int]) -> Said:
    return run(link, launch(script, Hold(limits=limits)))


def fixed(letter: str, hard: int | str) -> str:
    """Wait until the hard limit is there, which comes a moment after the start; print both."""
    return (
        f"until [ $(ulimit -H{letter}) = {hard} ]; do :; done; ulimit -S{letter}; ulimit -H{letter}"
    )


@pytest.mark.parametrize(
    ("letter", "limit", "soft", "hard"),
    [
        ("n", (FILES, 77), 77, 77),
        ("f", (SIZE, 10 * MIB), 10240, 10240),
        ("d", (DATA, 512 * MIB), 512 * 1024, 512 * 1024),
        ("d", (DATA, 4 * MIB), 4 * 1024, 4 * 1024),  # too little for the warden itself
        ("t", (CPU, 30), 30, 32),  # between a signal that can be told and the last one
        ("c", (CORE, 1), 0, 0),  # of a kilobyte
    ],
)
def test_a_script_has_the_limit_and_cannot_have_more(
    link: Link, letter: str, limit: tuple[int, int], soft: int, hard: int
) -> None:
    said = limited(link, fixed(letter, hard), limit)
    assert said.text.split() == [str(soft), str(hard)]


def test_the_next_script_has_what_is_its_own(link: Link) -> None:
    usual = limited(link, "ulimit -n; ulimit -f; ulimit -d; ulimit -t").text
    limited(link, "true", (FILES, 77), (SIZE, MIB), (DATA, 512 * MIB), (CPU, 30))
    assert limited(link, "ulimit -n; ulimit -f; ulimit -d; ulimit -t").text == usual
    limited(link, "true", (SIZE, MIB))
    said = limited(link, f"ulimit -Sf; {fixed('n', 99)}", (FILES, 99))
    assert said.text.split() == [usual.split()[1], "99", "99"]


def test_the_warden_can_live_with_a_limit_that_is_too_small_for_itself(link: Link) -> None:
    """What it is told the second time is more than it could keep within the limit."""
    small = launch("echo ran", Hold(limits=((DATA, 6 * MIB),)))
    large = replace(small, environ={f"A{number}": "x" * 100_000 for number in range(6)})
    assert [run(link, large).text for _ in range(3)] == ["ran\n"] * 3


def test_what_a_script_has_started_by_then_is_limited_as_well_and_nothing_else() -> None:
    mark = tag()
    code = _LATE.format(path=sys.path, tag=mark)
    try:
        done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True)
    finally:
        kill_all(mark)
    own = resource.getrlimit(FILES)[1]
    assert [int(hard) for hard in done.stdout.split()] == [99, 99, 99, own]


def test_the_soft_limit_is_there_from_the_first_instruction(link: Link) -> None:
    """Not after a moment in which a file could have grown, or memory been had."""
    for _ in range(5):
        said = limited(link, "ulimit -Sf; ulimit -Sd", (SIZE, 10 * MIB), (DATA, 512 * MIB))
        assert said.text.split() == ["10240", str(512 * 1024)]


def test_no_script_is_started_with_the_right_to_a_core_file(link: Link) -> None:
    """What is lowered a moment later, a script that crashes at once would have had."""
    started_by = "grep '^Max core' /proc/$PPID/limits"
    for _ in range(20):
        said = limited(link, f"ulimit -Hc; {started_by}", (CORE, 1))
        assert " ".join(said.text.split()) == "0 Max core file size 1 1 bytes"


def test_the_right_to_a_core_file_stays_given_up() -> None:
    with linked() as link:
        limited(link, "true", (CORE, 1))
        assert limited(link, "ulimit -Hc").text == "0\n"
        assert limited(link, "ulimit -Hc", (CORE, 1 << 20), (SIZE, MIB)).text == "0\n"


def test_a_file_that_grows_too_large_ends_the_script_by_a_signal(
    link: Link, tmp_path: Path
) -> None:
    file = tmp_path / "file"
    tmp_path.chmod(0o777)
    said = limited(link, f"exec head -c 99999 /dev/zero > {file}", (SIZE, 4096))
    assert said.status is not None
    assert os.WTERMSIG(said.status) == signal.SIGXFSZ
    assert file.stat().st_size == 4096


def test_a_limit_of_the_host_is_never_raised(link: Link) -> None:
    hard = resource.getrlimit(FILES)[1]
    said = limited(link, "ulimit -Hn", (FILES, hard + 1000))
    assert said.text.strip() == str(hard)
