"""What this dialect says: the output first, then lines that tell how it ended.

Nothing is cleaned but what is no UTF-8. A script that fails or runs out of time is no
error; one that did not run is.
"""

from collections.abc import Iterable
from datetime import timedelta

from nacre.errors import CallError, JobNotFoundError, NacreError
from nacre.model.call import Run
from nacre.model.expression import expression
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
from nacre.model.result import Result
from nacre.model.transcript import Transcript
from nacre.model.verdict import Decision, Verdict
from nacre.render.raw import without_unfinished

__all__ = (
    "SHOWN_BYTES",
    "refusal",
    "reply_to_kill",
    "reply_to_list",
    "reply_to_poll",
    "reply_to_run",
    "sayable",
)

# Of a script's output, in a reply to the call that ran it.
SHOWN_BYTES = 100 * 1024
# As timeout(1) has it.
_TIMED_OUT = 124
# Of a shell that left none: ended by a signal, or unseen.
_NO_CODE = -1
_SURROGATES = expression("[\ud800-\udfff]")
_UNAPPROVED = " Only the user can approve it, by running it or by changing the rule."


def sayable(text: str) -> str:
    """A text that can be encoded: U+FFFD in the place of each half of a character."""
    return _SURROGATES.sub("\ufffd", text)


def reply_to_run(run: Run, result: Result) -> Reply:
    """Say what a script printed and how it ended, or where it goes on."""
    match result.outcome:
        case Exited(code):
            return _told(_body(result.transcript) + _exit_line(code), code)
        case Signaled():
            return _told(_body(result.transcript) + _exit_line(_NO_CODE), _NO_CODE)
        case TimedOut(after):
            text = f"{_body(result.transcript)}bash: timed out after {_seconds(after)}s\n"
            return _told(text + _exit_line(_TIMED_OUT), _TIMED_OUT)
        case Denied(verdict, answered):
            return _error(_denial(verdict, answered=answered))
        case Unstarted(reason) | Lost(reason):
            return _error(f"{'bash-bg start' if run.background else 'bash'}: {reason}")
        case Stopped():
            return _error("bash: context canceled")
        case Running(job_id):
            return _told(_going_on(run, result.transcript, job_id), None)


def _going_on(run: Run, said: Transcript, job_id: str) -> str:
    if run.background:
        return f"shell_id: {job_id}\nstarted in background: {sayable(run.script)}\n"
    after = _seconds(run.timeout or timedelta(0))
    return (
        f"{_body(said)}bash: still running after {after}s\n"
        f"shell_id: {job_id}\nmoved to background: {sayable(run.script)}\n"
    )


def _denial(verdict: Verdict, *, answered: bool) -> str:
    """Why a script did not run; a list that refuses it has said all with that."""
    if answered:
        return f"The user was asked, and said no: {verdict.reason}"
    return verdict.reason + _UNAPPROVED if verdict.decision is Decision.ASK else verdict.reason


def _body(said: Transcript) -> str:
    """The output and, if it had to be cut, how much of it is missing; a whole last line."""
    head = _head(said, SHOWN_BYTES)
    text = head.decode("utf-8", "replace")
    if elided := said.total - len(head):
        return f"{text}\n... (output truncated, {elided} bytes elided)\n"
    return _closed(text)


def _head(said: Transcript, most: int | None = None) -> bytes:
    """The first bytes of what was kept; where they were cut, no character is cut in two."""
    head = said.head[:most]
    return head if len(head) == said.total else without_unfinished(head)


def _closed(text: str) -> str:
    return f"{text}\n" if text and not text.endswith("\n") else text


def _exit_line(code: int) -> str:
    return f"exit: {code}\n" if code else ""


def _seconds(time: timedelta) -> str:
    """Whole seconds as such; a host may set a time that has none."""
    return f"{time.total_seconds():.3f}".rstrip("0").rstrip(".")


def reply_to_poll(result: Result) -> Reply:
    """Say all that a shell printed so far, each stream by itself, and whether it still runs."""
    code = _code(result.outcome)
    job = result.job
    about = f"command: {sayable(job.script)}\n" if job else ""
    since = f"started: {job.started:%Y-%m-%dT%H:%M:%SZ}\n" if job else ""
    text = (
        f"{about}status: {_status(code)}\n{since}\n"
        f"{_section('stdout', result.transcript)}"
        f"{_section('stderr', result.errors or Transcript())}"
    )
    return _told(text, code)


def _section(name: str, said: Transcript) -> str:
    head = _head(said)
    cut = " [TRUNCATED]" if said.omitted else ""
    text = _closed(head.decode("utf-8", "replace"))
    return f"--- {name} ({len(head)} bytes){cut} ---\n{text}"


def _status(code: int | None) -> str:
    return "running" if code is None else f"completed (exit {code})"


def _code(outcome: Outcome) -> int | None:
    """How a shell ended; None while it has not."""
    match outcome:
        case Exited(code):
            return code
        case TimedOut():
            return _TIMED_OUT
        case Signaled() | Stopped() | Lost() | Denied() | Unstarted():
            return _NO_CODE
        case Running():
            return None


def reply_to_kill(shell_id: str) -> Reply:
    """Say that a shell is gone."""
    return _told(f"killed: {shell_id}\n", None)


def reply_to_list(jobs: Iterable[Job]) -> Reply:
    """List shells, a line each."""
    lines = [f"{job.id}: {_status(_code(job.outcome))}\n" for job in jobs]
    return _told("".join(lines), None)


def refusal(error: NacreError) -> Reply:
    """Say what was wrong with a call that was not carried out."""
    match error:
        case JobNotFoundError():
            return _error(f"unknown shell_id: {error.job_id}")
        case CallError():
            return _error(str(error))
        case _:
            return _error(f"bash: {error}")


def _told(text: str, code: int | None) -> Reply:
    return Reply(text=text, details={"exit_code": code})


def _error(text: str) -> Reply:
    return Reply(text=sayable(text), is_error=True, details={"exit_code": None})
