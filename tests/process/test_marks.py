import os
import signal
import subprocess
import sys

import pytest

from nacre.process.marks import mark_of, marked, signal_marked
from processes import gone_blocking, tag

# A process that marks itself as a warden does, then what it spawns, level by level. It
# looks like one, too: what carries the mark of a dead warden is ended by the next one.
_LOOKS = "nacre.process.warden"
_NESTED = """
import subprocess, sys  # nacre.process.warden
sys.path[:0] = {path!r}
from nacre.process.marks import Marks, mark_of
marks = Marks()
own = []
for _ in range(2):
    with marks.spawning() as mark:
        own.append(mark)
print(own, marks.owner(own[0]) == own[0], mark_of(0) not in own, flush=True)
if len(sys.argv) > 1:
    with marks.spawning():
        subprocess.run([sys.executable, "-c", sys.argv[1], *sys.argv[2:]], check=False)
"""


def _nested(levels: int) -> list[str]:
    code = _NESTED.format(path=sys.path)
    done = subprocess.run(
        [sys.executable, "-c", code, *[code] * (levels - 1)],
        check=False,
        capture_output=True,
        text=True,
    )
    return [*done.stdout.splitlines(), done.stderr]


def test_each_mark_is_lower_than_the_last_and_the_warden_keeps_none() -> None:
    line, errors = _nested(1)
    first, second = (int(number) for number in line[1 : line.index("]")].split(","))
    assert first > second
    assert line.endswith("] True True")
    assert errors == ""


def test_a_nacre_inside_a_nacre_marks_below_its_own_mark() -> None:
    outer, inner, innermost, errors = _nested(3)
    numbers = [
        [int(number) for number in line[1 : line.index("]")].split(",")]
        for line in (outer, inner, innermost)
    ]
    assert numbers[0][1] > max(numbers[1]) > min(numbers[1]) > max(numbers[2])
    assert errors == ""


def test_a_fourth_nacre_inside_the_others_is_refused_in_words() -> None:
    *_, errors = _nested(4)
    assert "nacre is nested too deeply here" in errors


def test_a_process_without_a_mark_has_none() -> None:
    assert mark_of(1) == 0
    assert mark_of(2**22 - 1) == 0


def test_a_signal_reaches_what_carries_the_mark_and_what_is_nested_in_it_only() -> None:
    mine, nested, other = tag(), tag(), tag()
    warden = subprocess.Popen(
        [sys.executable, "-c", "import sys; sys.stdin.read()", _LOOKS], stdin=subprocess.PIPE
    )
    base = (1 << 62) + (warden.pid << 40)
    call, inside, another = base + 0x5FFFFFF, base + 0x5FFFEFF, base + 0x4FFFFFF
    marks = {mine: call, nested: inside, other: another}
    processes = [_sleeper(name, mark) for name, mark in marks.items()]
    try:
        assert sorted(marked([call])) == sorted(process.pid for process in processes[:2])
        assert signal_marked([call], signal.SIGKILL) == {p.pid for p in processes[:2]}
        gone_blocking(mine)
        gone_blocking(nested)
        assert processes[2].poll() is None
    finally:
        for process in (*processes, warden):
            process.kill()
            process.wait()
        assert warden.stdin is not None
        warden.stdin.close()


def _sleeper(name: str, mark: int) -> subprocess.Popen[bytes]:
    code = f"import resource, os; resource.prlimit(0, 10, ({mark}, {mark})); print(flush=True); os.execlp('sleep', 'sleep', '{name}')"
    process = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE)
    assert process.stdout is not None
    process.stdout.readline()
    process.stdout.close()
    return process


@pytest.mark.needs("ordinary-user")
def test_a_user_cannot_raise_a_mark_again() -> None:
    code = (
        "import resource; resource.prlimit(0, 10, (5 << 60, 5 << 60))\n"
        "try: resource.prlimit(0, 10, (-1, -1))\n"
        "except (PermissionError, ValueError): print('held')"
    )
    done = subprocess.run([sys.executable, "-c", code], check=False, capture_output=True)
    assert done.stdout == b"held\n"
    assert os.getuid() != 0
