"""What a resident says, told from what a script says; no container is needed for that."""

import itertools
import os
import re
import signal
import subprocess
import time
from collections.abc import Generator, Mapping
from contextlib import contextmanager, suppress
from typing import Protocol

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nacre.container.resident import (
    Begin,
    Reader,
    Said,
    Word,
    begin,
    end,
    greet,
    resident_source,
    resident_words,
    wait_status,
)
from processes import COME_SECONDS, alive

_WORD = "0123456789abcdef"
_START = b"\0" + _WORD.encode() + b" "


class _Say(Protocol):
    def __call__(self, request: bytes, heard: list[Word] | None = None) -> bytes: ...


def _read(pieces: list[bytes]) -> tuple[bytes, list[Word]]:
    reader = Reader(0, _WORD)
    events = [event for piece in pieces for event in reader.feed(piece)]
    said = b"".join(event.data for event in events if isinstance(event, Said))
    return said, [event for event in events if isinstance(event, Word)]


@given(st.binary(max_size=60), st.binary(max_size=60), st.lists(st.integers(0, 200), max_size=6))
def test_words_are_found_however_the_bytes_come(
    before: bytes, after: bytes, cuts: list[int]
) -> None:
    data = before + _START + b"exited 3\n" + after + _START + b"gone 0\n"
    edges = [0, *sorted(min(cut, len(data)) for cut in cuts), len(data)]
    pieces = [data[a:b] for a, b in itertools.pairwise(edges)]
    assert _read(pieces) == (before + after, [Word(0, "exited", "3"), Word(0, "gone", "0")])


def test_a_list_of_jobs_that_is_empty_hides_no_word() -> None:
    data = _START + b"state " + _START + b"exited 0\n"
    assert _read([data]) == (b"", [Word(0, "state", ""), Word(0, "exited", "0")])


def test_a_script_that_knows_the_word_can_still_not_say_anything() -> None:
    data = _START + b"nonsense\nmore"
    assert _read([data]) == (data, [])


@pytest.mark.parametrize(
    ("status", "state", "expected"),
    [
        (0, "[1]+  7 Done    launch", 0),
        (137, "[1]+  7 Exit 137    launch", 137 << 8),
        (137, "[1]+  7 Killed    launch", 9),
        (143, "[1]+  7 Terminated    launch", 15),
        (3, "[1]+  7 Exit 3    launch", 3 << 8),
        (255, "", 255 << 8),
    ],
)
def test_a_signal_is_told_from_an_exit(status: int, state: str, expected: int) -> None:
    assert wait_status(status, state) == expected


def test_nothing_hides_from_a_resident_what_a_shell_died_of() -> None:
    source = resident_source().decode()
    meanwhile = source[source.index("trap 'jobs") : source.index('wait "$spare"')]
    counting = source[source.index("count_killed() {") :].partition("\n}\n")[0]
    assert "count_killed" in meanwhile
    for part in (meanwhile, counting):
        assert not re.findall(r"\b(for|while|until|continue|break)\b", part)


@pytest.mark.needs("namespace")
def test_an_end_that_comes_late_ends_nothing_else() -> None:
    other, mine = (1 << 62 | number << 24 | 0xFFFFFF for number in (1, 2))
    # It takes on the mark of another call, which is in use, before the shell ends.
    left = f"read -r pid < <(ulimit -x {other}; echo $BASHPID; exec sleep 60 >/dev/null); echo $pid"
    with _residing() as say:
        pid = say(_begin(mine, left, [mine, other])).decode().strip()
        # When nobody has spoken to it for a second, it forgets what is over.
        signal.sigtimedwait([], 1.5)
        alive = f"[ -e /proc/{pid}/fd ] && echo alive"
        assert say(end([mine, other]) + _begin(mine, alive, [mine, other])) == b"alive\n"


@pytest.mark.needs("namespace")
@pytest.mark.parametrize("stdin", [b"", b"x" * (1 << 20)], ids=["no input", "much input"])
def test_a_script_that_is_ended_as_it_begins_leaves_nothing(stdin: bytes) -> None:
    loop = "while :; do echo tick; sleep 0.01; done"
    # The first process, the resident, the steward, and this script.
    there = "n=0; for each in /proc/[0-9]*; do [[ -e $each/exe ]] && ((n++)); done; echo $n"
    with _residing() as say:
        for number in range(1, 20):
            marks = [1 << 62 | each << 24 | 0xFFFFFF for each in (2 * number, 2 * number + 1)]
            said: list[Word] = []
            say(_begin(marks[0], loop, marks[:1], stdin) + end(marks[:1]), said)
            # With a status: somebody saw its end, and nobody gave up waiting for it.
            assert said[-1] == Word(0, "gone", "0 137")
            assert say(_begin(marks[1], there, marks[1:])) == b"4\n"


@pytest.mark.needs("namespace")
def test_a_shell_that_was_stopped_before_its_script_came_goes_on() -> None:
    marks = [1 << 62 | number << 24 | 0xFFFFFF for number in (1, 2)]
    with _residing() as say:
        place = say(_begin(marks[0], "readlink /proc/self/ns/pid", marks)).decode().strip()
        until = time.monotonic() + COME_SECONDS
        while not (spares := [pid for pid in alive("nacre-spare") if _place_of(pid) == place]):
            assert time.monotonic() < until
        os.kill(spares[0], signal.SIGSTOP)
        assert say(_begin(marks[1], "echo on", marks)) == b"on\n"


def _place_of(pid: int) -> str:
    with suppress(OSError):
        return os.readlink(f"/proc/{pid}/ns/pid")
    return ""


@pytest.mark.needs("namespace")
def test_an_image_that_asks_for_posix_mode_changes_no_exit_code() -> None:
    environ = {"PATH": os.environ["PATH"], "POSIXLY_CORRECT": "1"}
    with _residing(environ) as say:
        for number in range(1, 6):
            mark = 1 << 62 | number << 24 | 0xFFFFFF
            said: list[Word] = []
            heard = say(_begin(mark, "echo $SHELLOPTS; sleep 0.05; exit 3", [mark]), said)
            assert said[-1].rest == "0 3"
            assert b"posix" in heard


def _begin(mark: int, script: str, live: list[int], stdin: bytes = b"") -> bytes:
    return begin(
        Begin(
            mark=mark,
            word=_WORD,
            separate=False,
            folder="/",
            limits=(),
            stdin=stdin,
            script=script,
            environ={},
            live=live,
        )
    )


# What a script finds when it starts, but for what differs each time, and what marks its processes.
_SURROUNDINGS = r"""
echo "$0 $- $# ${#BASH_EXECUTION_STRING} $LINENO $BASH_SUBSHELL $SHLVL"; umask; shopt; set -o
trap -p; jobs -l; alias; dirs; declare -F; ulimit -a | grep -v locks
grep -E 'Sig(Blk|Ign|Cgt)|ShdPnd' /proc/$$/status
for fd in {0..99}; do [[ -e /proc/$$/fd/$fd ]] && echo "$fd"; done
declare -p | sed -E 's/^(declare -[^ ]+ (RANDOM|SRANDOM|EPOCH[A-Z]*|SECONDS|PPID|BASHPID)=).*/\1/'
tr '\0' '\n' </proc/$$/environ | sort
read -r pid _ _ _ group session _ </proc/$$/stat
[[ $pid == "$$" && $group == "$pid" && $session == "$pid" ]] && echo leads
nosuchcommand; kill -INT $$; echo "still alive"
"""


@pytest.mark.needs("namespace")
def test_every_script_of_a_resident_finds_what_a_plain_bash_does() -> None:
    environ = {"PATH": os.environ["PATH"], "PWD": "/", "HOME": "/", "SHLVL": "0"}
    plain = subprocess.run(
        ["setsid", "bash", "-c", _SURROUNDINGS],
        check=False, cwd="/", env=environ, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )  # fmt: skip
    with _residing(environ) as say:
        for number in range(1, 4):
            mark = 1 << 62 | number << 24 | 0xFFFFFF
            seen = say(_begin(mark, _SURROUNDINGS, [mark]))
            assert seen.decode().splitlines() == plain.stdout.decode().splitlines()


@contextmanager
def _residing(environ: Mapping[str, str] | None = None) -> Generator[_Say]:
    """A resident in a namespace of processes, as in a container; what is said until all is gone."""
    # The first process is another, and what it leaves ends with it.
    around = ["unshare", "--user", "--map-root-user", "--pid", "--fork", "--mount-proc"]
    first = ["bash", "-c", '"$@"; exit', "first", *resident_words(60)]
    with subprocess.Popen(
        [*around, *first],
        env=environ,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        hears, said = process.stdin, process.stdout

        def until(kind: str, words: list[Word]) -> bytes:
            reader, heard = Reader(0, _WORD), b""
            while data := os.read(said.fileno(), 1 << 16):
                for event in reader.feed(data):
                    if isinstance(event, Said):
                        heard += event.data
                    else:
                        words.append(event)
                if words and words[-1].kind == kind:
                    return heard
            raise EOFError(heard)

        def say(request: bytes, heard: list[Word] | None = None) -> bytes:
            hears.write(request)
            hears.flush()
            return until("gone", [] if heard is None else heard)

        hears.write(resident_source() + greet(_WORD))
        hears.flush()
        until("ready", [])
        yield say
        hears.close()
