"""What this dialect says of a result: a line in brackets where there is something to say."""

from datetime import timedelta

from nacre.dialects.phoenix.description import REQUIREMENTS, prompt
from nacre.errors import NacreError
from nacre.model.call import Run
from nacre.model.job import Job
from nacre.model.outcome import (
    Denied,
    Exited,
    Lost,
    Running,
    Signaled,
    Stopped,
    TimedOut,
    Unstarted,
)
from nacre.model.reply import Reply
from nacre.model.result import JobList, Result
from nacre.model.transcript import Limit, Transcript
from nacre.model.verdict import Decision, Verdict
from nacre.model.violation import ViolationKind
from nacre.render.raw import without_orphans, without_unfinished

__all__ = ("LIMIT", "refusal", "reply_to_list", "reply_to_run")

_MOST_BYTES = 128 * 1024
_SNIP_BYTES = 4 * 1024
# Together they hold all that is shown whole.
LIMIT = Limit(head=_MOST_BYTES // 2, tail=_MOST_BYTES // 2)
_DENIED = "permission denied: "
_SECOND = timedelta(seconds=1)
_MILLISECOND = timedelta(milliseconds=1)


def reply_to_run(run: Run, result: Result) -> Reply:
    """Say how a command ended and what it printed."""
    is_error = not isinstance(result.outcome, Running) and result.outcome != Exited(0)
    return Reply(
        text=_encodable(_text(run, result)),
        is_error=is_error,
        details=_details(run.script, _shown(run.script, result), success=not is_error),
    )


def reply_to_list(result: JobList) -> Reply:
    """Name the jobs there are, in the words in which each of them was started."""
    text = "\n".join(_started(job) for job in result.jobs)
    return Reply(text=text, details=_details("", "", success=True))


def refusal(error: NacreError, command: str) -> Reply:
    """Say what was wrong with a call that was not carried out."""
    details = _details(command, command, success=False)
    return Reply(text=_encodable(str(error)), is_error=True, details=details)


def _details(command: str, shown: str, *, success: bool) -> dict[str, object]:
    return {"success": success, "command": _encodable(command), "display": _encodable(shown)}


def _shown(script: str, result: Result) -> str:
    """The command without the `cd` to where it runs anyway."""
    from nacre.syntax.display import display  # the parser takes longer to import than all else

    return display(script, str(result.cwd), result.home) if result.cwd else script


def _text(run: Run, result: Result) -> str:
    output = _output(result.transcript)
    match result.outcome:
        case Exited(code):
            return _failed(code, output, result) if code else output
        case Signaled():
            return _failed(-1, output, result)
        case TimedOut(after):
            return _followed(f"[command timed out after {_duration(after)}]", output)
        case Stopped():
            return _followed("[command cancelled]", output)
        case Denied(verdict, answered):
            return _denial(verdict, answered=answered)
        case Unstarted(reason, unheld):
            return _unstarted(run, reason, unheld=unheld)
        case Lost(reason):
            return _followed(f"Command execution failed: {reason}", output)
        case Running(job_id):
            started = _started(result.job) if result.job else f"<id>{job_id}</id>"
            return started if run.background else _kept(run, started, output)


def _failed(code: int, output: str, result: Result) -> str:
    """How it failed, and which limit it met, if it was one that says nothing itself."""
    limits = [
        f"[{each.sentence}]\n" for each in result.violations if each.kind is ViolationKind.LIMIT
    ]
    return f"[command failed: exit code {code}]\n{''.join(limits)}{output}"


def _followed(line: str, output: str) -> str:
    return f"{line}\n{output}" if output else line


def _denial(verdict: Verdict, *, answered: bool) -> str:
    if verdict.decision is not Decision.ASK:
        return _DENIED + verdict.reason.removeprefix(_DENIED)
    why = "the user said no" if answered else "it needs approval, and nobody is here to give it"
    return f"{_DENIED}{why}: {verdict.reason}"


def _unstarted(run: Run, reason: str, *, unheld: bool) -> str:
    if unheld:
        return f"Restricted mode is not available: {reason}.\n{prompt(REQUIREMENTS)}"
    what = "start background process" if run.background else "spawn process"
    return f"Failed to {what}: {reason}"


def _started(job: Job) -> str:
    return (
        f"<pid>{job.pid}</pid>\n<output_file>{job.output}</output_file>\n"
        f"<reminder>To stop: kill -9 -{job.pid}</reminder>"
    )


def _kept(run: Run, started: str, output: str) -> str:
    """What a host that keeps what timed out lets the model know."""
    after = _duration(run.timeout or timedelta(0))
    return _followed(f"[command still running after {after}]\n{started}", output)


def _output(said: Transcript) -> str:
    """All of it, or both ends of it if it is too long."""
    whole = said.head + said.tail
    if said.total <= _MOST_BYTES:
        return whole.decode("utf-8", "replace")
    first = without_unfinished(whole[:_SNIP_BYTES]).decode("utf-8", "replace")
    last = without_orphans(whole[-_SNIP_BYTES:]).decode("utf-8", "replace")
    return (
        f"[output truncated in middle: got {said.total} bytes, max is {_MOST_BYTES} bytes]\n"
        f"{first}\n\n[snip]\n\n{last}"
    )


def _duration(time: timedelta) -> str:
    """A time in the largest unit of which it is one or more: `30s`, `1.5s`, `500ms`."""
    if time >= _SECOND:
        return f"{_decimal(time, _SECOND)}s"
    if time >= _MILLISECOND:
        return f"{_decimal(time, _MILLISECOND)}ms"
    return f"{time.microseconds}µs"


def _decimal(time: timedelta, unit: timedelta) -> str:
    whole, rest = divmod(time, unit)
    digits = len(str(unit // timedelta(microseconds=1))) - 1
    return f"{whole}.{rest // timedelta(microseconds=1):0{digits}d}".rstrip("0").rstrip(".")


def _encodable(text: str) -> str:
    """A text that can be sent: half a character of a script is written as its number."""
    return text.encode("utf-8", "backslashreplace").decode()
