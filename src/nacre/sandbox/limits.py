"""Limits, as the numbers of the kernel's resource limits."""

import os
import resource

from nacre.errors import SandboxError
from nacre.model.confinement import Limits

__all__ = ("own_tasks", "resource_limits", "tasks_to_count")


def resource_limits(limits: Limits, *, tasks: int = 0) -> tuple[tuple[int, int], ...]:
    """The resource limits that hold a script to its limits, no core files included.

    The kernel counts processes and threads by user, so `tasks`, which run already, are
    added where a script shares its user with them. Memory is RLIMIT_DATA: unlike
    RLIMIT_AS it does not count address space that runtimes reserve and never use.

    Raises:
        SandboxError: If processors are to be counted, which no resource limit does.
    """
    if limits.cpus is not None:
        raise SandboxError(
            f"limits: cpus={limits.cpus} can be had with sandbox='container' only; leave it out"
        )
    processes = None if limits.processes is None else limits.processes + tasks
    wanted = (
        (resource.RLIMIT_DATA, limits.memory),
        (resource.RLIMIT_CPU, limits.cpu_seconds),
        (resource.RLIMIT_NPROC, processes),
        (resource.RLIMIT_FSIZE, limits.file_bytes),
        (resource.RLIMIT_NOFILE, limits.open_files),
        # A limit of 0 lets a handler that core_pattern pipes to run all the same; 1 does not.
        (resource.RLIMIT_CORE, 1),
    )
    return tuple((number, most) for number, most in wanted if most is not None)


def tasks_to_count(limits: Limits) -> int | None:
    """How many tasks the warden is to count: the kernel sets root no limit."""
    return limits.processes if os.getuid() == 0 else None


def own_tasks() -> int:
    """How many processes and threads this user runs now."""
    mine, count = os.getuid(), 0
    for entry in os.listdir("/proc"):
        if entry.isdecimal():
            try:
                if os.stat(f"/proc/{entry}").st_uid == mine:
                    count += len(os.listdir(f"/proc/{entry}/task"))
            except OSError:
                continue  # gone meanwhile
    return count
