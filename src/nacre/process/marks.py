"""Marks that a call's processes inherit.

A warden ends what a call leaves behind, so it must tell the processes of one
call from those of another, however they forked, changed session or cleared
their environment. A mark is the hard limit of RLIMIT_LOCKS: obsolete since Linux
2.4.25 and enforced by nothing, but inherited, readable through prlimit(2), and
never raised again by an unprivileged process. (It can be lowered: what no longer
carries a mark that is in use has shed it, and the warden ends it for that.)

A hard limit only sinks, so marks are handed out downwards, and a nacre inside a
nacre finds its numbers inside the mark it was born with:

    bit 62                 set in every mark
    bits 40..61            the pid of the warden (at most 22 bits on Linux)
    bits 24..39            the call of that warden
    bits  8..23            the call of a warden inside that call
    bits  0..7             and one level further; there it ends

A level's number is all ones in the bits below it, so that whatever is below a
mark is found by filling up its low bits.
"""

import errno
import fcntl
import os
import resource
import select
import signal
import socket
from collections.abc import Collection, Generator, Iterator
from contextlib import contextmanager, suppress

__all__ = (
    "Marks",
    "born",
    "carriers",
    "carries",
    "kill_born",
    "kill_lost",
    "kill_marked",
    "lives",
    "mark_of",
    "marked",
    "pid_outside",
    "signal_marked",
    "stray_marks",
    "this_place",
)

_RLIMIT_LOCKS = 10  # not named in the resource module
_TAG = 1 << 62
# By what a warden, or a porter, is started.
_WARDENS = (b"nacre.process.warden", b"nacre.process.porter")
_PID_SHIFT = 40
_LEVELS = (24, 8, 0)  # bits below a mark that belong to the wardens inside it
_SLICES = (1, 64, 8)  # into how many parts the numbers of a level are split
_MOST_LOOKS = 100
_FILLED = tuple((1 << bits) - 1 for bits in _LEVELS)


class Marks:
    """The numbers one warden hands out, each with the numbers below it.

    The numbers of a warden are its own by its pid. Inside another's mark they are
    claimed in slices, by the name of an abstract socket, or where a sandbox allows no
    sockets by a lock on a file: the kernel frees both with the warden.

    Raises:
        OSError: From `spawning`, when the numbers of this level are used up.
    """

    def __init__(self) -> None:
        self.inherited = mark_of(0)
        level = _level(self.inherited)
        # Two levels down there are too few to spend any on what may not be needed.
        self.scarce = level > 1
        self._step = 1 << _LEVELS[level] if level < len(_LEVELS) else 0
        self._first = self._next = 0
        self._claims: list[socket.socket | int] = []
        self._slices = iter(range(_SLICES[level] if level < len(_SLICES) else 0))
        if level == 0:
            self._first = _TAG | os.getpid() << _PID_SHIFT
            self._next = self._first + (1 << _PID_SHIFT)
        elif level < len(_LEVELS):
            self._floor = self.inherited & ~_FILLED[level - 1]
            self._size = (1 << _LEVELS[level - 1]) // _SLICES[level]

    @contextmanager
    def spawning(self) -> Generator[int]:
        """Mark what this process spawns within the block with a new number.

        The warden must not be left with the number of its latest call: whoever
        ended that call by its mark would end the warden too.
        """
        while self._next - 2 * self._step < self._first or not self._next:
            self._claim()
        mark = self._sink()
        try:
            yield mark
        finally:
            self._sink()

    def owner(self, mark: int) -> int:
        """The mark this warden handed out, of which `mark` may be one below."""
        return mark | (self._step - 1)

    def _sink(self) -> int:
        self._next -= self._step
        mark = self._next + self._step - 1
        resource.prlimit(0, _RLIMIT_LOCKS, (mark, mark))
        return mark

    def _claim(self) -> None:
        """Take the highest slice that nobody has; a limit only sinks, so none above it."""
        for number in self._slices if self.inherited else ():
            claim = _claimed(f"nacre-{self.inherited:x}-{number}")
            if claim is None:
                continue
            self._claims.append(claim)
            self._next = self._floor + (1 << self._span_bits()) - number * self._size
            self._first = self._next - self._size
            if number == 0:
                self._next -= self._step  # the topmost holds the inherited mark itself
            return
        raise OSError(0, "nacre is nested too deeply here, or has run too many scripts")

    def _span_bits(self) -> int:
        return _LEVELS[_level(self.inherited) - 1]


def _claimed(name: str) -> socket.socket | int | None:
    """What keeps a name for this process alone, None if another has it."""
    try:
        claim = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    except PermissionError:
        return _locked(name)
    try:
        claim.bind(f"\0{name}")
    except OSError:
        claim.close()
        return None
    return claim


def _locked(name: str) -> int | None:
    folder = os.environ.get("TMPDIR", "/tmp")  # noqa: S108 (a sandbox has its own)
    file = os.open(f"{folder}/.{name}", os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(file)
        return None
    return file


def mark_of(pid: int) -> int:
    """Read the mark of a process; 0 if it has none."""
    try:
        hard = resource.prlimit(pid, _RLIMIT_LOCKS)[1]
    except PermissionError:
        hard = _published_limit(pid)
    except OSError:
        return 0
    return hard if hard > 0 and hard & _TAG else 0


def _published_limit(pid: int) -> int:
    """Read the limit of another user's process: prlimit(2) may not, anyone may look."""
    try:
        with open(f"/proc/{pid}/limits", "rb") as file:
            for line in file:
                if line.startswith(b"Max file locks"):
                    hard = line.split()[4]
                    return int(hard) if hard.isdigit() else 0
    except OSError:
        pass
    return 0


def marked(marks: Collection[int]) -> Iterator[int]:
    """Yield the processes that carry one of the marks, or a number below one."""
    for pid, _ in carriers(marks):
        yield pid


def carries(pid: int, mark: int) -> bool:
    """Whether a process carries a mark, or a number below it."""
    return _carried(pid, frozenset([mark])) != 0


def carriers(marks: Collection[int]) -> Iterator[tuple[int, int]]:
    """Yield the same processes, each with that one of the marks."""
    among = frozenset(marks)  # there may be thousands of both
    for pid in _processes():
        if mark := _carried(pid, among):
            yield pid, mark


def pid_outside(pid: int, mark: int) -> int:
    """The pid here of a process that a room knows as `pid`; 0 if it is gone.

    It may have shed its mark by now. Then it is known by its parent: the warden of the
    room, whose numbers begin like the mark.
    """
    for found in marked([mark]):
        if _inner_pid(found)[0] == pid:
            return found
    for found in _processes():
        inner, parent = _inner_pid(found)
        if inner == pid and mark_of(parent) >> _LEVELS[0] == mark >> _LEVELS[0]:
            return found
    return 0


def _inner_pid(pid: int) -> tuple[int, int]:
    """The innermost pid of a process in a namespace further in, and its parent's pid here."""
    inner = parent = 0
    try:
        with open(f"/proc/{pid}/status", "rb") as file:
            for line in file:
                if line.startswith(b"PPid:"):
                    parent = int(line.split()[1])
                elif line.startswith(b"NSpid:"):
                    _, _, *further = line.split()
                    inner = int(further[-1]) if further else 0
                    break
    except OSError:
        pass
    return inner, parent


def signal_marked(marks: Collection[int], number: int, *, but_group: int = 0) -> set[int]:
    """Send a signal to every process of some calls; return which they were.

    Those of the process group `but_group` had theirs already. A pid read from /proc may be another process by the time it is signalled, so
    the process is pinned by a pidfd first and asked for its mark after that.
    """
    reached: set[int] = set()
    among = frozenset(marks)
    for pid in marked(among):
        # ESRCH, EPERM, or EINVAL for one that is reaped at this moment.
        with suppress(OSError):
            pidfd = os.pidfd_open(pid)
            try:
                right = _carried(pid, among) and (not but_group or os.getpgid(pid) != but_group)
                if right and pid != os.getpid() and not _exited(pidfd):
                    _signal(pid, pidfd, number)
                    reached.add(pid)
            finally:
                os.close(pidfd)
    return reached


def _signal(pid: int, pidfd: int, number: int) -> None:
    """Signal a process that is pinned; inside a sandbox of ours only by its number."""
    try:
        signal.pidfd_send_signal(pidfd, number)
    except OSError as error:
        if error.errno != errno.ENOSYS:
            raise
        os.kill(pid, number)


def kill_marked(marks: Collection[int]) -> bool:
    """Kill every process of some calls; return whether there were any.

    Looks again, without a pause, as long as there are new ones: a process that
    forks while the others are killed must not win the race.
    """
    killed: set[int] = set()
    for _ in range(_MOST_LOOKS):
        found = signal_marked(marks, signal.SIGKILL)
        if found <= killed:
            break
        killed |= found
    return bool(killed)


def _carried(pid: int, among: frozenset[int]) -> int:
    """That one of some marks which a process carries, or a number below it; 0 if it has none."""
    mark = mark_of(pid)
    if not mark:
        return 0
    return next((mark | filled for filled in _FILLED if mark | filled in among), 0)


def born(pid: int) -> int:
    """When a process began, in ticks since the boot; with its pid, that is who it is."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            return int(file.read().rpartition(b")")[2].split()[19])
    except (OSError, IndexError):
        return 0


def lives(pid: int, when: int) -> bool:
    """Whether a process that began then is alive; one that nobody has reaped yet is not."""
    try:
        pidfd = os.pidfd_open(pid)
    except OSError:
        return False
    try:
        return born(pid) == when and not _exited(pidfd)
    finally:
        os.close(pidfd)


def kill_born(pid: int, when: int) -> None:
    """Kill a process, if it is still the one that began then, whatever its mark."""
    with suppress(OSError):
        pidfd = os.pidfd_open(pid)
        try:
            if when and born(pid) == when and not _exited(pidfd):
                _signal(pid, pidfd, signal.SIGKILL)
        finally:
            os.close(pidfd)


def kill_lost(mark: int) -> bool:
    """Kill what a dead warden left of a call; return whether there was anything.

    A pid comes back: if there is a warden of that number, it is another one, and
    so are the processes that carry its marks.
    """
    return not _is_warden(_warden_of(mark)) and kill_marked([mark])


def stray_marks(inherited: int) -> set[int]:
    """The marks of running processes whose warden is gone.

    Only wardens of this pid namespace count: elsewhere the same pid is another
    process. A nacre inside such a namespace was born with a mark whose warden it
    cannot see, and is no stray, nor is what is beside it.
    """
    here = _pid_namespace(os.getpid())
    found: set[int] = set()
    for pid in _processes():
        mark = mark_of(pid)
        warden = _warden_of(mark)
        ours = inherited and warden == _warden_of(inherited)
        if mark and not ours and _pid_namespace(pid) == here and not _is_warden(warden):
            found.add(mark)
    return found


def this_place() -> str:
    """What pids and marks are good for: one boot, one pid namespace."""
    try:
        with open("/proc/sys/kernel/random/boot_id", "rb") as file:
            boot = file.read().decode().strip()
    except OSError:
        boot = ""
    return f"{boot} {_pid_namespace(os.getpid())}"


def _warden_of(mark: int) -> int:
    return mark >> _PID_SHIFT & (1 << 22) - 1


def _level(inherited: int) -> int:
    """How many wardens are above this process."""
    if not inherited:
        return 0
    for depth, filled in enumerate(_FILLED[:-1]):
        if inherited & filled == filled:
            return depth + 1
    return len(_LEVELS)


def _processes() -> Iterator[int]:
    for entry in os.listdir("/proc"):
        if entry.isdecimal():
            yield int(entry)


def _exited(pidfd: int) -> bool:
    poll = select.poll()
    poll.register(pidfd, select.POLLIN)
    return bool(poll.poll(0))


def _pid_namespace(pid: int) -> str:
    try:
        return os.readlink(f"/proc/{pid}/ns/pid")
    except OSError:
        return ""


def _is_warden(pid: int) -> bool:
    try:
        with open(f"/proc/{pid}/cmdline", "rb") as file:
            words = file.read()
            return any(name in words for name in _WARDENS)
    except OSError:
        return False
