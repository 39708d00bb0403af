import os
import resource
import signal
import threading
from dataclasses import replace
from datetime import timedelta
from pathlib import Path, PurePath

import anyio
import pytest

from nacre.engine.engine import Engine
from nacre.engine.occasion import Occasion
from nacre.model.call import OnTimeout, Run, Streams
from nacre.model.outcome import (
    Exited,
    Lost,
    Running,
    Signaled,
    Stopped,
    TimedOut,
    Unstarted,
)
from nacre.model.transcript import Limit
from nacre.process.cancel import CancelToken
from processes import descriptors, gone, kill_all, tag

pytestmark = pytest.mark.anyio

LIMIT = Limit(head=100_000, tail=100_000)


def run(script: str, **settings: object) -> Run:
    return Run(script=script, limit=LIMIT, **settings)  # pyright: ignore[reportArgumentType]


def seconds(number: float) -> timedelta:
    return timedelta(seconds=number)


async def test_separate_streams_have_a_pipe_each(engine: Engine, occasion: Occasion) -> None:
    result = await engine.run(run("echo out; echo err >&2", streams=Streams.SEPARATE), occasion)
    assert result.errors is not None
    assert (result.transcript.head, result.errors.head) == (b"out\n", b"err\n")


async def test_the_environment_is_what_the_occasion_says(
    engine: Engine, occasion: Occasion
) -> None:
    result = await engine.run(
        run("env -u _ -u SHLVL -u PWD"),
        replace(occasion, environ={"PATH": "/usr/bin:/bin", "A": "1"}),
    )
    assert sorted(result.transcript.head.split()) == [b"A=1", b"PATH=/usr/bin:/bin"]


async def test_a_timeout_asks_then_insists_and_keeps_what_was_said(
    engine: Engine, occasion: Occasion
) -> None:
    polite = await engine.run(
        run("trap 'echo bye; exit 0' TERM; echo hi; while :; do sleep 0.01; done",
            timeout=seconds(1.5), grace=seconds(5)),
        occasion,
    )  # fmt: skip
    assert polite.outcome == TimedOut(seconds(1.5))
    assert polite.transcript.head.startswith(b"hi\n")
    assert polite.transcript.head.endswith(b"bye\n")
    assert polite.seconds < 5


async def test_a_process_that_ignores_the_asking_is_killed_after_the_grace(
    engine: Engine, occasion: Occasion
) -> None:
    mark = tag()
    stubborn = await engine.run(
        run(f"trap '' TERM; echo hi; sleep {mark}; sleep {mark}",
            timeout=seconds(0.2), grace=seconds(0.4)),
        occasion,
    )  # fmt: skip
    assert stubborn.outcome == TimedOut(seconds(0.2))
    assert stubborn.transcript.head == b"hi\n"
    assert 0.6 <= stubborn.seconds < 5
    await gone(mark)


async def test_children_get_the_grace_too_after_their_shell_has_gone(
    engine: Engine, occasion: Occasion, workspace: Path
) -> None:
    """The shell dies of TERM at once; its child cleans up within the grace."""
    child = "bash -c 'trap \"sleep 0.3; touch cleaned; exit\" TERM; touch up; while :; do sleep 0.01; done'"
    script = f"{child} & until [ -e up ]; do sleep 0.01; done; wait"
    result = await engine.run(run(script, timeout=seconds(2), grace=seconds(10)), occasion)
    assert isinstance(result.outcome, TimedOut)
    assert (workspace / "cleaned").exists()


async def test_without_grace_the_kill_comes_at_once(engine: Engine, occasion: Occasion) -> None:
    script = "trap 'echo bye' TERM; echo hi; while :; do sleep 0.01; done"
    result = await engine.run(run(script, timeout=seconds(0.2)), occasion)
    assert (result.outcome, result.transcript.head) == (TimedOut(seconds(0.2)), b"hi\n")


async def test_linger_waits_for_the_pipe_and_no_longer(engine: Engine, occasion: Occasion) -> None:
    late = await engine.run(run("(sleep 0.3; echo late) & echo hi", linger=seconds(5)), occasion)
    assert (late.outcome, late.transcript.head) == (Exited(0), b"hi\nlate\n")
    assert late.seconds < 3
    mark = tag()
    held = await engine.run(run(f"sleep {mark} & echo hi", linger=seconds(0.3)), occasion)
    assert (held.outcome, held.transcript.head) == (Exited(0), b"hi\n")
    assert 0.3 <= held.seconds < 5
    await gone(mark)


@pytest.mark.parametrize(
    "storm",
    [
        # Four chains of processes, each of which starts the next one and ends.
        "chain() {{ sleep 0.002; chain {0} & }}; for i in 1 2 3 4; do chain {0} & done;",
        # A tree that still grows while it is cut down.
        "tree() {{ sleep {0} & (($1)) && {{ tree $(($1-1)) & tree $(($1-1)) & }}; }}; tree 7 &",
    ],
)
async def test_processes_that_fork_while_they_are_killed_do_not_win(
    engine: Engine, occasion: Occasion, storm: str
) -> None:
    mark = tag()
    try:
        # The mark is in the shell's own words, and so in those of all its forks.
        script = f"{storm.format(mark)} sleep 0.1 # {mark}"
        await engine.run(run(script, timeout=seconds(20)), occasion)
        await gone(mark)
    finally:
        kill_all(mark)


async def test_a_cancelled_token_ends_the_call_before_it_starts_anything(
    engine: Engine, occasion: Occasion, workspace: Path
) -> None:
    token = CancelToken()
    token.cancel()
    result = await engine.run(run("touch ran"), replace(occasion, cancel=token))
    assert result.outcome == Stopped()
    assert not (workspace / "ran").exists()


async def test_a_token_ends_a_call_from_another_thread(engine: Engine, occasion: Occasion) -> None:
    token = CancelToken()
    said = threading.Event()

    def listen(_: bytes) -> None:
        said.set()

    def cancel() -> None:
        said.wait(20)
        token.cancel()

    thread = threading.Thread(target=cancel)
    thread.start()
    result = await engine.run(
        run("echo hi; sleep 60"),
        replace(occasion, cancel=token, listener=listen),
    )
    thread.join()
    assert (result.outcome, result.transcript.head) == (Stopped(), b"hi\n")


@pytest.mark.parametrize(
    ("cwd", "reason"),
    [
        ("missing", "does not exist"),
        ("file", "is not a directory"),
        ("nul\0", "does not exist"),
    ],
)
async def test_a_folder_that_cannot_be_worked_in_is_named(
    engine: Engine, occasion: Occasion, workspace: Path, cwd: str, reason: str
) -> None:
    (workspace / "file").touch()
    result = await engine.run(run("true", cwd=PurePath(cwd)), occasion)
    assert isinstance(result.outcome, Unstarted)
    assert reason in result.outcome.reason
    assert repr(str(workspace / cwd)) in result.outcome.reason


@pytest.mark.needs("ordinary-user")
async def test_a_folder_that_may_not_be_entered_is_named(
    engine: Engine, occasion: Occasion, workspace: Path
) -> None:
    (workspace / "closed").mkdir(mode=0)
    result = await engine.run(run("true", cwd=PurePath("closed")), occasion)
    assert isinstance(result.outcome, Unstarted)
    assert "may not be entered" in result.outcome.reason


async def test_a_machine_without_bash_is_told_so(
    engine: Engine, occasion: Occasion, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("nacre.process.bash._USUAL", ())
    monkeypatch.setenv("PATH", "/no/such/folder")
    result = await engine.run(run("true"), occasion)
    assert result.outcome == Unstarted("there is no bash on this machine; install it")


async def test_an_environment_too_large_to_pass_is_said_to_be(
    engine: Engine, occasion: Occasion
) -> None:
    large = {f"VARIABLE_{n}": "x" * 100_000 for n in range(40)}
    result = await engine.run(run("true"), replace(occasion, environ=large))
    assert result.outcome == Unstarted(
        "bash could not be started: the environment is too large; pass fewer or shorter variables"
    )


async def test_a_script_that_cannot_be_encoded_is_not_started(
    engine: Engine, occasion: Occasion
) -> None:
    for script in ("echo \0", "echo \ud800"):
        result = await engine.run(run(script), occasion)
        assert isinstance(result.outcome, Unstarted), script


async def test_bytes_that_are_no_utf8_reach_bash_as_they_are(
    engine: Engine, occasion: Occasion
) -> None:
    result = await engine.run(run("printf %s '\udcff\udc80'"), occasion)
    assert result.transcript.head == b"\xff\x80"


@pytest.mark.needs("ordinary-user")
async def test_a_user_without_processes_left_is_told_so(engine: Engine, occasion: Occasion) -> None:
    """The warden's own limit is lowered: root is not held to it, so only a user can show this."""
    await engine.run(run("true"), occasion)
    warden = engine._link._pid
    assert warden is not None
    old = resource.prlimit(
        warden, resource.RLIMIT_NPROC, (1, resource.getrlimit(resource.RLIMIT_NPROC)[1])
    )
    result = await engine.run(run("true"), occasion)
    resource.prlimit(warden, resource.RLIMIT_NPROC, old)
    assert result.outcome == Unstarted(
        "bash could not be started: this user may start no more processes now"
    )
    assert (await engine.run(run("true"), occasion)).outcome == Exited(0)


async def test_a_warden_that_is_killed_makes_the_call_lost_and_the_next_one_works(
    engine: Engine, occasion: Occasion
) -> None:
    mark = tag()
    await engine.run(run("true"), occasion)
    warden = engine._link._pid
    assert warden is not None
    result = await engine.run(
        run(f"echo hi; sleep {mark} & kill -9 {warden}; sleep {mark}", timeout=seconds(20)),
        occasion,
    )
    assert isinstance(result.outcome, Lost)
    await gone(mark)
    again = await engine.run(run("echo again"), occasion)
    assert (again.outcome, again.transcript.head) == (Exited(0), b"again\n")


async def test_a_stray_pkill_does_not_end_the_warden(engine: Engine, occasion: Occasion) -> None:
    await engine.run(run("true"), occasion)
    warden = engine._link._pid
    script = f"for s in TERM INT HUP QUIT; do kill -$s {warden}; done; sleep 0.2; echo still"
    result = await engine.run(run(script), occasion)
    assert (result.outcome, result.transcript.head) == (Exited(0), b"still\n")
    assert engine._link._pid == warden


async def test_signals_limits_and_mask_are_those_of_a_plain_bash(
    engine: Engine, occasion: Occasion
) -> None:
    """A host that ignores or blocks signals, and the warden's own limits, do not show."""
    script = "grep -E '^Sig(Blk|Ign|Cgt)' /proc/self/status; ulimit -n; umask"
    old = signal.signal(signal.SIGUSR1, signal.SIG_IGN)
    try:
        result = await engine.run(run(script), occasion)
    finally:
        signal.signal(signal.SIGUSR1, old)
    blocked, ignored, _, files, mask = result.transcript.head.decode().splitlines()
    assert int(blocked.split()[1], 16) == 0
    # 32 and 33 are glibc's own, and ignored by whatever posix_spawn(3) started, make included.
    assert int(ignored.split()[1], 16) & ~(0b11 << 31) == 0
    assert files == str(resource.getrlimit(resource.RLIMIT_NOFILE)[0])
    umask = os.umask(0)
    os.umask(umask)
    assert int(mask, 8) == umask


async def test_more_calls_at_once_than_a_soft_limit_of_descriptors_would_allow_the_warden(
    engine: Engine, occasion: Occasion
) -> None:
    """The warden raises its own limit, and gives scripts the old one."""
    results: list[bytes] = []

    async def one() -> None:
        result = await engine.run(run("ulimit -n; sleep 0.3"), occasion)
        results.append(result.transcript.head)

    async with anyio.create_task_group() as tasks:
        for _ in range(300):
            tasks.start_soon(one)
    assert set(results) == {f"{resource.getrlimit(resource.RLIMIT_NOFILE)[0]}\n".encode()}


async def test_ten_megabytes_are_counted_to_the_byte(engine: Engine, occasion: Occasion) -> None:
    result = await engine.run(run("head -c 10000000 /dev/zero; echo end"), occasion)
    assert result.transcript.total == 10_000_004
    assert result.transcript.tail.endswith(b"\0end\n")


async def test_a_flood_that_stops_and_goes_on_is_read_in_its_order(
    engine: Engine, occasion: Occasion
) -> None:
    script = "for i in 1 2 3; do head -c 5000000 /dev/zero; sleep 0.2; done; echo end"
    result = await engine.run(run(script), occasion)
    assert result.transcript.total == 15_000_004


async def test_a_flood_can_be_cancelled(engine: Engine, occasion: Occasion) -> None:
    token = CancelToken()
    before = descriptors()
    results: list[object] = []

    async def flood() -> None:
        results.append((await engine.run(run("yes"), replace(occasion, cancel=token))).outcome)

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(flood)
        await anyio.sleep(0.3)
        token.cancel()
    assert results == [Stopped()]
    assert descriptors() <= before + 3


async def test_a_flood_can_become_a_job(engine: Engine, occasion: Occasion) -> None:
    flood = run(
        "head -c 30000000 /dev/zero; sleep 0.5; echo end",
        timeout=seconds(0.3),
        on_timeout=OnTimeout.BACKGROUND,
    )
    flood = replace(flood, limit=Limit(head=100, tail=100, spill=100_000_000))
    result = await engine.run(flood, occasion)
    assert isinstance(result.outcome, Running)
    assert result.job is not None
    with anyio.fail_after(10):
        while True:
            (job,) = (await engine.jobs(occasion)).jobs
            if not isinstance(job.outcome, Running):
                break
            await anyio.sleep(0.02)
    assert (job.outcome, job.said) == (Exited(0), 30_000_004)
    assert Path(job.output).stat().st_size == 30_000_004


@pytest.mark.needs("root")
async def test_processes_that_became_another_user_are_ended_too(
    engine: Engine, occasion: Occasion
) -> None:
    """prlimit(2) may not ask them for their mark; /proc/PID/limits tells it all the same."""
    mark = tag()
    other = "setpriv --reuid=65534 --clear-groups setsid bash -c"
    script = f"{other} 'sleep {mark} & sleep {mark}; true' & until pgrep -f {mark}; do :; done"
    await engine.run(run(script, timeout=seconds(20)), occasion)
    await gone(mark)


async def test_a_shell_that_is_killed_by_someone_else_was_signaled(
    engine: Engine, occasion: Occasion
) -> None:
    result = await engine.run(run("kill -TERM $$; sleep 5"), occasion)
    assert result.outcome == Signaled(signal.SIGTERM)


async def test_nothing_of_a_call_is_left_in_the_process_table(
    engine: Engine, occasion: Occasion
) -> None:
    """Orphans that die are reaped by the warden, not left as zombies."""
    await engine.run(run("for i in $(seq 50); do (true &) ; done; true"), occasion)
    await engine.run(run("true"), occasion)
    warden = engine._link._pid
    with anyio.fail_after(2):
        while Path(f"/proc/{warden}/task/{warden}/children").read_text():
            await anyio.sleep(0.01)
