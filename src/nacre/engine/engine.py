"""The pipeline: check, confine, spawn, capture."""

import threading
import time
from contextlib import ExitStack
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import anyio
import anyio.to_thread

from nacre.capture.recorder import Recorder
from nacre.capture.stream import Stream
from nacre.engine.approvals import Approvals, Checker, Judged, Petition
from nacre.engine.ending import end_run, unusable_folder, wait_outcome, wait_started
from nacre.engine.explain import crowded, explain, seen_from, starved
from nacre.engine.follow import Follower
from nacre.engine.holding import Holding, reports
from nacre.engine.jobs import Jobs
from nacre.engine.launching import UnstartableError, launch_of, unpassable
from nacre.engine.occasion import Occasion
from nacre.engine.spills import Spills
from nacre.errors import SandboxError, StateError, WardenError
from nacre.model.approval import Question
from nacre.model.call import OnTimeout, Poll, Run, Stop
from nacre.model.doorway import WORKSPACE
from nacre.model.job import JobOutput
from nacre.model.outcome import (
    Denied,
    Lost,
    Outcome,
    Running,
    Signaled,
    Stopped,
    TimedOut,
    Unstarted,
)
from nacre.model.result import JobList, Result
from nacre.model.transcript import Spill
from nacre.model.verdict import Decision, Verdict
from nacre.model.violation import Violation
from nacre.process.link import Link
from nacre.sandbox.base import Held

if TYPE_CHECKING:
    from nacre.syntax.script import Surroundings

__all__ = ("Engine",)

_FLOOD_THREADS = 2
# Longer ones take their time to be checked, and so does the first, for which the reader is imported.
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
        jobs: Jobs,
    ) -> None:
        self._link = link
        self._checker = checker
        self._approvals = approvals
        self._holding = holding
        self._spills = spills
        self._jobs = jobs
        self._flood_slots = threading.Semaphore(_FLOOD_THREADS)
        self._has_checked = False
        self.closed = False
        link.acquire()

    async def run(self, run: Run, occasion: Occasion) -> Result:
        """Take one script through the whole pipeline.

        Raises:
            StateError: If the folder that the caller named for output cannot be used.
        """
        try:
            occasion = _moved(run, occasion)
        except UnstartableError as error:
            return Result(outcome=Unstarted(str(error)))
        result = await self._run(run, occasion)
        return replace(
            result,
            conversation=occasion.asker or occasion.conversation,
            cwd=occasion.cwd,
            home=occasion.environ.get("HOME"),
            confinement=occasion.confinement,
        )

    async def _run(self, run: Run, occasion: Occasion) -> Result:
        if why_not := unpassable(run.script):
            return Result(outcome=why_not)
        judged = await self._check(run, occasion)
        sofar = Result(
            outcome=Stopped(),
            verdict=judged.verdict,
            answer=judged.answer,
            cwd=occasion.cwd,
            confinement=occasion.confinement,
        )
        _show(occasion, sofar)
        if judged.refused is None:
            result = await self._run_allowed(run, occasion, sofar)
        else:
            result = Result(outcome=judged.refused)
        return replace(
            result,
            verdict=judged.verdict,
            answer=judged.answer,
            notices=(*judged.notices, *result.notices),
        )

    async def _run_allowed(self, run: Run, occasion: Occasion, sofar: Result) -> Result:
        if occasion.cancel is not None and occasion.cancel.cancelled:
            return Result(outcome=Stopped())
        if occasion.refusal:
            return Result(outcome=Unstarted(occasion.refusal, unheld=True))
        self._spills.require()
        began = anyio.current_time()
        try:
            if run.background:
                await self._jobs.prepare()
            launch = replace(
                launch_of(run, occasion.cwd, occasion.environ),
                lingers=run.linger > timedelta(0),
                conversation=occasion.conversation,
                workspace=occasion.doorway.outside if occasion.doorway else None,
            )
            if occasion.confinement.ends_jobs and "kill" in run.script:
                jobs = await self._jobs.groups(occasion.conversation)
                launch = replace(launch, jobs=jobs)
            held = await self._holding.hold(
                launch,
                occasion.confinement,
                cleared=occasion.cleared,
                by=occasion.sandbox,
                cancel=occasion.cancel,
            )
        except (UnstartableError, SandboxError, StateError) as error:
            return Result(outcome=Unstarted(str(error), isinstance(error, SandboxError)))
        if held is None:
            return Result(outcome=Stopped())
        _show(occasion, replace(sofar, enforcement=held.enforcement))
        try:
            result = await self._run_held(held, run, occasion)
        finally:
            self._holding.let_go(held)
        return replace(result, seconds=anyio.current_time() - began, enforcement=held.enforcement)

    async def _run_held(self, held: Held, run: Run, occasion: Occasion) -> Result:
        """Spawn what is held, follow it to its end, and say what the sandbox had to do with it."""
        # Before the spawn: a script may be quick to say what time it is.
        occasion = replace(occasion, began=time.time())
        try:
            process = await self._holding.spawn(held, run.streams)
        except WardenError as error:
            return Result(outcome=Stopped() if self.closed else Unstarted(str(error)))
        streams = tuple(self._stream(pipe, run, occasion) for pipe in process.pipes)
        with Follower(process, streams, occasion.cancel, self._flood_slots) as follower:
            result = await self._follow(follower, run, occasion)
            result = await self._put_back(follower, held, result)
            told: tuple[Violation, ...] = (crowded(held),) if follower.crowded else ()
            told += (starved(held),) if follower.starved else ()
        if isinstance(result.outcome, Lost):
            self._link.sweep()
        if self.closed and isinstance(result.outcome, Signaled | Lost):
            result = replace(result, outcome=Stopped())  # by the closing of this engine
        home = occasion.environ.get("HOME")
        told += explain(result, run.script, held, cwd=seen_from(held, occasion.cwd), home=home)
        return replace(result, violations=told) if told else result

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
            occasion = _moved(run, occasion)
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
            verdict = await anyio.to_thread.run_sync(self._checker.check, script, surroundings)
        else:
            verdict = self._checker.check(script, surroundings)
        self._has_checked = True
        return verdict

    def _stream(self, pipe: int, run: Run, occasion: Occasion) -> Stream:
        spill = self._spills.file(run.limit.spill) if run.limit.spill else None
        return Stream(pipe, Recorder(run.limit), spill, occasion.listener)

    async def _follow(self, follower: Follower, run: Run, occasion: Occasion) -> Result:
        outcome = None if run.background else await wait_outcome(follower, run)
        notices: tuple[str, ...] = ()
        if outcome is None:
            outcome = await wait_started(follower)
        if outcome is None:
            try:
                return await self._time_is_up(follower, run, occasion)
            except WardenError as error:
                return _result(follower, Lost(str(error)))
            except StateError as error:
                notices = (f"it could not go on as a job: {error}",)
                outcome = Unstarted(str(error)) if run.background else _timed_out(run)
            await end_run(follower, run.grace, outcome)
        return _result(follower, outcome, notices)

    async def _time_is_up(self, follower: Follower, run: Run, occasion: Occasion) -> Result:
        """Make a job of what still runs, or end it, as the call says."""
        if not run.background and run.on_timeout is OnTimeout.KILL:
            return _result(follower, await end_run(follower, run.grace, _timed_out(run)))
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
            began=occasion.began,
        )
        for stream in said:
            if stream.spill:
                stream.spill.remove()  # all of it is in the job's own file
        result = Result(outcome=Running(job.id), job=job, notices=self._jobs.reports())
        if run.background:
            return result
        kept = Spill(path=job.output, kept=job.said)
        told = _result(follower, result.outcome, drain=False)
        return replace(result, transcript=replace(told.transcript, spill=kept), errors=told.errors)

    async def poll(self, poll: Poll, occasion: Occasion) -> Result:
        """Ask a job what is new.

        Raises:
            JobNotFoundError: If this conversation has no such job.
            CallError: If an expression is none.
        """
        began = anyio.current_time()
        reading = await self._jobs.poll(poll, occasion.conversation, occasion.cancel)
        output, *errors = (news.transcript for news in reading.news)
        result = Result(
            outcome=reading.job.outcome,
            transcript=output,
            errors=errors[0] if errors else None,
            seconds=anyio.current_time() - began,
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
        began = anyio.current_time()
        await self._jobs.stop(stop.job_id, occasion.conversation, stop.grace)
        result = await self.poll(Poll(job_id=stop.job_id, limit=stop.limit), occasion)
        if stop.forget:
            await self._jobs.forget(stop.job_id, occasion.conversation)
        return replace(result, seconds=anyio.current_time() - began)

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
                steps.callback(self._jobs.close)


def _show(occasion: Occasion, sofar: Result) -> None:
    if occasion.witness is not None:
        occasion.witness(sofar)


def _moved(run: Run, occasion: Occasion) -> Occasion:
    """The occasion in the folder that the call names.

    Raises:
        UnstartableError: If a container does not have that folder.
    """
    cwd = occasion.cwd / run.cwd if run.cwd else occasion.cwd
    if occasion.doorway:
        found = occasion.doorway.outward(cwd)
        if found is None:
            raise UnstartableError(f"the working directory {str(cwd)!r} is not in {WORKSPACE}")
        cwd = found
    return replace(occasion, cwd=cwd)


def _surroundings(occasion: Occasion) -> "Surroundings":
    from nacre.syntax.script import Surroundings

    cwd = (occasion.doorway and occasion.doorway.inward(occasion.cwd)) or occasion.cwd
    return Surroundings(cwd=str(cwd), home=occasion.environ.get("HOME"))


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


def _timed_out(run: Run) -> TimedOut:
    return TimedOut(run.timeout or timedelta(0))


def _result(
    follower: Follower, outcome: Outcome, notices: tuple[str, ...] = (), *, drain: bool = True
) -> Result:
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
