"""The sandbox of an engine: chosen when the first script comes, and asked for each."""

import logging
import math
import threading
from collections.abc import Callable
from dataclasses import replace

from nacre.engine.explain import explain, seen_from
from nacre.engine.occasion import Occasion
from nacre.engine.threads import in_thread
from nacre.model.call import Streams
from nacre.model.confinement import Confinement
from nacre.model.launch import Launch
from nacre.model.result import Result
from nacre.model.violation import Violation
from nacre.process.containers import start_porter
from nacre.process.link import Link
from nacre.process.live import Process
from nacre.process.marks import mark_of
from nacre.process.rooms import Rooms
from nacre.process.spares import Spares
from nacre.sandbox.base import Held, Sandbox
from nacre.sandbox.gaps import left_out
from nacre.sandbox.protected.restore import Reverted

__all__ = ("Holding", "reports")

_LOG = logging.getLogger("nacre")
_WEAKER = "bubblewrap does not work here, so %s holds scripts, without: %s (see `nacre doctor`)"


class Holding:
    """Holds launches, and remembers what is compared when a job ends.

    Finding out what a host can enforce means to try it, which takes a moment; a host
    that never runs a script need not wait for it.
    """

    def __init__(
        self, choose: Callable[[str], Sandbox], usual: str, link: Link, spares: Spares
    ) -> None:
        self._choose = choose
        self._usual = usual
        self._link = link
        self._spares = spares
        self._rooms = Rooms(link)
        # Its containers are known by the process that made them, so it is never replaced.
        self._porter = Link(start_porter, most_runs=math.inf)
        self._porter.acquire()
        self._sandboxes: dict[str, Sandbox] = {}
        self._lock = threading.Lock()
        self._jobs: dict[str, Held] = {}

    async def hold(
        self, launch: Launch, confinement: Confinement, *, cleared: bool, by: str | None = None
    ) -> Held:
        """Say how a launch is held, and remember what is protected.

        `by` names another sandbox than the usual one.

        Raises:
            SandboxError: If it cannot be held as its confinement asks for.
            ConfigError: If there is no sandbox of the name that was given.
        """
        name = by or self._usual
        sandbox = self._sandboxes.get(name)
        if sandbox is None:
            sandbox = await in_thread(self._chosen, name)
        with self._lock:  # calls come from any thread, and plans are made and replaced
            held = sandbox.hold(launch, confinement, cleared=cleared)
        held.guarded.begin()
        return held

    def prepare(self, occasion: Occasion) -> None:
        """Have the warden that will hold a call's script started, in its room; wait for neither.

        Raises:
            SandboxError: If nothing can hold it.
        """
        name = occasion.sandbox or self._usual
        if name == "container":
            return  # made for the conversation that needs it
        self._link.start()
        launch = Launch(executable="", argv=(), cwd=occasion.cwd, environ=occasion.environ)
        sandbox = self._chosen(name)
        with self._lock:
            held = sandbox.hold(launch, occasion.confinement, cleared=occasion.cleared)
        self._link_to(held).start()

    def _chosen(self, name: str) -> Sandbox:
        with self._lock:
            if name not in self._sandboxes:
                self._sandboxes[name] = chosen = self._choose(name)
                # Inside another nacre it is no news that less can be had.
                if name == "auto" and chosen.name != "bubblewrap" and not mark_of(0):
                    _LOG.warning(_WEAKER, chosen.name, left_out(chosen.name, "bubblewrap"))
            return self._sandboxes[name]

    async def spawn(self, held: Held, streams: Streams) -> Process:
        """Hand a launch to the warden that is to spawn it.

        Raises:
            WardenError: If there is none, or no descriptors are left for pipes.
        """
        return await self._spares.spawn(self._link_to(held), held.launch, streams)

    def _link_to(self, held: Held) -> Link:
        if held.launch.hold.container:
            return self._porter
        room = held.launch.hold.room
        return self._rooms.link(room) if room else self._link

    def let_go(self, held: Held) -> None:
        """A run is over, however it ended, unless it goes on as a job."""
        if not any(kept is held for kept in list(self._jobs.values())):
            held.guarded.end()

    def keep(self, job_id: str, held: Held) -> tuple[str, ...]:
        """A run goes on as a job: compare now, and again whenever it is asked for."""
        self._jobs[job_id] = held
        return reports(held.guarded.check())

    def look(self, result: Result) -> Result:
        """Add to what a job said how it is held, what was put back and what was stopped."""
        job = result.job
        held = self._jobs.get(job.id) if job else None
        if job is None or held is None:
            return result
        violations: tuple[Violation, ...] = ()
        if job.ended is None:
            told = reports(held.guarded.check())
        else:
            told = reports(held.guarded.end())
            home = held.launch.environ.get("HOME")
            cwd = seen_from(held, job.cwd)
            violations = explain(result, job.script, held, cwd=cwd, home=home)
            self._jobs.pop(job.id, None)
        return replace(
            result,
            enforcement=held.enforcement,
            notices=(*result.notices, *told),
            violations=violations,
        )

    def close(self) -> None:
        """End the rooms, put back what is protected, let go of the folders."""
        self._spares.close()
        self._rooms.close()
        self._porter.release()
        while self._jobs:
            self._jobs.popitem()[1].guarded.end()
        while self._sandboxes:
            self._sandboxes.popitem()[1].close()


def reports(reverted: tuple[Reverted, ...]) -> tuple[str, ...]:
    """Say what was put back, a sentence each."""
    return tuple(_report(each) for each in reverted)


def _report(one: Reverted) -> str:
    kept = f"; what was there is kept at {one.kept}" if one.kept else ""
    return f"{one.path} is protected, and was put back ({one.what}){kept}"
