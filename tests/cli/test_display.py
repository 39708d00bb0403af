import subprocess
import sys
from pathlib import Path

import pytest

from hosts import nacre


@pytest.mark.parametrize(
    ("words", "printed"),
    [
        (["--cwd", "/foo", "cd /foo && ls"], "ls"),
        (["--cwd", "/bar", "cd /foo && ls"], "cd /foo && ls"),
        (["--cwd", "/home/u/p", "cd ~/p && ls"], "ls"),
        (["--cwd", "/foo", "cd /foo\nmake\n"], "make"),
        (["--cwd", "/foo", ""], ""),
        (["--cwd", "/foo", "echo '\x1b[1m'"], "echo '\x1b[1m'"),
    ],
)
def test_the_script_is_printed_without_what_says_nothing(
    state: Path, words: list[str], printed: str
) -> None:
    done = nacre("display", *words, state=state, variables={"HOME": "/home/u"})
    assert (done.code, done.out, done.err) == (0, f"{printed}\n", "")


def test_a_script_may_come_from_standard_input_whatever_its_bytes(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "nacre", "display", "--cwd", str(tmp_path), "-"],
        input=f"cd {tmp_path} && echo ".encode() + b"\xff",
        capture_output=True,
        check=True,
    )
    assert done.stdout == b"echo \xff\n"


def test_a_script_is_needed(state: Path) -> None:
    done = nacre("display", "--cwd", "/foo", state=state)
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith("nacre: Missing argument 'SCRIPT'")
