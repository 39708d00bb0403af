"""What the default dialect says: sentences to a model, short, literal and stable.

A line in square brackets is ours; everything else the script printed.
"""

import signal
from datetime import datetime, timedelta

from nacre.dialects.nacre.kept import BUDGET
from nacre.errors import NacreError
from nacre.model.call import (
    Condition,
    FileAppears,
    JobEnds,
    OutputMatches,
    PortOpens,
    Run,
    Silence,
)
from nacre.model.job import Job
from nacre.model.outcome import (
    Denied,
    Exited,
    Lost,
    Outcome,
    Running,
    Signaled,
    Stopped,
    TimedOut,
    Unstarted,
)
from nacre.model.reply import Reply
from nacre.model.result import JobList, Result
from nacre.model.verdict import Decision
from nacre.render.output import Shown, shown

__all__ = ("refusal", "reply_to_list", "reply_to_poll", "reply_to_run")

_SCRIPT_CHARACTERS = 80
_PART_CHARACTERS = 400
_MINUTE = 60  # seconds
_HOUR = 60  # minutes


def reply_to_run(run: Run, result: Result) -> Reply:
    """Say how a script ended and what it printed."""
    said = shown(result.transcript, BUDGET)
    lines = [said.text] if said.text else []
    lines += _remarks(result)
    lines += _ending_of_run(run, result)
    return Reply(
        text="\n".join(lines) or "[no output]",
        is_error=not isinstance(result.outcome, Running) and result.outcome != Exited(0),
        details=_details(result, said),
    )


def _remarks(result: Result) -> list[str]:
    """What nacre has to say beside the ending: what was put back, and what was stopped."""
    return [
        *(f"[note: {notice}]" for notice in result.notices),
        *(f"[sandbox: {_one_line(each.sentence)}]" for each in result.violations),
    ]


def _ending_of_run(run: Run, result: Result) -> list[str]:
    match result.outcome:
        case Exited(0):
            return []
        case Exited(code):
            return [f"[exit code {code}]"]
        case Running(job_id) if run.background:
            return [f"[job {job_id} was started; {_HOW_TO_GO_ON}]"]
        case Running(job_id):
            took = _duration(run.timeout or timedelta(0))
            return [f"[still running after {took}: it is job {job_id} now; {_HOW_TO_GO_ON}]"]
        case Denied() as denied:
            return _denial(denied)
        case outcome:
            return [f"[{_ended(outcome)}]"]


def _denial(denied: Denied) -> list[str]:
    """Why a script did not run, the part it is about, and what to do instead."""
    verdict = denied.verdict
    instead = [verdict.suggestion] if verdict.suggestion else []
    if verdict.decision is Decision.ASK and not denied.answered:
        instead += [denied.said] if denied.said else []
        instead.append(_WHO_APPROVES)
    said = {
        "the user says": _one_line(denied.said) if denied.answered else "",
        "part": _one_line(verdict.part),
        "instead": " ".join(instead),
        "rule": _one_line(verdict.rule),
    }
    told = [f"[{label}: {text}]" for label, text in said.items() if text]
    return [f"[{_ended(denied)}]", *told]


def _one_line(text: str) -> str:
    """The text of a script as a line that can be encoded, and not be taken for one of ours."""
    line = " ".join(text.split()).encode("utf-8", "backslashreplace").decode()
    if len(line) <= _PART_CHARACTERS:
        return line
    return f"{line[: _PART_CHARACTERS // 2]} ... {line[-_PART_CHARACTERS // 2 :]}"


_NOBODY = "it needs approval, and nobody is here to give it: "
_REFUSED = "the user was asked, and said no: "
_WHO_APPROVES = (
    "Only the user can approve it, by running it or by changing the rule; or do it another way."
)
_HOW_TO_GO_ON = "BashOutput shows what it prints next, KillBash ends it"


def reply_to_poll(result: Result) -> Reply:
    """Say what is new of a job."""
    said = shown(result.transcript, BUDGET)
    lines = [said.text] if said.text else ["[nothing new]"]
    lines += _remarks(result)
    if result.came_true is not None and not _is_plain_end(result):
        lines.append(f"[{_came_true(result.came_true)}]")
    if result.job is not None:
        state = "is running" if isinstance(result.outcome, Running) else _ended(result.outcome)
        lines.append(f"[job {result.job.id} {state}]")
    return Reply(text="\n".join(lines), details=_details(result, said))


def reply_to_list(result: JobList) -> Reply:
    """List jobs, a line each, as many as the budget allows: those that run and the latest first."""
    lines = [f"[note: {notice}]" for notice in result.notices]
    jobs = _within_budget([(_line(job, result.at), job) for job in result.jobs])
    if left_out := len(result.jobs) - len(jobs):
        lines.append(f"[{left_out:,} more jobs are not shown]")
    lines += jobs or ["[no jobs]"]
    found = [{"id": job.id, "outcome": _name(job.outcome)} for job in result.jobs]
    return Reply(text="\n".join(lines), details={"jobs": found})


def _within_budget(listed: list[tuple[str, Job]]) -> list[str]:
    """The lines of a list that are shown, in the order of the list."""
    chosen: set[int] = set()
    left = BUDGET
    ranks = [(isinstance(job.outcome, Running), place) for place, (_, job) in enumerate(listed)]
    for _, place in sorted(ranks, reverse=True):
        left -= len(listed[place][0]) + 1
        if left < 0:
            break
        chosen.add(place)
    return [listed[place][0] for place in sorted(chosen)]


def refusal(tool: str, error: NacreError) -> Reply:
    """Say what was wrong with a call that was not carried out."""
    details: dict[str, object] = {key: None for key in _KEYS}  # noqa: C420 (keeps it a dict of objects)
    details["outcome"] = "unstarted" if tool == "Bash" else None
    details["enforced"] = dict[str, str]()
    return Reply(text=f"[error: {error}]", is_error=True, details=details)


_KEYS = ("outcome", "exit_code", "signal", "id", "seconds", "omitted_bytes", "spill", "enforced")


def _details(result: Result, said: Shown) -> dict[str, object]:
    outcome = result.outcome
    spill = result.transcript.spill
    details: dict[str, object] = {
        "outcome": _name(outcome),
        "exit_code": outcome.code if isinstance(outcome, Exited) else None,
        "signal": outcome.signal if isinstance(outcome, Signaled) else None,
        "id": result.job.id if result.job else None,
        "seconds": round(result.seconds, 3),
        "omitted_bytes": said.omitted_bytes,
        "spill": str(spill.path) if spill and spill.path and said.omitted_bytes else None,
        "enforced": dict(result.enforcement.by),
    }
    if result.violations:
        details["violations"] = [
            {
                "kind": each.kind.value,
                "target": each.target,
                "rule": each.rule,
                "remedy": each.remedy,
            }
            for each in result.violations
        ]
    if isinstance(outcome, Denied):
        part = outcome.verdict.part.encode("utf-8", "backslashreplace").decode()
        details |= {"rule": outcome.verdict.rule, "part": part}
    return details


def _name(outcome: Outcome) -> str:
    match outcome:
        case Exited():
            return "exited"
        case Signaled():
            return "signaled"
        case TimedOut():
            return "timed_out"
        case Denied():
            return "denied"
        case Unstarted():
            return "unstarted"
        case Stopped():
            return "stopped"
        case Running():
            return "running"
        case Lost():
            return "lost"


def _ended(outcome: Outcome) -> str:
    match outcome:
        case Exited(code):
            return f"ended with exit code {code}"
        case Signaled(number):
            return f"ended by signal {number} ({_signal_name(number)})"
        case TimedOut(after):
            return f"timed out after {_duration(after)}; it was ended with all it started"
        case Denied(verdict, answered):
            asks = verdict.decision is Decision.ASK
            why = _REFUSED if answered else _NOBODY if asks else ""
            return f"denied: {why}{_one_line(verdict.reason)}"
        case Unstarted(reason):
            return f"not started: {reason}"
        case Stopped():
            return "stopped"
        case Running(job_id):
            return f"job {job_id} is running"
        case Lost(reason):
            return f"lost: {reason}"


def _is_plain_end(result: Result) -> bool:
    return result.came_true == JobEnds()


def _came_true(condition: Condition) -> str:
    match condition:
        case OutputMatches(pattern):
            return f"the output matches {pattern!r}"
        case JobEnds():
            return "the job has ended"
        case PortOpens(port):
            return f"port {port} accepts connections"
        case FileAppears(path):
            return f"{path} exists"
        case Silence(lasting):
            return f"nothing was printed for {_duration(lasting)}"


def _line(job: Job, now: datetime) -> str:
    state = "running" if isinstance(job.outcome, Running) else _ended(job.outcome)
    ended = job.ended or now
    first = job.script.strip().splitlines()[0] if job.script.strip() else ""
    if len(first) > _SCRIPT_CHARACTERS or first != job.script.strip():
        first = f"{first[:_SCRIPT_CHARACTERS]}..."
    return f"{job.id}  {state}  {_duration(ended - job.started)}  {first}"


def _duration(time: timedelta) -> str:
    seconds = time.total_seconds()
    if seconds < _MINUTE:
        return f"{round(seconds, 1):g} s"
    minutes, rest = divmod(round(seconds), _MINUTE)
    if minutes < _HOUR:
        return f"{minutes} min {rest} s" if rest else f"{minutes} min"
    hours, minutes = divmod(minutes, _HOUR)
    return f"{hours} h {minutes} min" if minutes else f"{hours} h"


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return "unknown"
