"""What the kernel says of this process: its memory, threads, descriptors, descendants."""

import gc
import os
from contextlib import suppress
from pathlib import Path

from nacre.cli.benchmarks.row import Row, at_most
from nacre.model.value import dataclass

__all__ = ("Holdings", "PeakMemory", "cpu_seconds", "status", "warden")

_KIB_PER_MIB = 1024
# proc(5): writing 5 resets the peak resident set size to what it is now.
_RESET_PEAK = "5"


class PeakMemory:
    """How much this process has grown at most since the object was made."""

    def __init__(self) -> None:
        gc.collect()
        self._reset = _reset_peak()
        self._before = status("VmRSS")

    def row(self, name: str, bar: float, *, work: str) -> Row:
        """The growth so far against a bar, both in MiB."""
        peak = status("VmHWM")
        how = "VmHWM, reset before" if self._reset else "VmHWM, which may not be reset here"
        return at_most(
            name,
            (peak - self._before) / _KIB_PER_MIB,
            bar,
            "MiB",
            work=f"growth of this process at its peak, {work}",
            note=f"{self._before / _KIB_PER_MIB:.1f} MiB before ({how})",
        )


@dataclass(frozen=True, slots=True)
class Holdings:
    """How many descriptors, threads and descendants this process has."""

    descriptors: int
    threads: int
    descendants: int

    @classmethod
    def now(cls) -> "Holdings":
        """Count them."""
        return cls(
            descriptors=len(os.listdir("/proc/self/fd")),
            threads=len(os.listdir("/proc/self/task")),
            descendants=len(_descendants()),
        )

    def within(self, other: "Holdings") -> bool:
        """Whether nothing is held in a greater number than there."""
        return (
            self.descriptors <= other.descriptors
            and self.threads <= other.threads
            and self.descendants <= other.descendants
        )

    def __str__(self) -> str:
        return (
            f"{self.descriptors} descriptors, {self.threads} threads,"
            f" {self.descendants} descendants"
        )


def status(field: str, pid: int | None = None) -> int:
    """A number from /proc/PID/status, in the unit used there (kB for memory)."""
    text = Path(f"/proc/{pid or 'self'}/status").read_text("ascii", "replace")
    return int(text.partition(f"\n{field}:")[2].split(maxsplit=1)[0])


def cpu_seconds(pid: int) -> float:
    """The processor time a process has used."""
    fields = _stat(pid)
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def warden() -> int | None:
    """The pid of this process's warden, if it runs."""
    for pid in _descendants():
        with suppress(OSError):
            if b"nacre.process.warden" in Path(f"/proc/{pid}/cmdline").read_bytes():
                return pid
    return None


def _reset_peak() -> bool:
    try:
        Path("/proc/self/clear_refs").write_text(_RESET_PEAK, "ascii")
    except OSError:
        return False
    return True


def _descendants() -> list[int]:
    parents: dict[int, int] = {}
    for entry in filter(str.isdecimal, os.listdir("/proc")):
        with suppress(OSError):
            parents[int(entry)] = int(_stat(int(entry))[1])
    found = [os.getpid()]
    for ancestor in found:
        found += [pid for pid, parent in parents.items() if parent == ancestor]
    return found[1:]


def _stat(pid: int) -> list[str]:
    """The fields of /proc/PID/stat behind the name, which may hold anything."""
    text = Path(f"/proc/{pid}/stat").read_text("ascii", "replace")
    return text.rpartition(")")[2].split()
