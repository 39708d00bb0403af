"""What the agentrail dialect says.

Its details are one of two shapes, by `mode`: what ended in the foreground, or what goes on
in the background. A script that did not run, or was ended on purpose, has none.
"""

from nacre.dialects.agentrail.schema import TOOL
from nacre.errors import NacreError
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
from nacre.model.transcript import Transcript
from nacre.model.value import dataclass
from nacre.model.verdict import Verdict
from nacre.render.raw import without_unfinished

__all__ = ("Contained", "refusal", "reply_to_list", "reply_to_run", "shown")

_TRUNCATED = "\n[output truncated]"
_UNSTARTED = 1
_TIMED_OUT = 124
# What a shell adds to the number of the signal that ended a command.
_SIGNALED = 128
_NAME_CHARACTERS = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class Contained:
    """What is said in another way of a command in a container, one for the background or not."""

    in_background: bool = False


def reply_to_run(result: Result, contained: Contained | None = None) -> Reply:
    """Say how a command ended, or that it goes on, and what it printed."""
    failed = _failed_inside(result, contained) if contained else None
    return failed or _told(result, contained)


def _told(result: Result, contained: Contained | None) -> Reply:
    match result.outcome:
        case Exited(code):
            return _foreground(result, code)
        case Signaled(signal):
            return _foreground(result, _SIGNALED + signal)
        case TimedOut(after):
            killed = f"Process was killed after {after.total_seconds() * 1000:.0f} ms"
            return _foreground(result, _TIMED_OUT, killed)
        case Running():
            pid = result.job.pid if result.job and not contained else None
            return _background(result, pid)
        case Unstarted(reason, unheld):
            return _failed(reason) if unheld else _ended("", reason, _UNSTARTED, *_notes(result))
        case Denied(verdict):
            return _failed(_denial(verdict))
        case Stopped():
            return _failed("Execution was aborted", *_output(result))
        case Lost(reason):
            return _failed(f"The end of the process was not seen: {reason}", *_output(result))


def _failed_inside(result: Result, contained: Contained) -> Reply | None:
    """What a container has other words for."""
    outcome = result.outcome
    if isinstance(outcome, Unstarted) and outcome.unheld:
        return _failed(f"No sandbox found for session '{result.conversation}'", outcome.reason)
    if isinstance(outcome, Unstarted) and contained.in_background:
        return _failed("Failed to start background command", outcome.reason)
    if isinstance(outcome, Stopped):
        return _failed("Sandbox command aborted", *_output(result))
    return None


def reply_to_list(result: JobList) -> Reply:
    """Name the processes in the background; no tool of the document asks for them."""
    return Reply(text="\n".join(str(job.pid) for job in result.jobs), details=None)


def refusal(error: NacreError) -> Reply:
    """Say what was wrong with a call that was not carried out."""
    return _failed(str(error))


def shown(name: str) -> str:
    """A name that an agent made up, as a text that can be encoded, however long it is."""
    return name[:_NAME_CHARACTERS].encode("utf-8", "backslashreplace").decode()


def _denial(verdict: Verdict) -> str:
    return verdict.reason if verdict.stated else f'Permission denied for tool "{TOOL}"'


def _foreground(result: Result, code: int, *remarks: str) -> Reply:
    return _ended(*_streams(result), code, *remarks, *_notes(result))


def _ended(stdout: str, stderr: str, code: int, *remarks: str) -> Reply:
    said = _sections(stdout, stderr) or ["(no output)"]
    return Reply(
        text="\n".join([*remarks, *said, f"\n[exit code: {code}]"]),
        details={"mode": "foreground", "exit_code": code, "stdout": stdout, "stderr": stderr},
    )


def _background(result: Result, pid: int | None) -> Reply:
    where = "Process moved to background (still running in sandbox)"
    identity: dict[str, object] = {}
    if pid is not None:
        where = f"Process is running in background (pid: {pid})"
        identity = {"pid": pid}
    stdout, stderr = _streams(result)
    return Reply(
        text="\n".join([where, *_notes(result), *_sections(stdout, stderr)]),
        details={"mode": "background", **identity, "stdout": stdout, "stderr": stderr},
    )


def _failed(*lines: str) -> Reply:
    return Reply(text="\n".join(lines), is_error=True, details=None)


def _notes(result: Result) -> list[str]:
    """What nacre has to say beside the ending: what could not be done, what was put back."""
    return [f"[note: {notice}]" for notice in result.notices]


def _output(result: Result) -> list[str]:
    return _sections(*_streams(result))


def _sections(stdout: str, stderr: str) -> list[str]:
    return [*([stdout] if stdout else []), *([f"[stderr]\n{stderr}"] if stderr else [])]


def _streams(result: Result) -> tuple[str, str]:
    """Standard output and standard error, each within its limit."""
    goes_on = isinstance(result.outcome, Running)
    return (
        _text(result.transcript, goes_on=goes_on),
        _text(result.errors or Transcript(), goes_on=goes_on),
    )


def _text(said: Transcript, *, goes_on: bool) -> str:
    """The first of a stream as text; a character of which a part is missing is left out."""
    data = without_unfinished(said.head) if said.omitted or goes_on else said.head
    return data.decode("utf-8", "replace") + (_TRUNCATED if said.omitted else "")
