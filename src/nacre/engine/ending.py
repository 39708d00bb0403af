"""From a live process to an outcome: how a run ends, in every way it can."""

import errno
import math
import os
from datetime import timedelta
from pathlib import PurePath

from nacre.engine.follow import Follower
from nacre.model.call import Run
from nacre.model.outcome import Exited, Lost, Outcome, Signaled, Stopped, TimedOut, Unstarted
from nacre.model.result import Result
from nacre.process.events import SpawnFailed
from nacre.process.waits import now

__all__ = ("end_run", "result_of", "timed_out", "unusable_folder", "wait_outcome", "wait_started")

# How long the kernel may take to end what was killed before we stop waiting for it.
_KILL_SECONDS = 2.0


async def wait_started(follower: Follower) -> Outcome | None:
    """Wait until it is known which process runs; return an outcome if none does."""
    follower.process.ask_who()
    while follower.started is None and follower.failed is None and follower.lost is None:
        await follower.step()
        if follower.cancelled and follower.waits:
            return await end_run(follower, timedelta(0), Stopped())
    return _failure(follower)


async def wait_outcome(follower: Follower, run: Run) -> Outcome | None:
    """Follow a run to its end; None if its time is up and it still runs.

    Making a container is not the script's time.
    """
    deadline = now() + _seconds(run.timeout)
    while not follower.over:
        waited = follower.waits
        if not await follower.step(math.inf if waited else deadline):
            return None
        if waited and not follower.waits:
            deadline = now() + _seconds(run.timeout)
        if follower.cancelled:
            return await end_run(follower, timedelta(0), Stopped())
    return _failure(follower) or await _wait_rest(follower, run)


async def end_run(follower: Follower, grace: timedelta, outcome: Outcome) -> Outcome:
    """Have every process of a run ended; keep taking what it says meanwhile."""
    follower.process.end(grace.total_seconds())
    deadline = now() + grace.total_seconds() + _KILL_SECONDS
    while not follower.gone and not follower.lost:
        if not await follower.step(deadline):
            break
        if follower.cancelled:
            follower.cancelled = False
            follower.process.end(0.0)
    return outcome


async def _wait_rest(follower: Follower, run: Run) -> Outcome:
    """Wait, where the run asks for it, for those who hold the pipe still."""
    ended = _shell_outcome(follower)
    if run.linger > timedelta(0):
        patience = now() + run.linger.total_seconds()
        while not follower.silent and not follower.cancelled:
            if not await follower.step(patience):
                break
    return ended


def _failure(follower: Follower) -> Outcome | None:
    if follower.failed is not None:
        return Unstarted(_sentence(follower.failed), follower.failed.unheld)
    if follower.lost is not None:
        return Lost(follower.lost)
    return None


def _shell_outcome(follower: Follower) -> Outcome:
    status = follower.status or 0
    return (
        Signaled(os.WTERMSIG(status)) if os.WIFSIGNALED(status) else Exited(os.WEXITSTATUS(status))
    )


def _seconds(timeout: timedelta | None) -> float:
    return math.inf if timeout is None else timeout.total_seconds()


def _sentence(failed: SpawnFailed) -> str:
    if failed.unheld:
        return failed.reason
    match failed.errno:
        case errno.EAGAIN:
            return "bash could not be started: this user may start no more processes now"
        case errno.E2BIG:
            return (
                "bash could not be started: the environment is too large;"
                " pass fewer or shorter variables"
            )
        case errno.ENOMEM:
            return "bash could not be started: there is not enough memory"
        case _:
            return f"bash could not be started: {failed.reason}"


def result_of(
    follower: Follower, outcome: Outcome, notices: tuple[str, ...] = (), *, drain: bool = True
) -> Result:
    """What came of a run, with all that it said by now; without `drain`, with what was read of it."""
    if drain:
        follower.drain()
        for stream in follower.streams:
            stream.settle(cut_short=isinstance(outcome, TimedOut))
    output, *errors = (stream.transcript() for stream in follower.streams)
    return Result(
        outcome=outcome,
        transcript=output,
        errors=errors[0] if errors else None,
        notices=notices,
    )


def timed_out(run: Run) -> TimedOut:
    """How a run ends whose time is up."""
    return TimedOut(run.timeout or timedelta(0))


def unusable_folder(cwd: PurePath) -> str | None:
    """Say why a folder cannot be worked in; None if it can."""
    try:
        if not os.path.isdir(cwd):
            kind = "is not a directory" if os.path.lexists(cwd) else "does not exist"
            return f"the working directory {str(cwd)!r} {kind}"
    except ValueError as error:
        return f"the working directory {str(cwd)!r} cannot be used: {error}"
    if not os.access(cwd, os.X_OK):
        return f"the working directory {str(cwd)!r} may not be entered by this user"
    return None
