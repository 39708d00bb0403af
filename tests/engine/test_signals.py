"""A confined script ends a job of its conversation that another host started, and nothing else."""

import json
import os
from collections.abc import Generator
from dataclasses import dataclass, replace
from pathlib import Path

import anyio
import pytest

from hosts import finish, start_host
from nacre.engine.assemble import Settings, assemble
from nacre.engine.engine import Engine
from nacre.engine.occasion import Occasion
from nacre.model.call import Poll, Run
from nacre.model.confinement import Confinement
from nacre.model.outcome import Exited, Signaled
from nacre.model.transcript import Limit
from nacre.testing import AllowEverything
from processes import alive, kill_all, tag

LIMIT = Limit(head=10_000, tail=0)
READ_ONLY = Confinement(name="read-only", ends_jobs=True)
ANOTHER_HOST = """
    import json, os, sys
    from functools import partial
    import anyio
    from nacre.engine.assemble import Settings, assemble
    from nacre.engine.occasion import UNCONFINED, Occasion
    from nacre.model.call import Run
    from nacre.model.confinement import Confinement
    from nacre.model.transcript import Limit
    from nacre.testing import AllowEverything
    from pathlib import Path

    state, cwd, sandbox, conversation, script = sys.argv[1:]
    held = Confinement(name="read-only", ends_jobs=True) if sandbox == "landlock" else UNCONFINED
    engine = assemble(Settings(state=Path(state), sandbox=sandbox, detached=True), AllowEverything())
    run = Run(script=script, limit=Limit(head=9, tail=0), background=True)
    occasion = Occasion(
        cwd=Path(cwd), conversation=conversation, environ=dict(os.environ), confinement=held
    )
    result = anyio.run(partial(engine.run, run, occasion))
    print(json.dumps([result.job.id, result.job.pid]), flush=True)
    engine.close()
"""


@dataclass(frozen=True)
class Foreign:
    """A job that another host started, and left."""

    id: str
    pid: int
    tag: str


@pytest.fixture
def held(state: Path) -> Generator[Engine]:
    engine = assemble(Settings(state=state, sandbox="landlock"), AllowEverything())
    yield engine
    engine.close()


@pytest.fixture
def confined(occasion: Occasion) -> Occasion:
    return replace(occasion, confinement=READ_ONLY)


def start(state: Path, cwd: Path, *, sandbox: str = "landlock", of: str = "test") -> Foreign:
    seconds = tag()
    host = start_host(
        f"import sys; sys.argv[1:] = {[str(state), str(cwd), sandbox, of, f'sleep {seconds}']!r}\n"
        + "\n".join(line.removeprefix("    ") for line in ANOTHER_HOST.splitlines()),
        state,
    )
    assert host.stdout is not None
    said = host.stdout.readline()
    assert host.wait(20) == 0
    finish(host)
    job_id, pid = json.loads(said)
    return Foreign(job_id, pid, seconds)


async def kill(engine: Engine, occasion: Occasion, pid: int) -> tuple[object, str]:
    result = await engine.run(Run(script=f"kill -9 -{pid}", limit=LIMIT), occasion)
    return result.outcome, result.transcript.head.decode()


async def test_a_job_of_another_host_is_ended_by_its_group(
    held: Engine, confined: Occasion, state: Path, workspace: Path
) -> None:
    job = await anyio.to_thread.run_sync(lambda: start(state, workspace))
    assert await kill(held, confined, job.pid) == (Exited(0), "")
    with anyio.fail_after(5):
        while alive(job.tag):
            await anyio.sleep(0.01)
        while (
            result := await held.poll(Poll(job_id=job.id, limit=LIMIT), confined)
        ).job is None or result.job.ended is None:
            await anyio.sleep(0.01)
    assert result.outcome == Signaled(9)


@pytest.mark.parametrize("what", ["another conversation's", "an unconfined one", "not asked for"])
async def test_no_other_job_is(
    what: str, held: Engine, confined: Occasion, state: Path, workspace: Path
) -> None:
    if what == "not asked for":
        confined = replace(confined, confinement=replace(READ_ONLY, ends_jobs=False))
    sandbox = "none" if what == "an unconfined one" else "landlock"
    of = "another" if what == "another conversation's" else "test"
    job = await anyio.to_thread.run_sync(lambda: start(state, workspace, sandbox=sandbox, of=of))
    try:
        outcome, said = await kill(held, confined, job.pid)
        assert (outcome, "Operation not permitted" in said) == (Exited(1), True)
        assert alive(job.tag)
    finally:
        kill_all(job.tag)


async def test_a_script_s_own_groups_are_signalled_as_ever(
    held: Engine, confined: Occasion
) -> None:
    script = (
        "set -m; sleep 60 & group=$!; kill -0 -$group && echo there; kill -9 -$group;"
        " wait $group 2>/dev/null; echo $?; kill -0 -$group 2>&1"
    )
    result = await held.run(Run(script=script, limit=LIMIT), confined)
    lines = [line for line in result.transcript.head.decode().splitlines() if "Killed" not in line]
    assert lines[:2] == ["there", "137"], lines
    assert "No such process" in lines[2]


async def test_the_host_and_its_group_are_out_of_reach(held: Engine, confined: Occasion) -> None:
    outcome, said = await kill(held, confined, os.getpgid(0))
    assert (outcome, "Operation not permitted" in said) == (Exited(1), True)
