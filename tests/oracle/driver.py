"""Runs scripts under bash where they can do no harm; a program of its own.

    python driver.py

It gives up its user, enters namespaces of its own (users, mounts, processes,
network), builds a root from the host's `/usr` and `/etc` that nobody can write
to, with fakes where the dangerous programs would be, tries whether all that is
so, and then answers: a line of JSON with a script in, one with what ran out.
"""

import errno
import json
import os
import resource
import signal
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import TypedDict

sys.path.insert(0, str(Path(__file__).parents[1]))

from oracle.enclosure import INSIDE, TOP, build, enter, fresh
from oracle.fakes import FAKES, LOG, REAL

_SECONDS = 2.0
_MEMORY = 512 << 20
_FILE = 1 << 20
_PROCESSES = 64
_ENVIRONMENT = {
    "PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
    "HOME": "/tmp/home",
    "LANG": "C.UTF-8",
    "USER": "somebody",
}


class UnsafeError(Exception):
    """Something that must hold before a script may start does not."""


class _Done(TypedDict):
    calls: list[list[str]]
    status: int | None
    refused: str


def main() -> None:
    """Enter, and answer until there are no more questions."""
    try:
        enter()
        build(Path("/tmp"))
        _prove()
    except (OSError, KeyError, UnsafeError) as error:
        _say({"lack": f"{type(error).__name__}: {error}"})
        return
    _say({"lack": None})
    for line in sys.stdin:
        script: str = json.loads(line)
        _say(_run(script))


def _say(answer: object) -> None:
    sys.stdout.write(json.dumps(answer) + "\n")
    sys.stdout.flush()


def _prove() -> None:
    """Refuse to go on unless nothing of the host can be reached or written."""
    if os.getpid() != 1 or os.getuid() != INSIDE:
        raise UnsafeError("not alone")
    if extra := set(os.listdir("/")) - TOP:
        raise UnsafeError(f"more than expected is visible: {sorted(extra)}")
    for place in ("/", "/usr", "/etc", "/usr/bin", "/dev", "/proc", "/proc/sys", REAL + "/usr"):
        if not os.statvfs(place).f_flag & os.ST_RDONLY:
            raise UnsafeError(f"{place} is not read-only")
        try:
            os.close(os.open(f"{place}/nacre-oracle", os.O_CREAT | os.O_WRONLY))
        except OSError as error:
            if error.errno not in {errno.EROFS, errno.EACCES, errno.ENOENT}:
                raise
        else:
            raise UnsafeError(f"{place} can be written")
    with suppress(FileNotFoundError):
        if interfaces := set(os.listdir("/proc/self/net/dev_snmp6")) - {"lo"}:
            raise UnsafeError(f"there is a network: {sorted(interfaces)}")
    _limit()
    _prove_fakes()


def _limit() -> None:
    """Bound what a script can use; the driver is bound with it."""
    for what, most in (
        (resource.RLIMIT_AS, _MEMORY),
        (resource.RLIMIT_CORE, 0),
        (resource.RLIMIT_CPU, resource.RLIM_INFINITY),
        (resource.RLIMIT_FSIZE, _FILE),
        (resource.RLIMIT_NPROC, _PROCESSES),
    ):
        resource.setrlimit(what, (most, most))
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGCHLD})


# The words after `rm` and `dd` are such that the real ones would only complain.
_PROBE = """
rm --fake; \\rm --fake; 'rm' --fake; command rm --fake; command -p rm --fake; env -i rm --fake
bash -lc 'rm --fake'; /bin/rm --fake; /usr/bin/rm --fake; env - /bin/sh -c 'rm --fake'
sudo true; reboot --fake; dd --fake
for place in / /usr /usr/bin /usr/local/bin /etc /dev /proc/sys /root /home /var /oracle; do
  (: >"$place/nacre-oracle") 2>/dev/null && mount "$place"
done
(: </dev/tcp/127.0.0.1/22) 2>/dev/null && curl network
touch /tmp/file "$HOME/file" file && git works
"""


def _prove_fakes() -> None:
    """See the fakes be used, however they are called, and every write outside fail."""
    expected = [["rm", "--fake"]] * 10 + [["sudo", "true"], ["reboot", "--fake"], ["dd", "--fake"]]
    expected += [["git", "works"]]
    found = [call for call in _run(_PROBE)["calls"] if call[0] in FAKES]
    if found != expected:
        raise UnsafeError(f"the fakes were called as {found}")


def _run(script: str) -> _Done:
    """Run one script from a clean start to its end, and everything it left behind."""
    fresh()
    os.chdir("/tmp/work")
    try:
        shell = os.posix_spawn(
            "/bin/bash",
            ["bash", "-c", os.fsencode(script)],
            _ENVIRONMENT,
            file_actions=[
                (os.POSIX_SPAWN_OPEN, 0, "/dev/null", os.O_RDONLY, 0),
                (os.POSIX_SPAWN_OPEN, 1, "/dev/null", os.O_WRONLY, 0),
                (os.POSIX_SPAWN_OPEN, 2, "/dev/null", os.O_WRONLY, 0),
            ],
            setsid=True,
            setsigmask=[],
            setsigdef=[signal.SIGPIPE, signal.SIGXFSZ],
        )
    except (OSError, ValueError) as error:  # a text that no program can be given
        return {"calls": [], "status": None, "refused": str(error)}
    finally:
        os.chdir("/")
    status = _wait(shell)
    return {"calls": list(_calls()), "status": status, "refused": ""}


def _wait(shell: int) -> int | None:
    """Wait for a shell and what it left running; kill what takes too long."""
    deadline = time.monotonic() + _SECONDS
    status = None
    while True:
        try:
            pid, how = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return status
        if pid == shell:
            status = os.waitstatus_to_exitcode(how)
        if pid:
            continue
        left = deadline - time.monotonic()
        if left <= 0:
            with suppress(ProcessLookupError):
                os.kill(-1, signal.SIGKILL)
        signal.sigtimedwait([signal.SIGCHLD], max(left, 0.02))


def _calls() -> Iterator[list[str]]:
    """What the fakes wrote down: names and words."""
    with open(LOG, "rb") as file:
        fields = iter(file.read().split(b"\0"))
    for count in fields:
        if not count.isdigit():
            return
        words = [os.fsdecode(next(fields, b"")) for _ in range(int(count) + 1)]
        yield words


if __name__ == "__main__":
    main()
