"""Limits that a script ran into."""

import re
import resource
import signal
from collections.abc import Iterator, Sequence

from nacre.model.expression import expression
from nacre.model.value import dataclass
from nacre.model.violation import Violation, ViolationKind
from nacre.sandbox.violations.complaint import Said
from nacre.sandbox.violations.evidence import Evidence, Host
from nacre.sandbox.violations.speakers import Speakers

__all__ = ("reached_limits",)


@dataclass(frozen=True, slots=True)
class _Limit:
    """One limit: how the kernel tells of it, and what a program prints then."""

    name: str
    number: int
    told: re.Pattern[str]
    what: str
    signal: int | None = None


_LIMITS = (
    _Limit(
        "file_bytes",
        resource.RLIMIT_FSIZE,
        expression(r"File size limit exceeded|File too large|\bEFBIG\b|\[Errno 27\]"),
        "the size of one file",
        signal.SIGXFSZ,
    ),
    _Limit(
        "cpu_seconds",
        resource.RLIMIT_CPU,
        expression(r"CPU time limit exceeded"),
        "the processor time of one process",
        signal.SIGXCPU,
    ),
    _Limit(
        "processes",
        resource.RLIMIT_NPROC,
        expression(
            r"fork: (?:retry: )?Resource temporarily unavailable|can't start new thread|"
            r"BlockingIOError: \[Errno 11\] Resource temporarily unavailable$|"
            r"unable to create (?:native )?thread|pthread_create failed|spawn \S+ EAGAIN|"
            r"[Cc]annot fork|fork/exec \S+: resource temporarily unavailable"
        ),
        "processes and threads",
    ),
    _Limit(
        "memory",
        resource.RLIMIT_DATA,
        expression(
            r"[Cc]annot allocate memory|^MemoryError\b|std::bad_alloc|\[Errno 12\]|\bENOMEM\b|"
            r"^Out of memory!|memory exhausted|runtime: out of memory|malloc failed|"
            r"memory allocation of \d+ bytes failed|out of memory allocating|LLVM ERROR: out of memory"
        ),
        "the memory of one process",
    ),
    _Limit(
        "open_files",
        resource.RLIMIT_NOFILE,
        expression(r"[Tt]oo many open files|\bEMFILE\b|\[Errno 24\]"),
        "open files of one process",
    ),
)
_OWN = expression(r"\bulimit\b|\bprlimit\b|\bsetrlimit\b|RLIMIT_")
_SIGNALLED = 128
_UNITS = ((1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB"))


def reached_limits(
    lines: Sequence[Said], evidence: Evidence, host: Host, speakers: Speakers
) -> Iterator[tuple[int, Violation]]:
    """The limits of the confinement that ended a script, or kept it from something."""
    if not evidence.enforcement.by or _OWN.search(speakers.text):
        return
    ended = evidence.signal or (evidence.exit_code or 0) - _SIGNALLED
    for limit in _LIMITS:
        most: int | None = getattr(evidence.confinement.limits, limit.name)
        if most is None:
            continue
        own = host.limit(limit.number)
        if own is not None and own < most:
            continue
        if limit.signal is not None and ended == limit.signal:
            yield -1, _reached(limit, most)
            continue
        for line in lines:
            if line.telling and limit.told.search(line.text) and speakers.could_say(line.text):
                yield line.number, _reached(limit, most)
                break


def _reached(limit: _Limit, most: int) -> Violation:
    return Violation(
        kind=ViolationKind.LIMIT,
        target=limit.what,
        rule=f"it is limited to {_amount(limit.name, most)}",
        remedy=f"use less, or ask the user to raise it with --limit {limit.name}=...",
    )


def _amount(name: str, most: int) -> str:
    if name == "cpu_seconds":
        return f"{most} seconds"
    if name in {"memory", "file_bytes"}:
        for size, unit in _UNITS:
            if most >= size:
                return f"{most / size:.3g} {unit}"
        return f"{most} bytes"
    return str(most)
