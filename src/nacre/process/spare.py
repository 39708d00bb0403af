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
from contextlib import suppress

TYPE_CHECKING = False  # importing typing would cost a tenth of the start
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    Spawn = Callable[[dict[str, Any], int, list[int]], tuple[int, int]]

__all__ = ("Spare", "is_like_plain")

# A script that is longer has a shell of its own.
_ROOM = 16_000
# Carried out only if nobody wrote a script over it.
_NAME = b"exit 125 # nacre: a shell without a script as yet"
_BLANK = _NAME.decode().ljust(_ROOM)
_WORDS = b"bash\0-c\0"
_START = _WORDS + _NAME
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
_LET_GO = b"\n"
_LOOK = os.WEXITED | os.WNOHANG | os.WNOWAIT
_SEALS = fcntl.F_SEAL_SEAL | fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_GROW | fcntl.F_SEAL_WRITE
_PROOF_SECONDS = 2.0
_LOOKS, _LOOK_SECONDS = 100, 0.001
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
        read, self._release = os.pipe2(os.O_CLOEXEC)
        self._memory = -1
        prelude = -1
        try:
            prelude = _sealed(read)
            environ = {**request["environ"], "BASH_ENV": f"/proc/self/fd/{prelude}"}
            passed = {"environ": environ, "argv": ["bash", "-c", _BLANK], "passed": [read, prelude]}
            self.pid, self.mark = spawn({**request, **passed}, null, outputs)
        except BaseException:
            os.close(self._release)
            raise
        finally:
            os.close(read)
            if prelude >= 0:
                os.close(prelude)
        self._cwd: str = request["cwd"]
        self._began_in = _cwd_of(self.pid)

    def make_ready(self) -> bool:
        """Blank the place of its script, and keep that at hand; False if it is not there yet."""
        if self._memory >= 0:
            return True
        try:
            memory = os.open(f"/proc/{self.pid}/mem", os.O_RDWR | os.O_CLOEXEC)
        except OSError:
            return False
        try:
            start = _words_of(self.pid)
            if start is not None and os.pread(memory, len(_START), start) == _START:
                self._place = start + len(_WORDS)
                os.pwrite(memory, bytes(_ROOM - len(_NAME)), self._place + len(_NAME))
                self._memory, memory = memory, -1
        except OSError:
            return False
        finally:
            if memory >= 0:
                os.close(memory)
        return self._memory >= 0

    def become(self, script: bytes) -> bool:
        """Have it carry out a script; False if it cannot any more, or not yet."""
        if len(script) > _ROOM or not self._is_in_place():
            return False
        try:
            if not self.make_ready():
                return False
            os.pwrite(self._memory, script.ljust(len(_NAME), b"\0"), self._place)
            # Another script may have stopped it.
            os.kill(self.pid, signal.SIGCONT)
            os.write(self._release, _LET_GO)
        except OSError:
            return False
        self.let_go()
        return True

    def _is_in_place(self) -> bool:
        """Whether it lives, and is where a shell that is started now would be."""
        try:
            there, here = os.stat(self._cwd), os.stat(f"/proc/{self.pid}/cwd")
            alive = os.waitid(os.P_PID, self.pid, _LOOK) is None
        except OSError:
            return False
        same = (there.st_dev, there.st_ino) == (here.st_dev, here.st_ino)
        # Bash remembers what its folder was called.
        return alive and same and _cwd_of(self.pid) == self._began_in

    def let_go(self) -> None:
        """Keep nothing of it here; one that has no script then ends by itself."""
        for fd in (self._release, self._memory):
            if fd >= 0:
                os.close(fd)
        self._release = self._memory = -1


def _sealed(release: int) -> int:
    """The file that holds a spare up. Other scripts may find it, and none may write to it."""
    file = os.memfd_create("nacre-spare", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
    with open(file, "wb", closefd=False) as whole:
        whole.write(_PRELUDE.format(own=file, release=release).encode())
    fcntl.fcntl(file, fcntl.F_ADD_SEALS, _SEALS)
    return file


def _cwd_of(pid: int) -> str:
    try:
        return os.readlink(f"/proc/{pid}/cwd")
    except OSError:
        return ""


def _words_of(pid: int) -> int | None:
    """Where the words of a process begin, once they are where they stay.

    The kernel moves them while it executes a program; it says where they end when it is done.
    """
    with open(f"/proc/{pid}/stat", "rb", buffering=0) as file:
        fields = file.read().rpartition(b")")[2].split()
    start, end = int(fields[_ARG_START]), int(fields[_ARG_START + 1])
    return start if end - start == len(_WORDS) + _ROOM + 1 else None


def is_like_plain(spawn: Spawn, request: dict[str, Any], null: int) -> bool:
    """Whether a script that looks closely finds the same in a spare as in a plain bash."""
    return _proof(spawn, request, null, _plain) == _proof(spawn, request, null, _by_spare)


def _plain(spawn: Spawn, request: dict[str, Any], null: int, output: int) -> int:
    return spawn({**request, "argv": ["bash", "-c", _PROOF]}, null, [output])[0]


def _by_spare(spawn: Spawn, request: dict[str, Any], null: int, output: int) -> int:
    spare = Spare(spawn, request, null, [output])
    for _ in range(_LOOKS):
        if spare.become(_PROOF.encode()):
            break
        select.select([], [], [], _LOOK_SECONDS)
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
