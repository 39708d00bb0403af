"""What a failure had to do with the sandbox."""

from pathlib import PurePath

from nacre.model.confinement import Protection
from nacre.model.doorway import Doorway
from nacre.model.expression import expression
from nacre.model.outcome import Exited, Signaled, TimedOut
from nacre.model.result import Result
from nacre.model.transcript import Transcript
from nacre.model.violation import Violation, ViolationKind
from nacre.sandbox.base import Held

__all__ = ("crowded", "explain", "seen_from", "starved")

# The first and last of what was said; what is between would not be looked at.
_HEAD_BYTES, _TAIL_BYTES = 16 * 1024, 64 * 1024
_TIMED_OUT = 124
# What a script that ended well says of something that was stopped on the way.
_HINTS = expression(
    rb"[Dd]enied|ermitted|[Rr]ead-only|EACCES|EROFS|EPERM|[Uu]nreachable|resol|os error|Errno"
)


def explain(
    result: Result, script: str, held: Held, *, cwd: PurePath, home: str | None
) -> tuple[Violation, ...]:
    """Say what the sandbox stopped in a run that did not end well."""
    ending: tuple[int | None, int | None]
    match result.outcome:
        case Exited(0) if not _HINTS.search(result.transcript.head + result.transcript.tail):
            return ()
        case Exited(code):
            ending = (code, None)
        case Signaled(number):
            ending = (None, number)
        case TimedOut():
            ending = (_TIMED_OUT, None)
        case _:
            return ()
    if Protection.PRIVILEGES not in held.enforcement.by:
        return ()  # nothing was in its way
    # Imported when something failed: most scripts never need it.
    from nacre.sandbox.violations import Evidence, violations
    from nacre.sandbox.violations.inside import InsideContainer
    from nacre.syntax.read import read
    from nacre.syntax.script import Surroundings

    evidence = Evidence(
        script=read(script, Surroundings(cwd=str(cwd), home=home)),
        cwd=cwd,
        output=_said(result.transcript) + (_said(result.errors) if result.errors else ""),
        exit_code=ending[0],
        signal=ending[1],
        confinement=held.confinement,
        enforcement=held.enforcement,
        home=home,
        tmp=held.tmp,
    )
    host = InsideContainer(doorway) if (doorway := _doorway(held)) else None
    return violations(evidence, host)


def crowded(held: Held) -> Violation:
    """Say that a run had too many processes, and was ended for it."""
    most = held.confinement.limits.processes
    return Violation(
        kind=ViolationKind.LIMIT,
        target="processes and threads",
        rule=f"no more than {most} may run at once",
        remedy="it was ended; start fewer at a time",
    )


def starved(held: Held) -> Violation:
    """Say that all that is in a container needed more memory than it has."""
    container = held.launch.hold.container
    most = container.memory if container else None
    limited = f"no more than {most >> 20} MiB may be used" if most else "it has a limit"
    return Violation(
        kind=ViolationKind.LIMIT,
        target="the memory of the container",
        rule=f"{limited}, by all scripts of a conversation and what is in /tmp",
        remedy="use less, or ask the user to raise it with --limit memory=...",
    )


def seen_from(held: Held, cwd: PurePath) -> PurePath:
    """A run's folder as the script knows it: in a container it has another name."""
    return held.launch.cwd if held.launch.hold.container else cwd


def _doorway(held: Held) -> Doorway | None:
    """Where a container has the workspace."""
    launch = held.launch
    return Doorway(launch.workspace) if launch.hold.container and launch.workspace else None


def _said(transcript: Transcript) -> str:
    head, tail = transcript.head, transcript.tail
    if transcript.omitted == 0:
        head, tail = head + tail, b""
    if len(head) + len(tail) > _HEAD_BYTES + _TAIL_BYTES:
        whole = head + tail
        head, tail = whole[:_HEAD_BYTES], whole[-_TAIL_BYTES:]
    text = head + (b"\n" + tail if tail else b"")
    return text.decode("utf-8", "replace")
