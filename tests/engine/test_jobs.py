import os
import select
import signal
import socket
import stat
import time
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import anyio
import pytest

from hosts import finish, start_host
from nacre import Bash, ToolContext
from nacre.engine.assemble import Settings, assemble, open_jobs
from nacre.engine.engine import Engine
from nacre.engine.jobs import Jobs
from nacre.engine.ledger import Ledger
from nacre.engine.occasion import Occasion
from nacre.engine.record import JobFiles
from nacre.engine.retention import Retention
from nacre.engine.store import Store
from nacre.errors import CallError, JobNotFoundError
from nacre.model.call import (
    FileAppears,
    JobEnds,
    OnTimeout,
    OutputMatches,
    Poll,
    PortOpens,
    Run,
    Silence,
    Stop,
    Streams,
)
from nacre.model.job import Job, JobTerms, Ownership
from nacre.model.outcome import Exited, Lost, Running, Signaled, Stopped, TimedOut, Unstarted
from nacre.model.result import Result
from nacre.model.transcript import Limit
from nacre.testing import AllowEverything
from processes import alive, gone, kill_all, tag

pytestmark = pytest.mark.anyio

LIMIT = Limit(head=100_000, tail=100_000)


async def start(engine: Engine, occasion: Occasion, script: str, **settings: object) -> Job:
    run = Run(script=script, limit=LIMIT, background=True, **settings)  # pyright: ignore[reportArgumentType]
    result = await engine.run(run, occasion)
    assert result.job is not None, result
    return result.job


async def poll(
    engine: Engine, occasion: Occasion, job: Job, *wait_for: object, within: float = 20
) -> Result:
    return await engine.poll(
        Poll(
            job_id=job.id,
            limit=LIMIT,
            wait_for=wait_for,  # pyright: ignore[reportArgumentType]
            timeout=timedelta(seconds=within),
        ),
        occasion,
    )


async def whole(engine: Engine, occasion: Occasion, job: Job) -> Result:
    return await engine.poll(Poll(job_id=job.id, limit=LIMIT, whole=True), occasion)


async def stop(engine: Engine, occasion: Occasion, job: Job) -> Result:
    return await engine.stop(Stop(job_id=job.id, limit=LIMIT), occasion)


async def test_a_job_tells_its_exit_code_and_its_output(engine: Engine, occasion: Occasion) -> None:
    job = await start(engine, occasion, "echo hi; exit 9")
    result = await poll(engine, occasion, job, JobEnds())
    assert (result.outcome, result.transcript.head, result.came_true) == (
        Exited(9),
        b"hi\n",
        JobEnds(),
    )


async def test_a_job_ended_by_a_stranger_was_signaled_and_one_ended_by_us_was_stopped(
    engine: Engine, occasion: Occasion
) -> None:
    stranger = await start(engine, occasion, "echo hi; kill -KILL $$")
    assert (await poll(engine, occasion, stranger, JobEnds())).outcome == Signaled(9)
    ours = await start(engine, occasion, "echo hi; sleep 60")
    assert (await stop(engine, occasion, ours)).outcome == Stopped()
    assert (await stop(engine, occasion, stranger)).outcome == Signaled(9)


async def test_stopping_asks_first_and_tells_the_last_words(
    engine: Engine, occasion: Occasion
) -> None:
    job = await start(
        engine, occasion, "trap 'echo bye; exit 3' TERM; echo up; while :; do sleep 0.01; done"
    )
    await poll(engine, occasion, job, OutputMatches("up"))
    request = Stop(job_id=job.id, limit=LIMIT, grace=timedelta(seconds=5))
    result = await engine.stop(request, occasion)
    assert result.transcript.head.endswith(b"bye\n")
    assert result.outcome == Exited(3)


async def test_a_port_that_opens_ends_the_wait(engine: Engine, occasion: Occasion) -> None:
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        port = server.getsockname()[1]
        job = await start(engine, occasion, "sleep 60")
        waiting = PortOpens(port)
        closed = await poll(engine, occasion, job, waiting, within=0.2)
        assert closed.came_true is None
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(_listen_soon, server)
            assert (await poll(engine, occasion, job, waiting)).came_true == waiting
    await stop(engine, occasion, job)


async def _listen_soon(server: socket.socket) -> None:
    await anyio.sleep(0.2)
    server.listen()


async def test_a_file_that_appears_ends_the_wait(
    engine: Engine, occasion: Occasion, workspace: Path
) -> None:
    job = await start(engine, occasion, "sleep 0.2; touch made; sleep 60")
    made = FileAppears(workspace / "made")
    assert (await poll(engine, occasion, job, made)).came_true == made
    await stop(engine, occasion, job)


async def test_silence_ends_the_wait_and_is_measured_from_the_last_word(
    engine: Engine, occasion: Occasion
) -> None:
    job = await start(engine, occasion, "for i in 1 2 3 4; do echo $i; sleep 0.2; done; sleep 60")
    quiet = Silence(timedelta(seconds=0.5))
    result = await poll(engine, occasion, job, quiet)
    assert (result.came_true, result.transcript.head) == (quiet, b"1\n2\n3\n4\n")
    await stop(engine, occasion, job)


async def test_the_end_of_a_job_ends_every_wait(engine: Engine, occasion: Occasion) -> None:
    job = await start(engine, occasion, "sleep 0.2; echo no; exit 1")
    result = await poll(engine, occasion, job, OutputMatches("yes"), PortOpens(1))
    assert (result.came_true, result.outcome) == (JobEnds(), Exited(1))


async def test_a_regex_may_match_a_line_that_is_not_finished(
    engine: Engine, occasion: Occasion
) -> None:
    job = await start(engine, occasion, "printf 'password: '; sleep 60")
    prompt = OutputMatches("password: $")
    assert (await poll(engine, occasion, job, prompt)).came_true == prompt
    await stop(engine, occasion, job)


async def test_a_regex_that_would_backtrack_for_ever_does_not(
    engine: Engine, occasion: Occasion
) -> None:
    job = await start(engine, occasion, "printf 'a%.0s' $(seq 5000); echo b; sleep 60")
    await poll(engine, occasion, job, OutputMatches("b$"))
    request = Poll(job_id=job.id, limit=LIMIT, wait_for=(OutputMatches("(a+)+$"),))
    with anyio.fail_after(5):
        assert (await engine.poll(request, occasion)).came_true is None
    await stop(engine, occasion, job)


async def test_an_expression_that_is_none_is_refused(engine: Engine, occasion: Occasion) -> None:
    job = await start(engine, occasion, "sleep 60")
    for pattern in ("(", "(?=a)", r"(a)\1"):
        with pytest.raises(CallError, match="is not a regular expression"):
            await poll(engine, occasion, job, OutputMatches(pattern))
    await stop(engine, occasion, job)


async def test_two_readers_are_told_everything_once_each(
    engine: Engine, occasion: Occasion
) -> None:
    """Polls of one conversation at the same moment share the news, and lose none."""
    job = await start(engine, occasion, "for i in $(seq 300); do echo $i; sleep 0.001; done")
    told: list[bytes] = []

    async def read() -> None:
        for _ in range(30):
            news = await poll(engine, occasion, job)
            told.append(news.transcript.head)

    async with anyio.create_task_group() as tasks:
        for _ in range(4):
            tasks.start_soon(read)
    told.append((await poll(engine, occasion, job, JobEnds())).transcript.head)
    numbers = sorted(int(n) for piece in told for n in piece.split())
    assert numbers == list(range(1, 301))


async def test_separate_streams_stay_separate(engine: Engine, occasion: Occasion) -> None:
    job = await start(engine, occasion, "echo out; echo err >&2", streams=Streams.SEPARATE)
    result = await poll(engine, occasion, job, JobEnds())
    assert result.errors is not None
    assert (result.transcript.head, result.errors.head) == (b"out\n", b"err\n")


@pytest.mark.parametrize(("count", "cap"), [(100_000, 1000), (2_000_000, 3_000_000)])
async def test_a_job_that_says_more_than_its_file_may_hold_keeps_its_first_and_last_words(
    state: Path, occasion: Occasion, count: int, cap: int
) -> None:
    engine = assemble(Settings(state=state), AllowEverything())
    script = f"until [ -e go ]; do sleep 0.01; done; seq {count}; echo the end"
    job = await start(engine, occasion, script, terms=JobTerms(cap=cap))
    Path(occasion.cwd, "go").touch()
    result = await poll(engine, occasion, job, JobEnds())
    whole = b"".join(b"%d\n" % n for n in range(1, count + 1)) + b"the end\n"
    said = result.transcript
    assert said.total == len(whole) == (result.job and result.job.said)
    assert said.head == whole[: min(cap, LIMIT.head)]
    assert Path(job.output).read_bytes().startswith(whole[:cap] + b"\n[")
    assert said.tail == whole[-65536:]
    assert (await poll(engine, occasion, job)).transcript.total == 0
    engine.close()


async def test_a_job_whose_file_is_full_is_not_silent_and_what_it_says_is_counted(
    state: Path, occasion: Occasion
) -> None:
    engine = assemble(Settings(state=state), AllowEverything())
    script = "while :; do echo tick; sleep 0.02; done"
    job = await start(engine, occasion, script, terms=JobTerms(cap=10))
    silent = await poll(engine, occasion, job, Silence(timedelta(seconds=0.6)), within=1.5)
    assert silent.came_true is None
    more = await poll(engine, occasion, job, Silence(timedelta(seconds=0.6)), within=0.5)
    assert more.transcript.omitted > 0
    assert (await stop(engine, occasion, job)).outcome == Stopped()
    engine.close()


async def test_a_stream_goes_on_when_the_file_of_the_other_is_full(
    engine: Engine, occasion: Occasion
) -> None:
    script = (
        "until [ -e go ]; do sleep 0.01; done; echo 0123456789; sleep 0.1; echo here >&2;"
        f" sleep {tag()}"
    )
    terms = JobTerms(cap=10)
    job = await start(engine, occasion, script, streams=Streams.SEPARATE, terms=terms)
    Path(occasion.cwd, "go").touch()
    with anyio.fail_after(10):
        while not ((said := await whole(engine, occasion, job)).errors and said.errors.head):
            await anyio.sleep(0.01)
    assert (said.transcript.head, said.transcript.omitted) == (b"0123456789", 1)
    assert said.errors
    assert (said.errors.head, said.errors.omitted) == (b"here\n", 0)


async def test_both_streams_tell_at_once_that_their_file_is_full(
    engine: Engine, occasion: Occasion
) -> None:
    script = (
        "until [ -e go ]; do sleep 0.01; done; echo 0123456789; sleep 0.05;"
        f" echo 0123456789 >&2; sleep {tag()}"
    )
    terms = JobTerms(cap=10)
    job = await start(engine, occasion, script, streams=Streams.SEPARATE, terms=terms)
    Path(occasion.cwd, "go").touch()
    with anyio.fail_after(10):
        while not ((said := await whole(engine, occasion, job)).errors and said.errors.omitted):
            await anyio.sleep(0.01)
    assert said.transcript.omitted == 1


async def test_what_was_too_much_before_it_was_a_job_is_told_of_the_job(
    engine: Engine, occasion: Occasion
) -> None:
    run = Run(
        script=f"echo 0123456789; sleep {tag()}",
        limit=Limit(head=4, tail=0),
        timeout=timedelta(seconds=0.5),
        on_timeout=OnTimeout.BACKGROUND,
        terms=JobTerms(cap=4),
    )
    job = (await engine.run(run, occasion)).job
    assert job is not None
    said = (await whole(engine, occasion, job)).transcript
    assert (said.head, said.omitted) == (b"0123", 7)


async def test_files_are_for_their_owner_only(
    engine: Engine, occasion: Occasion, state: Path
) -> None:
    job = await start(engine, occasion, "echo secret")
    await poll(engine, occasion, job, JobEnds())
    for path in (state, state / "jobs"):
        assert stat.S_IMODE(path.stat().st_mode) == 0o700
    for path in (state / "jobs").iterdir():
        assert stat.S_IMODE(path.stat().st_mode) == 0o600


async def test_closing_the_owner_ends_its_jobs_and_their_daemons(
    state: Path, occasion: Occasion
) -> None:
    mark = tag()
    engine = assemble(Settings(state=state), AllowEverything())
    await start(engine, occasion, f"setsid sleep {mark} & sleep {mark}")
    await start(engine, occasion, f"trap '' TERM; sleep {mark}")
    await anyio.to_thread.run_sync(engine.close)
    await gone(mark)
    assert {type(job.outcome) for job in await _all(state)} == {Stopped}


async def test_one_tool_of_a_host_does_not_end_the_jobs_of_another(
    state: Path, occasion: Occasion
) -> None:
    first, second = (assemble(Settings(state=state), AllowEverything()) for _ in range(2))
    job = await start(first, occasion, "sleep 60")
    await start(second, occasion, "sleep 60")
    second.close()
    assert (await poll(first, occasion, job)).outcome == Running(job.id)
    first.close()


async def test_a_detached_job_survives_its_owner_and_tells_its_true_end(
    state: Path, occasion: Occasion
) -> None:
    engine = assemble(Settings(state=state, detached=True), AllowEverything())
    job = await start(engine, occasion, "echo one; sleep 0.4; echo two; exit 6")
    engine.close()
    other = assemble(Settings(state=state), AllowEverything())
    result = await poll(other, occasion, job, JobEnds())
    assert (result.outcome, result.transcript.head) == (Exited(6), b"one\ntwo\n")
    assert Path(job.output).read_bytes() == b"one\ntwo\n\n[job ended with exit code 6]\n"
    other.close()


async def test_a_detached_job_can_be_stopped_by_a_stranger(state: Path, occasion: Occasion) -> None:
    mark = tag()
    engine = assemble(Settings(state=state, detached=True), AllowEverything())
    job = await start(engine, occasion, f"setsid sleep {mark} & sleep {mark}")
    engine.close()
    jobs = open_jobs(Settings(state=state))
    ended = await jobs.stop(job.id, None, timedelta(0))
    jobs.close()
    assert ended.outcome == Stopped()
    assert Path(job.output).read_bytes() == b"\n[job was ended by signal 9]\n"
    await gone(mark)


_HOST = """
    import sys
    from nacre import Bash
    tool = Bash(jobs={jobs!r}, sandbox={sandbox!r})
    reply = tool.call_sync("Bash", {{"command": {script!r}, "background": True}})
    print(reply.details["id"], flush=True)
    sys.stdin.read()
"""


@pytest.mark.parametrize("sandbox", ["auto", "landlock", "none"])
@pytest.mark.parametrize("jobs", ["owned", "detached"])
async def test_after_the_host_was_killed_only_detached_jobs_run(
    state: Path, jobs: str, sandbox: str
) -> None:
    mark = tag()
    script = f"echo hi; env -i setsid sleep {mark} & sleep {mark}"
    host = start_host(_HOST.format(jobs=jobs, sandbox=sandbox, script=script), state)
    assert host.stdout is not None
    job_id = host.stdout.readline().decode().strip()
    try:
        finish(host)
        if jobs == "owned":
            await gone(mark)
        (job,) = await _all(state)
        with anyio.fail_after(10):
            # What it left is gone a moment before the warden has written how it ended.
            while jobs == "owned" and isinstance(job.outcome, Running):
                await anyio.sleep(0.01)
                (job,) = await _all(state)
        assert job.id == job_id
        assert job.outcome == (Running(job_id) if jobs == "detached" else Stopped())
    finally:
        looker = open_jobs(Settings(state=state))
        await looker.stop(job_id, None, timedelta(0))
        looker.close()
    await gone(mark)


async def test_when_host_and_warden_are_killed_together_the_job_is_lost_and_the_next_start_ends_it(
    state: Path, engine: Engine, occasion: Occasion
) -> None:
    mark = tag()
    host = start_host(_HOST.format(jobs="owned", sandbox="none", script=f"sleep {mark}"), state)
    assert host.stdout is not None
    host.stdout.readline()
    host.send_signal(signal.SIGSTOP)
    _kill_wardens(host.pid)
    finish(host)
    try:
        (job,) = await _all(state)
        assert isinstance(job.outcome, Lost)
        # The first call of another host has its warden look for what dead ones left.
        engine._link._hang_up()
        await engine.run(Run(script="true", limit=LIMIT), occasion)
        await gone(mark)
    finally:
        kill_all(mark)


async def test_a_lost_job_can_still_be_ended(state: Path) -> None:
    mark = tag()
    host = start_host(_HOST.format(jobs="detached", sandbox="none", script=f"sleep {mark}"), state)
    assert host.stdout is not None
    job_id = host.stdout.readline().decode().strip()
    _kill_wardens(host.pid)
    finish(host)
    assert alive(mark)
    jobs = open_jobs(Settings(state=state))
    job = await jobs.stop(job_id, None, timedelta(0))
    jobs.close()
    assert isinstance(job.outcome, Lost)
    await gone(mark)


async def test_a_job_began_when_its_script_did(engine: Engine, occasion: Occasion) -> None:
    run = Run(
        script="date +%s.%N; sleep 60",
        limit=LIMIT,
        timeout=timedelta(seconds=1.5),
        on_timeout=OnTimeout.BACKGROUND,
    )
    result = await engine.run(run, occasion)
    assert result.job is not None
    assert result.job.started.timestamp() <= float(result.transcript.head)
    stopped = await stop(engine, occasion, result.job)
    assert stopped.outcome == Stopped()


async def test_a_state_directory_that_cannot_be_written_costs_the_job_not_the_run(
    tmp_path: Path, occasion: Occasion
) -> None:
    (tmp_path / "file").touch()
    engine = assemble(Settings(state=tmp_path / "file"), AllowEverything())
    mark = tag()
    run = Run(
        script=f"echo hi; sleep {mark}",
        limit=LIMIT,
        timeout=timedelta(seconds=0.2),
        on_timeout=OnTimeout.BACKGROUND,
    )
    result = await engine.run(run, occasion)
    assert (result.outcome, result.transcript.head) == (
        TimedOut(timedelta(seconds=0.2)),
        b"hi\n",
    )
    assert "it could not go on as a job" in result.notices[0]
    touching = replace(run, background=True, script="touch ran")
    background = await engine.run(touching, occasion)
    assert isinstance(background.outcome, Unstarted)
    assert not Path(occasion.cwd, "ran").exists()
    await gone(mark)
    engine.close()


async def test_a_spill_that_cannot_be_written_costs_the_spill_not_the_run(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    async with Bash(state=tmp_path / "file") as tool:
        reply = await tool.call("Bash", {"command": "seq 100000"})
    assert not reply.is_error
    assert reply.text.splitlines()[-1] == "100000"
    assert "could not be kept" in reply.text


async def test_ended_jobs_go_with_their_files_when_there_are_too_many(
    state: Path, occasion: Occasion
) -> None:
    engine = assemble(Settings(state=state, retention=Retention(count=3)), AllowEverything())
    running = await start(engine, occasion, "sleep 60")
    for _ in range(6):
        job = await start(engine, occasion, "true")
        await poll(engine, occasion, job, JobEnds())
    last = await start(engine, occasion, "true")
    await poll(engine, occasion, last, JobEnds())
    found = (await engine.jobs(occasion)).jobs
    assert len(found) == 5
    assert running.id in {job.id for job in found}
    files = {path.name.partition(".")[0] for path in (state / "jobs").iterdir()}
    assert files == {job.id for job in found}
    engine.close()


async def test_files_that_belong_to_no_job_are_removed_now_and_then(
    state: Path, occasion: Occasion
) -> None:
    """Their host died in between. Those of a host that is at it now are left alone."""
    folder = state / "jobs"
    folder.mkdir(parents=True)

    def leave(name: str, seconds_ago: float) -> int:
        record, outputs = JobFiles(folder, name, 1).create()
        os.close(outputs[0])
        _date(folder / f"{name}.record", seconds_ago)
        return record

    async def left() -> set[str]:
        engine = assemble(Settings(state=state), AllowEverything())
        mine.append((await start(engine, occasion, "true")).id)
        engine.close()
        return {path.stem for path in folder.iterdir()} - {*mine}

    mine: list[str] = []
    held = leave("held", 100)
    os.close(leave("dead", 100))
    os.close(leave("young", 0))
    assert await left() == {"held", "young"}
    os.close(leave("dead", 100))
    assert await left() == {"held", "young", "dead"}  # it was looked for a moment ago
    _date(state / "jobs.swept", 7200)
    assert await left() == {"held", "young"}
    os.close(held)


async def test_ends_that_nobody_noted_are_noted_together(state: Path, occasion: Occasion) -> None:
    engine = assemble(Settings(state=state), AllowEverything())
    jobs = [await start(engine, occasion, f"exit {code}") for code in range(20)]
    for job in jobs:
        while b"exited" not in Path(job.output).with_suffix(".record").read_bytes():
            await anyio.sleep(0.01)
    running = await start(engine, occasion, "sleep 60")
    listed = (await engine.jobs(occasion)).jobs
    assert [job.outcome for job in listed] == [*map(Exited, range(20)), Running(running.id)]
    assert [job.id for job in await _running(state)] == [running.id]
    engine.close()
    assert await _running(state) == ()


async def test_a_job_that_is_none_is_not_found(engine: Engine, occasion: Occasion) -> None:
    with pytest.raises(JobNotFoundError, match="there is no job 'nonsense'"):
        await engine.poll(Poll(job_id="nonsense", limit=LIMIT), occasion)


async def test_an_id_may_be_shortened_while_it_is_clear(state: Path, occasion: Occasion) -> None:
    ledger = Ledger(state / "jobs", Store(state / "nacre.db"), Retention())
    jobs = Jobs(ledger, ownership=Ownership.OWNED)
    engine = assemble(Settings(state=state), AllowEverything())
    job = await start(engine, occasion, "true")
    assert (await jobs.find(job.id[:4])).id == job.id
    with pytest.raises(JobNotFoundError, match="there is no job ''"):
        await jobs.find("")
    jobs.close()
    engine.close()


async def test_a_hundred_jobs_are_started_from_two_tools_at_once(
    state: Path, workspace: Path
) -> None:
    ids: set[object] = set()

    async def begin(tool: Bash, number: int) -> None:
        context = ToolContext(working_dir=workspace, conversation=str(number % 5))
        command = {"command": f"echo {number}", "background": True}
        reply = await tool.call("Bash", command, context)
        ids.add((reply.details or {})["id"])

    async with Bash(state=state) as one, Bash(state=state) as two:
        async with anyio.create_task_group() as tasks:
            for number in range(100):
                tasks.start_soon(begin, one if number % 2 else two, number)
        assert len(ids) == 100


def _kill_wardens(host: int) -> None:
    """Kill them, and wait for their ends: until then they hold the records of their jobs."""
    for warden in map(int, Path(f"/proc/{host}/task/{host}/children").read_text().split()):
        end = os.pidfd_open(warden)
        os.kill(warden, signal.SIGKILL)
        assert select.select([end], [], [], 20)[0]
        os.close(end)


def _date(path: Path, seconds_ago: float) -> None:
    when = time.time() - seconds_ago
    os.utime(path, (when, when))


async def _running(state: Path) -> tuple[Job, ...]:
    jobs = open_jobs(Settings(state=state))
    try:
        return await jobs.running(None)
    finally:
        jobs.close()


async def _all(state: Path) -> tuple[Job, ...]:
    jobs = open_jobs(Settings(state=state))
    try:
        return await jobs.jobs(None)
    finally:
        jobs.close()
