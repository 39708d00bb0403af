"""What the tool answers: a summary on one line, and below it the output or the end of it."""

from datetime import timedelta

from nacre.errors import CallError, NacreError, StateError
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
from nacre.model.verdict import Decision
from nacre.render.raw import without_orphans

__all__ = (
    "INLINE_BYTES",
    "TAIL_LINES",
    "WINDOW_BYTES",
    "refusal",
    "reply_to_list",
    "reply_to_run",
    "shortened",
    "tail_lines",
)

TAIL_LINES = 80
INLINE_BYTES = 12 * 1024
WINDOW_BYTES = 256 * 1024
_SUMMARY_CHARACTERS = 80
_CUT_CHARACTERS = 77

_DENIED = "permission denied: tool `Bash` arguments matched the manifest permission policy"
_UNANSWERED = (
    "permission ask unsupported: tool `Bash` requires approval, but this runtime has no"
    " permission approval protocol; denied fail-closed"
)

_Ended = Exited | Signaled | TimedOut | Stopped | Running


def reply_to_run(command: str, result: Result) -> Reply:
    """Say how a command ended, and what it said."""
    match result.outcome:
        case Denied() as denied:
            return _reply(_denial(denied), None, "PermissionDenied")
        case Unstarted(reason):
            return _reply(f"Execution failed: spawn bash: {reason}", None, "ExecutionFailed")
        case Lost(reason):
            failed = f"Execution failed: bash wait: {reason}"
            return _reply(failed, _content(result), "ExecutionFailed")
        case Exited() | Signaled() | TimedOut() | Stopped() | Running() as outcome:
            return _reply(f"$ {shortened(command)}{_ending(outcome)}", _content(result), "output")


def reply_to_list(result: JobList) -> Reply:
    """Name jobs, for a host that asks: no tool of this dialect does."""
    lines = [f"{job.id} {shortened(job.script)}" for job in result.jobs]
    return _reply(f"{len(lines)} jobs", "\n".join(lines) or None, "output")


def refusal(error: NacreError, *, known: bool) -> Reply:
    """Say what was wrong with a call that was not carried out."""
    match error:
        case CallError():
            return _reply(str(error), None, "InvalidArgument" if known else "ToolNotFound")
        case StateError():
            cause = error.__cause__
            code = f" (os error {cause.errno})" if isinstance(cause, OSError) else ""
            what = "create bash output dir" if cause else "output tempfile:"
            said = f"Internal error: {what} {error}{code}"
        case _:
            said = f"Internal error: {error}"
    return _reply(said, None, "Internal")


def shortened(command: str) -> str:
    """The first line of a command, cut where it is longer than a summary should be."""
    line, newline, _ = command.partition("\n")
    line = line.removesuffix("\r") if newline else line
    return line if len(line) <= _SUMMARY_CHARACTERS else f"{line[:_CUT_CHARACTERS]}..."


def tail_lines(text: str, most: int = TAIL_LINES) -> str:
    """The last lines of a text, with their ends as they are."""
    at = len(text) - text.endswith("\n")
    for _ in range(most):
        at = text.rfind("\n", 0, at)
        if at < 0:
            return text
    return text[at + 1 :]


def _line_count(text: str) -> int:
    return text.count("\n") + (not text.endswith("\n")) if text else 0


def _reply(summary: str, content: str | None, kind: str) -> Reply:
    # A path or a tool's name may hold what is no character.
    summary = summary.encode("utf-8", "backslashreplace").decode()
    if content is not None:
        content = content.encode("utf-8", "backslashreplace").decode()
    return Reply(
        text=summary if content is None else f"{summary}\n{content}",
        is_error=kind != "output",
        details={"summary": summary, "content": content, "kind": kind},
    )


def _denial(denied: Denied) -> str:
    asks = denied.verdict.decision is Decision.ASK and not denied.answered
    return _UNANSWERED if asks else _DENIED


def _ending(outcome: _Ended) -> str:
    match outcome:
        case Exited(0):
            return ""
        case Exited(code):
            return f" (exit {code})"
        case Signaled():
            return " (terminated by signal)"
        case TimedOut(after):
            return f" (timed out after {_seconds(after)}s)"
        case Stopped():
            return " (cancelled)"
        case Running(job_id):
            return f" (still running as job {job_id})"


def _seconds(time: timedelta) -> str:
    seconds = time.total_seconds()
    return str(int(seconds)) if seconds.is_integer() else str(seconds)


def _content(result: Result) -> str | None:
    """What was said, and below it what we have to say of it ourselves."""
    said = _output(result)
    remarks = [*result.notices, *(each.sentence for each in result.violations)]
    if not remarks:
        return said
    lines = [said.removesuffix("\n")] if said else []
    return "\n".join([*lines, *(f"[{remark}]" for remark in remarks)])


def _output(result: Result) -> str | None:
    transcript = result.transcript
    if not transcript.total:
        return None
    whole = not transcript.omitted
    data = transcript.head + transcript.tail if whole else without_orphans(transcript.tail)
    text = data.decode("utf-8", "replace")
    match result.outcome:
        case TimedOut():
            header = f"[partial output before timeout — {_saved('full at', transcript)}]"
        case Running():
            header = f"[output so far — {_saved('full at', transcript)}]"
        case Exited() | Signaled() | Stopped() | Denied() | Unstarted() | Lost():
            header = _header(transcript, _line_count(text)) if whole else _far_header(transcript)
    return f"{header}\n{tail_lines(text)}" if header else text


def _header(transcript: Transcript, lines: int) -> str:
    """The line above an output that memory holds; none if it can be shown as it is."""
    size = transcript.total
    if size <= INLINE_BYTES and lines <= TAIL_LINES:
        return ""
    saved = _saved(f"full output ({size} bytes) at", transcript)
    return f"[showing last {TAIL_LINES} of {lines} lines — {saved}]"


def _far_header(transcript: Transcript) -> str:
    """The line above the end of an output whose lines nobody counted."""
    saved = _saved("full at", transcript)
    return f"[showing last {TAIL_LINES} lines (tail of {transcript.total}-byte output) — {saved}]"


def _saved(where: str, transcript: Transcript) -> str:
    """Where the whole output is, or why it is nowhere."""
    spill = transcript.spill
    if spill is not None and spill.path is not None:
        return f"{where} {spill.path}"
    failure = spill.failure if spill is not None else None
    return f"the full output could not be saved: {failure or 'there is no file for it'}"
