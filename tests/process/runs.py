"""One launch at a time, without an engine: what it said, and what the warden said of it."""

import os
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path, PurePath

import anyio

from nacre.model.call import Streams
from nacre.model.launch import Hold, Launch
from nacre.process.bash import find_bash, script_words
from nacre.process.events import Event, Gone, ShellExited, SpawnFailed
from nacre.process.link import Link
from nacre.process.live import Process
from nacre.process.spawn import spawn

__all__ = ("Said", "launch", "linked", "run", "shell")


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """The output of a launch, and the events until it was gone."""

    text: str
    events: tuple[Event, ...]

    @property
    def status(self) -> int | None:
        """How the shell ended."""
        return next((each.status for each in self.events if isinstance(each, ShellExited)), None)


@contextmanager
def linked() -> Generator[Link]:
    """A link of its own, whose warden ends with the block."""
    link = Link()
    link.acquire()
    try:
        yield link
    finally:
        link.release()


def launch(script: str, hold: Hold | None = None) -> Launch:
    """A shell with hardly any environment, held as it says."""
    return Launch(
        executable="/bin/bash",
        argv=("bash", "-c", script),
        cwd=PurePath("/"),
        environ={"PATH": os.environ["PATH"]},
        hold=hold or Hold(),
    )


def shell(script: str, cwd: Path, environ: Mapping[str, str]) -> Launch:
    """A shell that nothing holds."""
    words, stdin = script_words(script)
    return Launch(executable=find_bash() or "", argv=words, cwd=cwd, environ=environ, stdin=stdin)


def run(link: Link, wanted: Launch) -> Said:
    """Spawn, and wait until nothing is left of it.

    Raises:
        WardenError: If the warden dies before.
    """
    return anyio.run(_run, link, wanted)


async def _run(link: Link, wanted: Launch) -> Said:
    process = await spawn(link, wanted, Streams.MERGED)
    try:
        events = await _events(process)
        return Said(text="".join(map(_read, process.pipes)), events=tuple(events))
    finally:
        process.close()


async def _events(process: Process) -> list[Event]:
    found: list[Event] = []
    while not found or not isinstance(found[-1], Gone | SpawnFailed):
        await anyio.wait_readable(process.fileno())
        found += process.events()
    return found


def _read(pipe: int) -> str:
    parts: list[bytes] = []
    try:
        while part := os.read(pipe, 1 << 16):
            parts.append(part)
    except BlockingIOError:
        pass
    return b"".join(parts).decode()
