"""Too many processes or threads end a call, also where the kernel sets no limit."""

import os
import subprocess
import sys
from collections.abc import Generator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from pathlib import Path

import anyio
import pytest

from nacre.engine.approvals import Approvals
from nacre.engine.assemble import Settings, open_jobs
from nacre.engine.engine import Engine
from nacre.engine.grants import GRANTS, Grants
from nacre.engine.holding import Holding
from nacre.engine.occasion import Occasion
from nacre.engine.spills import Spills
from nacre.model.call import Run
from nacre.model.confinement import Confinement, Limits
from nacre.model.launch import Hold, Launch
from nacre.model.outcome import Exited, Signaled
from nacre.model.transcript import Limit
from nacre.process.events import Crowded, Gone
from nacre.process.link import Link
from nacre.process.spares import Spares
from nacre.sandbox.base import Held
from nacre.sandbox.table import none_table
from nacre.testing import AllowEverything
from process.runs import launch, linked, run
from processes import alive, kill_all, tag

# Far more than the limit: it is seen before they have all ended by themselves.
MOST, MANY = 40, 300


class OnlyCounted:
    """Holds a script to a number of processes, and to nothing else."""

    name = "only-counted"

    def hold(self, launch: Launch, confinement: Confinement, *, cleared: bool) -> Held:
        return Held(
            launch=replace(launch, hold=Hold(most_tasks=confinement.limits.processes)),
            enforcement=none_table(cleared=cleared),
            confinement=confinement,
        )

    def close(self) -> None:
        pass


@pytest.fixture(scope="module")
def link() -> Generator[Link]:
    with linked() as link:
        yield link


def threads(count: int) -> str:
    code = (
        "import threading as t, sys; e = t.Event();"
        f" [t.Thread(target=e.wait, args=(20,)).start() for _ in range({count})]; print(len(t.enumerate()))"
    )
    return f"{sys.executable} -c '{code}'"


def processes(count: int, seconds: str) -> str:
    return f"for _ in {{1..{count}}}; do sleep {seconds} & done; wait"


def test_too_many_processes_end_the_call_with_all_of_them(link: Link) -> None:
    mark = tag()
    try:
        said = run(link, launch(processes(MANY, mark), Hold(most_tasks=MOST)))
        assert Crowded() in said.events
        assert said.events[-1] == Gone()
        assert alive(f"sleep\0{mark}") == []
    finally:
        kill_all(f"sleep\0{mark}")


def test_a_crowd_is_seen_although_many_others_have_ended_meanwhile(
    link: Link, tmp_path: Path
) -> None:
    """Four times as many as the crowd itself: the machine has fewer tasks than before."""
    mark, others = tag(), 4 * MANY
    code = (
        "import threading as t; e = t.Event();"
        f" [t.Thread(target=e.wait).start() for _ in range({others})];"
        " print(flush=True); input(); import os; os._exit(0)"
    )
    script = f"echo > {tmp_path}/begun; until [ -e {tmp_path}/go ]; do sleep 0.02; done;"
    with subprocess.Popen(
        [sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as crowd:
        assert crowd.stdout is not None
        crowd.stdout.readline()
        with ThreadPoolExecutor(1) as thread:
            held = Hold(most_tasks=MOST)
            said = thread.submit(run, link, launch(script + processes(MANY, mark), held))
            while not (tmp_path / "begun").exists():
                assert not said.done()
            crowd.communicate(b"\n")
            (tmp_path / "go").touch()
            try:
                assert Crowded() in said.result(60).events
            finally:
                kill_all(f"sleep\0{mark}")


def test_a_crowd_is_seen_although_one_other_ends_for_each_of_it(link: Link, tmp_path: Path) -> None:
    """The machine has as many tasks as before, at any time."""
    mark, fifo = tag(), tmp_path / "fifo"
    code = (
        "import os, sys, threading as t; gate = t.Semaphore(0);"
        f" [t.Thread(target=gate.acquire).start() for _ in range({MANY})];"
        " print(flush=True);"
        " [gate.release() for _ in iter(lambda: sys.stdin.buffer.raw.read(1), b'')]; os._exit(0)"
    )
    os.mkfifo(fifo)
    script = f"for _ in {{1..{MANY}}}; do sleep {mark} & echo -n . >&3; done 3>{fifo}; wait"
    with (
        open(fifo, "r+b", buffering=0) as told,
        subprocess.Popen(
            [sys.executable, "-c", code], stdin=told, stdout=subprocess.PIPE
        ) as others,
    ):
        assert others.stdout is not None
        others.stdout.readline()
        try:
            said = run(link, launch(script, Hold(most_tasks=MOST)))
            assert Crowded() in said.events
        finally:
            others.kill()
            kill_all(f"sleep\0{mark}")


def test_threads_count_as_well(link: Link) -> None:
    said = run(link, launch(threads(MANY), Hold(most_tasks=MOST)))
    assert Crowded() in said.events


def test_fewer_are_left_alone_and_so_is_a_call_without_a_limit(link: Link) -> None:
    code = processes(20, "0.25")
    said = run(link, launch(code, Hold(most_tasks=MOST)))
    assert (Crowded() in said.events, said.status) == (False, 0)
    assert Crowded() not in run(link, launch(processes(60, "0.25"))).events


def test_the_processes_of_another_call_are_not_its_fault(state: Path, workspace: Path) -> None:
    """And the result of the one that has too many says which limit it was."""
    with linked() as link:
        engine = Engine(
            link=link,
            checker=(checker := AllowEverything()),
            approvals=Approvals(checker, Grants(state / GRANTS)),
            holding=Holding(lambda _: OnlyCounted(), "only-counted", link, Spares(0)),
            spills=Spills(state / "spills", None),
            jobs=partial(open_jobs, Settings(state=state)),
        )
        free = Occasion(cwd=workspace, conversation="x", environ={"PATH": os.environ["PATH"]})
        held = replace(free, confinement=Confinement(name="x", limits=Limits(processes=MOST)))
        limit = Limit(head=1000, tail=1000)
        mark = tag()

        async def both() -> None:
            async with anyio.create_task_group() as tasks:

                async def small() -> None:
                    script = "until [ -e over ]; do sleep 0.05; done"
                    result = await engine.run(Run(script=script, limit=limit), held)
                    assert isinstance(result.outcome, Exited)
                    assert result.violations == ()

                tasks.start_soon(small)
                crowd = await engine.run(Run(script=processes(MANY, mark), limit=limit), held)
                (workspace / "over").touch()
                assert isinstance(crowd.outcome, Signaled)
                (told,) = crowd.violations
                assert told.sentence == (
                    "the sandbox's limit was reached for processes and threads: no more than"
                    f" {MOST} may run at once; it was ended; start fewer at a time"
                )

        try:
            anyio.run(both)
        finally:
            engine.close()
            kill_all(f"sleep\0{mark}")
