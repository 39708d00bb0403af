"""A shell that was started before its script is known.

Part of the warden. Bash leaves the words after `-c` where the kernel put them, and looks at them
last of all: after the file that BASH_ENV names. So a spare is a `bash -c` with a blank for a
script, held up in such a file. When the script comes it is written over the blank, in the memory
of the spare, and the spare is let go. From there on it is a `bash -c SCRIPT` like any other: it
parses, numbers lines, names itself in errors and saves its last fork as it always does.

That leans on how bash is made, so a spare is used only where one was compared with a plain bash,
on this machine and in this confinement (`is_like_plain`). What is left to be seen: BASH_ENV in
/proc/PID/environ, NULs behind the script in /proc/PID/cmdline, the age of the process, and in
lists of all variables that BASH_EXECUTION_STRING has the blank, PIPESTATUS and SECONDS are set
from the start, and BASH_ARGC is not empty. What scripts mention that could tell them so is known
to `nacre.process.spares`, and those have a shell of their own.
"""

from __future__ import annotations

import fcntl
import os
import re
import select
import signal
import time
from contextlib import ExitStack, suppress

from nacre.process.grip import NAME, ROOM, Grip, holds_data

TYPE_CHECKING = False  # importing typing would cost a tenth of the start
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    Spawn = Callable[[dict[str, Any], int, list[int]], tuple[int, int]]

__all__ = ("Spare", "is_like_plain")

_BLANK = NAME.decode().ljust(ROOM)
_WORDS = b"bash\0-c\0"
_START = _WORDS + NAME
# After the name, the first is the state: see proc_pid_stat(5).
_ARG_START = 45
# Bash has read all of it when it carries out the first line. What it waits for is not looked at:
# another script may have written it. The clock begins anew, and all ends here if whoever started it
# is gone.
_PRELUDE = """\
exec {own}<&-
read -r -u {release} BASH_ENV || exit
exec {release}<&-
unset BASH_ENV
SECONDS=0
: bash
"""
_SEALS = fcntl.F_SEAL_SEAL | fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_GROW | fcntl.F_SEAL_WRITE
_PROOF_SECONDS = 2.0
# Between two looks whether it is there; and by when it has been executed, on a busy machine, too.
_LOOK_SECONDS, _COME_SECONDS = 0.00005, 0.02
# What differs between two plain ones, too; and what is said above to be different.
_DIFFERS = re.compile(
    rb"declare -\S+ (BASHPID|EPOCH\w+|PPID|S?RANDOM|BASH_ARGC|SECONDS)\b|file locks"
)
_PROOF = r"""unset BASH_EXECUTION_STRING; declare -p; shopt; set -o; trap -p; jobs; alias; umask
ulimit -a; type cd; hash
echo "$0 $- $_ $# $? $! $LINENO $SHLVL $BASH_SUBSHELL ${BASH_SOURCE[*]}"; f() { caller; }; f
for each in {0..99}; do [[ -e /proc/self/fd/$each ]] && echo "$each"; done
nosuchcommand
exec 2>&1; set -x; : "$PWD" \
  $LINENO
if; then
"""


class Spare:
    """One such shell, until it is somebody's. It has a mark of its own from the start.

    Raises:
        OSError: If it cannot be started.
    """

    def __init__(
        self, spawn: Spawn, request: dict[str, Any], null: int, outputs: list[int]
    ) -> None:
        self._cwd: str = request["cwd"]
        self.grip: Grip | None = None
        with ExitStack() as undo:
            self._waits, release = os.pipe2(os.O_CLOEXEC)
            self._loose = [release]
            undo.callback(self.let_go)
            prelude = _sealed(self._waits)
            try:
                environ = {**request["environ"], "BASH_ENV": f"/proc/self/fd/{prelude}"}
                passed = {"environ": environ, "argv": ["bash", "-c", _BLANK]}
                self.pid, self.mark = spawn(
                    {**request, **passed, "passed": [self._waits, prelude]}, null, outputs
                )
            finally:
                os.close(prelude)
            self._loose.append(os.pidfd_open(self.pid))
            folder = os.open(f"/proc/{self.pid}/cwd", os.O_PATH | os.O_CLOEXEC)
            self._loose.append(folder)
            self._began_in = os.readlink(f"/proc/self/fd/{folder}")
            undo.pop_all()

    def make_ready(self) -> bool:
        """Blank the place of its script, and get hold of it; False if it is not there yet."""
        if self.grip is not None:
            return True
        try:
            memory = os.open(f"/proc/{self.pid}/mem", os.O_RDWR | os.O_CLOEXEC)
        except OSError:
            return False
        try:
            start = _words_of(self.pid)
            if start is not None and os.pread(memory, len(_START), start) == _START:
                place = start + len(_WORDS)
                os.pwrite(memory, bytes(ROOM - len(NAME)), place + len(NAME))
                release, number, folder = self._loose
                self.grip, self._loose = Grip(place, (memory, release, number, folder)), []
        except OSError:
            return False
        finally:
            if self.grip is None:
                os.close(memory)
        return self.grip is not None

    def become(self, script: bytes, patience: float = _COME_SECONDS) -> bool:
        """Have it carry out a script; False if it cannot any more.

        One that is not there yet is waited for: it is there sooner than another would be.
        """
        grip = self.come(patience)
        return grip is not None and self._is_in_place(grip) and grip.begin(script)

    def come(self, patience: float) -> Grip | None:
        """Wait until it is there, but no longer than that."""
        until = time.monotonic() + patience
        while not self.make_ready() and time.monotonic() < until and not self._is_over():
            select.select([], [], [], _LOOK_SECONDS)
        return self.grip

    @property
    def begun(self) -> bool:
        """Whether it has a script, whoever gave it."""
        return holds_data(self._waits)

    def _is_over(self) -> bool:
        return os.waitid(os.P_PID, self.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None

    def _is_in_place(self, grip: Grip) -> bool:
        """Whether it is where a shell that is started now would be."""
        try:
            # Bash remembers what its folder was called.
            return grip.is_in(self._cwd) and grip.folder_name() == self._began_in
        except OSError:
            return False

    def let_go(self) -> None:
        """Keep nothing of it here; one that has no script then ends by itself."""
        if self.grip is not None:
            self.grip.close()
        while self._loose:
            os.close(self._loose.pop())
        if self._waits >= 0:
            os.close(self._waits)
        self._waits = -1


def _sealed(release: int) -> int:
    """The file that holds a spare up. Other scripts may find it, and none may write to it."""
    file = os.memfd_create("nacre-spare", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
    with open(file, "wb", closefd=False) as whole:
        whole.write(_PRELUDE.format(own=file, release=release).encode())
    fcntl.fcntl(file, fcntl.F_ADD_SEALS, _SEALS)
    return file


def _words_of(pid: int) -> int | None:
    """Where the words of a process begin, once they are where they stay.

    The kernel moves them while it executes a program; it says where they end when it is done.
    """
    with open(f"/proc/{pid}/stat", "rb", buffering=0) as file:
        fields = file.read().rpartition(b")")[2].split()
    start, end = int(fields[_ARG_START]), int(fields[_ARG_START + 1])
    return start if end - start == len(_WORDS) + ROOM + 1 else None


def is_like_plain(spawn: Spawn, request: dict[str, Any], null: int) -> bool:
    """Whether a script that looks closely finds the same in a spare as in a plain bash."""
    return _proof(spawn, request, null, _plain) == _proof(spawn, request, null, _by_spare)


def _plain(spawn: Spawn, request: dict[str, Any], null: int, output: int) -> int:
    return spawn({**request, "argv": ["bash", "-c", _PROOF]}, null, [output])[0]


def _by_spare(spawn: Spawn, request: dict[str, Any], null: int, output: int) -> int:
    spare = Spare(spawn, request, null, [output])
    spare.become(_PROOF.encode(), _PROOF_SECONDS)
    spare.let_go()
    return spare.pid


def _proof(
    spawn: Spawn,
    request: dict[str, Any],
    null: int,
    run: Callable[[Spawn, dict[str, Any], int, int], int],
) -> tuple[int, list[bytes]]:
    """What the proof says in a shell, and how that ends."""
    read, write = os.pipe2(os.O_CLOEXEC)
    try:
        pid = run(spawn, request, null, write)
    except BaseException:
        os.close(read)
        raise
    finally:
        os.close(write)
    said = b""
    poll = select.poll()
    poll.register(read, select.POLLIN)
    until = time.monotonic() + _PROOF_SECONDS
    while poll.poll(max(0.0, until - time.monotonic()) * 1000) and (data := os.read(read, 1 << 16)):
        said += data
    os.close(read)
    with suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)  # no more than a precaution: it is not reaped yet
    status = os.waitpid(pid, 0)[1]
    return status, [line for line in said.splitlines() if not _DIFFERS.match(line)]
