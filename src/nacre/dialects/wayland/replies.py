"""What this dialect says: the exit code, then each stream under its heading."""

from datetime import timedelta
from typing import NamedTuple

from nacre.dialects.wayland.network import HINT, looks_networked
from nacre.dialects.wayland.posture import UNHELD
from nacre.model.call import Call, Run
from nacre.model.confinement import Network
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
from nacre.model.verdict import Decision
from nacre.render.raw import without_orphans, without_unfinished

__all__ = ("LIMIT", "reply_to", "reply_to_jobs")

_HALF = 25_000
# A character has four bytes at most, so either end has more of them than a reply shows.
LIMIT = Limit(head=1 << 17, tail=1 << 17)
_SIGNALED = -1
_FAILED = "Failed to execute command: "
_UNHELD = f"{_FAILED}sandbox child execution failed: {UNHELD}"
_CANCELLED = "Bash command cancelled by cancellation token"
_REFUSED_BY_USER = "Tool execution denied by user"
_WHO_APPROVES = "Only the user can approve it, by running it or by changing the rule."
_MILLISECOND = timedelta(milliseconds=1)


class _Said(NamedTuple):
    """A text whose middle may be missing already, and how much of it is."""

    text: str
    omitted: int = 0


def reply_to(call: Call, result: Result) -> Reply:
    """Say how a command ended and what it printed."""
    match result.outcome:
        case Exited(code):
            return _exited(call, result, code)
        case Signaled():
            return _exited(call, result, _SIGNALED)
        case TimedOut(after):
            told = f"Command timed out after {after // _MILLISECOND}ms"
            # One with no time at all has said nothing that would be worth waiting for.
            return _error(_with_streams(told, result) if after else _Said(told))
        case Denied() as denied:
            return _error(_Said(_refusal(denied)))
        case Unstarted(reason, unheld):
            return _error(_Said(_UNHELD if unheld else f"{_FAILED}{reason}"))
        case Stopped():
            return _error(_Said(_CANCELLED))
        case Running(job_id):
            return Reply(
                text=_cut(_with_streams(_going_on(call, job_id), result)),
                details={"exit_code": None},
            )
        case Lost():
            return _error(_with_streams(f"{_FAILED}sandbox produced no exit status", result))


def reply_to_jobs(jobs: JobList) -> Reply:
    """Name the jobs; this dialect has no tool that asks for them."""
    return Reply(text="\n".join(job.id for job in jobs.jobs), details={"exit_code": None})


def _exited(call: Call, result: Result, code: int) -> Reply:
    text, omitted = _streams(result)
    text = f"Exit code: {code}\n{text}"
    if code and _lacked_network(call, result):
        text += f"\n\n⚠ {HINT}"
    return Reply(text=_cut(_Said(text, omitted)), is_error=code != 0, details={"exit_code": code})


def _lacked_network(call: Call, result: Result) -> bool:
    denied = result.confinement is not None and result.confinement.network is Network.DENY
    return denied and isinstance(call, Run) and looks_networked(call.script)


def _error(said: _Said) -> Reply:
    return Reply(text=_cut(said), is_error=True, details={"exit_code": None})


def _refusal(denied: Denied) -> str:
    """The words of a guard as they are; those of a rule with who could let it pass."""
    if denied.answered:
        return _REFUSED_BY_USER
    verdict = denied.verdict
    reason = verdict.reason.encode("utf-8", "backslashreplace").decode()
    if reason.startswith("Refused: "):
        return reason
    asks = verdict.decision is Decision.ASK
    return f"Refused: {reason} {_WHO_APPROVES}" if asks else f"Refused: {reason}"


def _going_on(call: Call, job_id: str) -> str:
    timeout = call.timeout if isinstance(call, Run) else None
    after = f" after {timeout // _MILLISECOND}ms" if timeout is not None else ""
    return (
        f"Command still running{after}: it goes on as job {job_id}."
        f" The user can see it with `nacre logs {job_id}` and end it with `nacre kill {job_id}`."
    )


def _with_streams(told: str, result: Result) -> _Said:
    """What was printed before the end, if anything was."""
    if not result.transcript.total and not (result.errors and result.errors.total):
        return _Said(told)
    text, omitted = _streams(result)
    return _Said(f"{told}\n{text}", omitted)


def _streams(result: Result) -> _Said:
    output = _text(result.transcript)
    errors = _text(result.errors or Transcript())
    return _Said(f"STDOUT:\n{output.text}\nSTDERR:\n{errors.text}", output.omitted + errors.omitted)


def _text(transcript: Transcript) -> _Said:
    if not transcript.omitted:
        return _Said((transcript.head + transcript.tail).decode("utf-8", "replace"))
    head = without_unfinished(transcript.head).decode("utf-8", "replace")
    tail = without_orphans(transcript.tail).decode("utf-8", "replace")
    return _Said(head + tail, transcript.omitted)


def _cut(said: _Said) -> str:
    """A text of at most 50,000 characters; of a longer one, as many from both ends."""
    hidden = len(said.text) + said.omitted - 2 * _HALF
    if hidden <= 0:
        return said.text
    return f"{said.text[:_HALF]}\n\n... [truncated {hidden} chars] ...\n\n{said.text[-_HALF:]}"
