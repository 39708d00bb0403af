"""A thousand jobs at once: every line is told, and the host hardly notices."""

import os
from collections.abc import Sequence
from pathlib import Path

import anyio

from nacre.cli.benchmarks.gauge import PeakMemory, cpu_seconds, status, warden
from nacre.cli.benchmarks.row import FailedToRunError, Row, Scale, at_most
from nacre.cli.benchmarks.subject import details_of, opened_tool, temporary_folder
from nacre.model.outcome import Running
from nacre.tool import Bash, ToolContext

__all__ = ("measure",)

_MOST_MIB = 64
_MOST_THREADS = 4
# Between two rounds of asking every job what is new.
_ROUND_SECONDS = 0.5
# However slow the machine is: then something hangs.
_PATIENCE_SECONDS = 180


async def measure(scale: Scale) -> list[Row]:
    """Start jobs that wait for each other, let them talk, and read them to the end."""
    jobs, lines = scale.of(1000, quick=50), scale.of(10, quick=2)
    async with opened_tool() as tool:
        with temporary_folder() as folder:
            peak = PeakMemory()
            reader = _Reader(tool)
            gate = _Gate(Path(folder) / "gate")
            began = anyio.current_time()
            for _ in range(jobs):
                await reader.start(_script(lines), folder)
            started = anyio.current_time() - began
            alive = await reader.alive()
            gate.open()
            said = await reader.read_all()
            rows = [
                _accounted(
                    said, lines, note=f"{alive:,} alive at once, started in {started:.1f} s"
                ),
                peak.row("jobs memory", _MOST_MIB, work="while they run and are read"),
                reader.threads_row(),
                _warden_row(),
            ]
    return rows


class _Gate:
    """What jobs wait at with `read <gate`, until all of them are there.

    A FIFO with a writer that says nothing; whoever comes when it is open finds
    an empty file instead.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        os.mkfifo(path)
        self._writer = os.open(path, os.O_RDWR | os.O_CLOEXEC)

    def open(self) -> None:
        """Let everybody pass."""
        instead = self._path.with_suffix(".open")
        instead.touch()
        instead.replace(self._path)
        os.close(self._writer)


class _Reader:
    """Starts jobs and reads them, as a host would, and counts its threads meanwhile."""

    def __init__(self, tool: Bash) -> None:
        self._tool = tool
        self._said: dict[str, list[str]] = {}
        self._threads_before = self._threads = status("Threads")

    async def start(self, script: str, folder: str) -> None:
        """Start one more job."""
        arguments = {"command": script, "background": True}
        reply = await self._tool.call("Bash", arguments, ToolContext(working_dir=folder))
        self._said[str(details_of(reply)["id"])] = []

    async def alive(self) -> int:
        """How many jobs run now."""
        listed = await self._tool.jobs()
        return sum(isinstance(job.outcome, Running) for job in listed.jobs)

    async def read_all(self) -> Sequence[Sequence[str]]:
        """Ask every job what is new, again and again, until the last has ended."""
        running: list[str] = list(self._said)
        deadline = anyio.current_time() + _PATIENCE_SECONDS
        while running:
            if anyio.current_time() > deadline:
                raise FailedToRunError(f"{len(running)} jobs do not end")
            await anyio.sleep(_ROUND_SECONDS)
            running = [job_id for job_id in running if await self._read(job_id)]
        return list(self._said.values())

    async def _read(self, job_id: str) -> bool:
        reply = await self._tool.call("BashOutput", {"id": job_id})
        # A line in brackets is the tool's own.
        self._said[job_id] += [x for x in reply.text.splitlines() if not x.startswith("[")]
        self._threads = max(self._threads, status("Threads"))
        return details_of(reply)["outcome"] == "running"

    def threads_row(self) -> Row:
        """How many threads were there at most, beyond those before."""
        return at_most(
            "jobs threads",
            self._threads - self._threads_before,
            _MOST_THREADS,
            "more",
            work="threads of this process, while they run and are read",
            note=f"{self._threads_before} before",
        )


def _script(lines: int) -> str:
    return f'read -r <gate; for n in {{1..{lines}}}; do echo "line $n"; sleep 1; done'


def _accounted(said: Sequence[Sequence[str]], lines: int, *, note: str) -> Row:
    wanted = [f"line {n}" for n in range(1, lines + 1)]
    whole = sum(job == wanted for job in said)
    return Row(
        name="jobs",
        work=f"{len(said):,} jobs at once, a line a second for {lines} s, read with BashOutput",
        measured=f"{sum(map(len, said)):,} lines",
        bar=f"= {len(said) * lines:,} lines",
        holds=whole == len(said),
        note=f"{whole:,} jobs told whole and in order; {note}",
    )


def _warden_row() -> Row:
    pid = warden()
    if pid is None:
        raise FailedToRunError("the warden is gone")
    return Row(
        name="jobs warden",
        work="peak memory of the warden that holds them",
        measured=f"{status('VmHWM', pid) / 1024:.1f} MiB",
        note=f"{cpu_seconds(pid):.1f} s of processor time",
    )
