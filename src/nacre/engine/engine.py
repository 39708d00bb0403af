"""The pipeline: check, confine, spawn, capture."""

import threading
import time
from collections.abc import Callable, Generator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from typing import TYPE_CHECKING

from nacre.capture.recorder import Recorder
from nacre.capture.stream import Stream
from nacre.engine.account import Account
from nacre.engine.approvals import Approvals, Checker, Judged, Petition
from nacre.engine.ending import (
    end_run,
    result_of,
    timed_out,
    unusable_folder,
    wait_outcome,
    wait_started,
)
from nacre.engine.explain import crowded, explain, seen_from, starved
from nacre.engine.follow import Follower
from nacre.engine.holding import Holding, reports
from nacre.engine.launching import UnstartableError, launch_of, moved, unpassable
from nacre.engine.occasion import Occasion
from nacre.engine.spills import Spills
from nacre.errors import SandboxError, StateError, WardenError
from nacre.model.approval import Question
from nacre.model.call import OnTimeout, Poll, Run, Stop
from nacre.model.job import JobOutput
from nacre.model.outcome import Denied, Lost, Running, Signaled, Stopped, Unstarted
from nacre.model.result import JobList, Result
from nacre.model.transcript import Spill
from nacre.model.verdict import Decision, Verdict
from nacre.process.link import Link
from nacre.process.waits import aside, now
from nacre.sandbox.base import Held

if TYPE_CHECKING:
    from nacre.engine.jobs import Jobs
    from nacre.syntax.script import Surroundings

__all__ = ("Engine",)

_FLOOD_THREADS = 2
# A script of more characters may take some time to check, and so does the first one, for which
# the reader is imported; the event loop need not wait for it.
_LONG_SCRIPT = 20_000


class Engine:
    """Takes calls through the pipeline. Holds no conversation: that is the occasion's."""

    def __init__(
        self,
        *,
        link: Link,
        checker: Checker,
        approvals: Approvals,
        holding: Holding,
        spills: Spills,
        jobs: Callable[[], "Jobs"],
    ) -> None:
        self._link = link
        self._checker = checker
        self._approvals = approvals
        self._holding = holding
        self._spills = spills
        self._open_jobs, self._lock = jobs, threading.Lock()
        self._opened_jobs: Jobs | None = None
        self._flood_slots = threading.Semaphore(_FLOOD_THREADS)
        self._has_checked = False
        self._live = 0
        self.closed = False
        link.acquire()

    @property
    def _jobs(self) -> "Jobs":  # imported when they are first asked for: most calls need none
        with self._lock:
            if self._opened_jobs is None:
                self._opened_jobs = self._open_jobs()
            return self._opened_jobs

    def prepare(self, occasion: Occasion) -> None:
        """Have started what will hold a script; what cannot be had is told when that comes."""
        if not occasion.refusal:
            with suppress(SandboxError, StateError):
                self._holding.prepare(occasion)

    async def run(self, run: Run, occasion: Occasion) -> Result:
        """Take one script through the whole pipeline.

        Raises:
            StateError: If the folder that the caller named for output cannot be used.
        """
        try:
            occasion = moved(run, occasion)
        except UnstartableError as error:
            return Result(outcome=Unstarted(str(error)))
        account = Account(occasion)
        if occasion.witness is not None:
            occasion.witness(account.sofar)
        return account.result(await self._run(run, occasion, account))

    async def _run(self, run: Run, occasion: Occasion, account: Account) -> Result:
        if why_not := unpassable(run.script):
            return Result(outcome=why_not)
        judged = await self._check(run, occasion)
        account.verdict, account.answer = judged.verdict, judged.answer
        account.notices = judged.notices
        if judged.refused is not None:
            return Result(outcome=judged.refused)
        if occasion.cancel is not None and occasion.cancel.cancelled:
            return Result(outcome=Stopped())
        if occasion.refusal:
            return Result(outcome=Unstarted(occasion.refusal, unheld=True))
        self._spills.require()
        began = now()
        try:
            held = await self._held(run, occasion)
        except (UnstartableError, SandboxError, StateError) as error:
            return Result(outcome=Unstarted(str(error), isinstance(error, SandboxError)))
        account.enforcement = held.enforcement
        try:
            return await self._run_held(held, run, occasion, account)
        finally:
            self._holding.let_go(held)
            account.seconds = now() - began

    async def _held(self, run: Run, occasion: Occasion) -> Held:
        """What is to be launched for a run, and what holds it.

        Raises:
            UnstartableError: If it can be known that it would not start.
            SandboxError: If it cannot be held as it is to be.
            StateError: If no job can be made, and it is to be one.
        """
        if run.background:
            await self._jobs.prepare()
        launch = launch_of(run, occasion)
        if occasion.confinement.ends_jobs and "kill" in run.script:
            launch = replace(launch, jobs=await self._jobs.groups(occasion.conversation))
        return await self._holding.hold(
            launch, occasion.confinement, cleared=occasion.cleared, by=occasion.sandbox
        )

    async def _run_held(self, held: Held, run: Run, occasion: Occasion, account: Account) -> Result:
        """Spawn what is held, follow it to its end, and say what the sandbox had to do with it."""
        # Before the spawn: a script may be quick to say what time it is.
        began = time.time()
        try:
            process = await self._holding.spawn(held, run.streams)
        except WardenError as error:
            return Result(outcome=Stopped() if self.closed else Unstarted(str(error)))
        streams = tuple(self._stream(pipe, run, occasion) for pipe in process.pipes)
        with (
            self._alone() as alone,
            Follower(process, streams, occasion.cancel, self._flood_slots) as follower,
        ):
            if alone and not run.background:
                follower.glance()
            result = await self._follow(follower, run, occasion, began)
            result = await self._put_back(follower, held, result)
            if follower.crowded:
                account.violations += (crowded(held),)
            if follower.starved:
                account.violations += (starved(held),)
        if isinstance(result.outcome, Lost):
            self._link.sweep()
        if self.closed and isinstance(result.outcome, Signaled | Lost):
            result = replace(result, outcome=Stopped())  # by the closing of this engine
        home = occasion.environ.get("HOME")
        cwd = seen_from(held, occasion.cwd)
        account.violations += explain(result, run.script, held, cwd=cwd, home=home)
        return result

    @contextmanager
    def _alone(self) -> Generator[bool]:
        """Count a live run; whether it is the only one: then nobody minds a short wait of the thread."""
        self._live += 1
        try:
            yield self._live == 1
        finally:
            self._live -= 1

    async def _put_back(self, follower: Follower, held: Held, result: Result) -> Result:
        """Undo what was done to protected paths, once nothing is left that could do it again."""
        if not held.guarded.active:
            return result
        if isinstance(result.outcome, Running):
            told = self._holding.keep(result.outcome.job_id, held)
        else:
            if not follower.gone:
                await end_run(follower, timedelta(0), result.outcome)
            told = reports(held.guarded.end())
        return replace(result, notices=(*result.notices, *told)) if told else result

    async def question(self, run: Run, occasion: Occasion) -> Question | None:
        """What a person would be asked about a script, if it were to run now; nothing runs."""
        try:
            occasion = moved(run, occasion)
        except UnstartableError:
            return None
        if unpassable(run.script):
            return None
        verdict = await self._verdict(run.script, occasion)
        if verdict.decision is not Decision.ASK:
            return None
        return await self._approvals.question(_petition(run, verdict, occasion))

    async def _check(self, run: Run, occasion: Occasion) -> Judged:
        """Have a script read and judged, by a person if it comes to that."""
        verdict = await self._verdict(run.script, occasion)
        if verdict.decision is Decision.ALLOW:
            return Judged(verdict)
        if verdict.decision is Decision.DENY:
            return Judged(verdict, Denied(verdict))
        if why_not := unusable_folder(occasion.cwd):
            return Judged(verdict, Unstarted(why_not))
        return await self._approvals.judge(_petition(run, verdict, occasion))

    async def _verdict(self, script: str, occasion: Occasion) -> Verdict:
        surroundings = _surroundings(occasion)
        if len(script) > _LONG_SCRIPT or not self._has_checked:
            verdict = await aside(self._checker.check, script, surroundings)
        else:
            verdict = self._checker.check(script, surroundings)
        self._has_checked = True
        return verdict

    def _stream(self, pipe: int, run: Run, occasion: Occasion) -> Stream:
        spill = self._spills.file(run.limit.spill) if run.limit.spill else None
        return Stream(pipe, Recorder(run.limit), spill, occasion.listener)

    async def _follow(
        self, follower: Follower, run: Run, occasion: Occasion, began: float
    ) -> Result:
        outcome = None if run.background else await wait_outcome(follower, run)
        notices: tuple[str, ...] = ()
        if outcome is None:
            outcome = await wait_started(follower)
        if outcome is None:
            try:
                return await self._time_is_up(follower, run, occasion, began)
            except WardenError as error:
                return result_of(follower, Lost(str(error)))
            except StateError as error:
                notices = (f"it could not go on as a job: {error}",)
                outcome = Unstarted(str(error)) if run.background else timed_out(run)
            await end_run(follower, run.grace, outcome)
        return result_of(follower, outcome, notices)

    async def _time_is_up(
        self, follower: Follower, run: Run, occasion: Occasion, began: float
    ) -> Result:
        """Make a job of what still runs, or end it, as the call says."""
        if not run.background and run.on_timeout is OnTimeout.KILL:
            return result_of(follower, await end_run(follower, run.grace, timed_out(run)))
        if follower.started is None:
            raise StateError("it was never seen to start")
        follower.take_back()
        said = follower.streams
        job = await self._jobs.adopt(
            follower.process,
            follower.started,
            said,
            run=run,
            cwd=occasion.cwd,
            conversation=occasion.conversation,
            began=began,
        )
        for stream in said:
            if stream.spill:
                stream.spill.remove()  # all of it is in the job's own file
        result = Result(outcome=Running(job.id), job=job, notices=self._jobs.reports())
        if run.background:
            return result
        kept = Spill(path=job.output, kept=job.said)
        told = result_of(follower, result.outcome, drain=False)
        return replace(result, transcript=replace(told.transcript, spill=kept), errors=told.errors)

    async def poll(self, poll: Poll, occasion: Occasion) -> Result:
        """Ask a job what is new.

        Raises:
            JobNotFoundError: If this conversation has no such job.
            CallError: If an expression is none.
        """
        began = now()
        reading = await self._jobs.poll(poll, occasion.conversation, occasion.cancel)
        output, *errors = (news.transcript for news in reading.news)
        result = Result(
            outcome=reading.job.outcome,
            transcript=output,
            errors=errors[0] if errors else None,
            seconds=now() - began,
            job=reading.job,
            came_true=reading.came_true,
            notices=self._jobs.reports(),
        )
        return self._holding.look(result)

    async def stop(self, stop: Stop, occasion: Occasion) -> Result:
        """End a job, and tell what it said that was not told yet.

        Raises:
            JobNotFoundError: If this conversation has no such job.
        """
        began = now()
        await self._jobs.stop(stop.job_id, occasion.conversation, stop.grace)
        result = await self.poll(Poll(job_id=stop.job_id, limit=stop.limit), occasion)
        if stop.forget:
            await self._jobs.forget(stop.job_id, occasion.conversation)
        return replace(result, seconds=now() - began)

    async def output(
        self, job_id: str, occasion: Occasion, *, stream: int, start: int, most: int
    ) -> JobOutput:
        """A range of what a job said.

        Raises:
            JobNotFoundError: If this conversation has no such job, or it no such stream.
        """
        return await self._jobs.range(job_id, occasion.conversation, stream, start, most)

    async def jobs(self, occasion: Occasion) -> JobList:
        """List the jobs of a conversation."""
        found = await self._jobs.jobs(occasion.conversation)
        return JobList(at=datetime.now(tz=UTC), jobs=found, notices=self._jobs.reports())

    def close(self) -> None:
        """End the jobs that are owned, remove the spills, let go of the warden.

        Blocks until what was owned is gone. Safe to call again.
        """
        if not self.closed:
            self.closed = True
            with ExitStack() as steps:  # each is taken, whatever becomes of the others
                steps.callback(self._link.release)
                steps.callback(self._holding.close)
                steps.callback(self._spills.close)
                steps.callback(self._approvals.close)
                if self._opened_jobs:
                    steps.callback(self._opened_jobs.close)


def _surroundings(occasion: Occasion) -> "Surroundings":
    cwd = (occasion.doorway and occasion.doorway.inward(occasion.cwd)) or occasion.cwd
    return _surroundings_of(str(cwd), occasion.environ.get("HOME"))


@lru_cache(maxsize=16)
def _surroundings_of(cwd: str, home: str | None) -> "Surroundings":
    from nacre.syntax.script import Surroundings

    return Surroundings(cwd=cwd, home=home)


def _petition(run: Run, verdict: Verdict, occasion: Occasion) -> Petition:
    question = Question(
        script=run.script,
        verdict=verdict,
        description=run.description,
        cwd=occasion.cwd,
        conversation=occasion.asker or occasion.conversation,
        held=occasion.held,
    )
    return Petition(
        question=question,
        surroundings=_surroundings(occasion),
        confinement=occasion.confinement,
        approve=occasion.approve,
        cancel=occasion.cancel,
        plain=run.stdin is None and not run.environ and run.program is None,
    )
