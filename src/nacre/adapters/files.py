"""Files as a tool's scripts see them: each operation is a small program, held like any script.

Nothing here opens a file of a workspace itself. Whatever links a path goes through, and
however they change meanwhile, the kernel holds the program to the tool's confinement.
"""

import errno
import json
import os
from collections.abc import Callable, Mapping
from datetime import timedelta
from shlex import quote
from types import MappingProxyType

from nacre.errors import NacreError, SandboxError, WardenError
from nacre.model.call import Run, Streams
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
from nacre.model.result import JobList, Result
from nacre.model.transcript import Limit
from nacre.model.value import dataclass
from nacre.tool import Bash, ToolContext

__all__ = (
    "Operation",
    "as_comment",
    "carry_out",
    "listing",
    "looking",
    "making",
    "perform",
    "reading",
    "refusal",
    "removing",
    "require_path",
    "resolving",
    "unfinished",
    "writing",
)

# A pipe that takes the place of a file between the look and the opening would be waited for.
_LONGEST = timedelta(minutes=5)
_MOST_SAID = 16 * 1024 * 1024
_MOST_RECORDED = 8_000
_PATH_MAX = 4096  # the kernel's, with the NUL at the end
_PUT_BACK = "is protected, and was put back"
# Programs of ours are the system's, whatever a workspace has on the host's PATH; and what
# fails is told in the C library's own words.
_PLAIN = MappingProxyType(
    {"LC_ALL": "C", "PATH": "/usr/bin:/bin:/usr/sbin:/sbin:/run/current-system/sw/bin"}
)
_ERRORS: Mapping[str, int] = MappingProxyType(
    {
        "No such file or directory": errno.ENOENT,
        "Permission denied": errno.EACCES,
        "Operation not permitted": errno.EPERM,
        "Read-only file system": errno.EACCES,  # a room's mounts say no in this way
        "Is a directory": errno.EISDIR,
        "Not a directory": errno.ENOTDIR,
        "Not a regular file": errno.EINVAL,
        "File exists": errno.EEXIST,
        "File name too long": errno.ENAMETOOLONG,
        "File too large": errno.EFBIG,
        "Directory not empty": errno.ENOTEMPTY,
        "Device or resource busy": errno.EBUSY,
        "No space left on device": errno.ENOSPC,
        "Disk quota exceeded": errno.EDQUOT,
        "Too many levels of symbolic links": errno.ELOOP,
    }
)
_FAIL = 'fail() { echo "$1" >&2; exit 1; }; '
# A pipe would be waited for. A file that may not be read is a device in a room, that nobody opens.
_REGULAR = (
    '[ ! -c "$1" ] || : < "$1" || exit 1; '
    '[ ! -e "$1" ] || [ -f "$1" ] || [ -d "$1" ] || fail "Not a regular file"; '
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Operation:
    """One thing to be done with one path; a relative one starts in a call's working directory.

    `script` is how a person would write it: that is what guards and rules judge, and what the
    journal has. `program` does it, given the path and `words` as its parameters. `most` bytes
    of what it says are kept. `changes` says that something is different afterwards.
    """

    path: str
    script: str
    program: str
    words: tuple[str, ...] = ()
    stdin: bytes | None = None
    most: int = _MOST_SAID
    changes: bool = False


def reading(path: str, *, most: int) -> Operation:
    """Read a file: all of it, or one byte more than `most`."""
    path = _named(path)
    return Operation(
        path=path,
        script=f"< {quote(path)}",
        program=_REGULAR + 'exec head -c "$2" -- "$1"',
        words=(str(most + 1),),
        most=most + 1,
    )


def writing(path: str, data: bytes) -> Operation:
    """Write a file in the place of what is there, through links, and make the folders it needs."""
    path = _named(path)
    return Operation(
        path=path,
        script=f"> {quote(path)}",
        program='[ ! -e "$2" ] || [ -d "$2" ] || fail "Not a directory"; '
        f'[ -d "$2" ] || mkdir -p -- "$2" || exit 1; {_REGULAR}exec cat > "$1"',
        words=(os.path.dirname(path),),
        stdin=data,
        changes=True,
    )


def looking(path: str) -> Operation:
    """Say what is there, at the end of its links: the mode in hexadecimal, and the size."""
    path = _named(path)
    return Operation(
        path=path,
        script=as_comment(f"stat {path}"),
        program='exec stat -L -c "%f %s" -- "$1"',
    )


def listing(path: str) -> Operation:
    """Name what a folder holds: type at the end of its links, type, size and name, NUL after each.

    `/` stands between them, which no name holds. What is removed meanwhile is left out.
    """
    path = _named(path)
    return Operation(
        path=path,
        script=as_comment(f"ls {path}"),
        program='cd -P -- "$1" && exec find . -ignore_readdir_race -mindepth 1 -maxdepth 1 '
        '-printf "%Y/%y/%s/%f\\0"',
    )


def making(path: str) -> Operation:
    """Make a folder, and those above it."""
    path = _named(path)
    return Operation(
        path=path,
        script=f"mkdir -p {quote(path)}",
        program='exec mkdir -p -- "$1"',
        changes=True,
    )


def removing(path: str) -> Operation:
    """Remove a file, a link, or a folder with all it holds."""
    path = _named(path)
    return Operation(
        path=path,
        script=f"rm -rf {quote(path)}",
        program='[ -e "$1" ] || [ -L "$1" ] || fail "No such file or directory"; '
        'exec rm -rf -- "$1"',
        changes=True,
    )


def resolving(path: str) -> Operation:
    """Follow every link of a path, as far as there is something; NUL after it."""
    path = _named(path)
    return Operation(
        path=path,
        script=as_comment(f"realpath {path}"),
        program='exec realpath -m -z -- "$1"',
    )


def as_comment(script: str) -> str:
    """What is done as one line of comment: the journal has it, and there is nothing to judge."""
    return f"# {json.dumps(script[:_MOST_RECORDED])}"


def require_path(path: str) -> None:
    """Refuse a path that no kernel could be given.

    Raises:
        OSError: If it is empty or too long.
        ValueError: If a character of it is in no path.
    """
    if not path:
        raise FileNotFoundError(errno.ENOENT, "an empty path leads nowhere", path)
    if "\0" in path:
        raise ValueError(f"{path!r:.100} holds a NUL character; no path does")
    if len(os.fsencode(path)) >= _PATH_MAX:  # a lone surrogate is no byte of a name, and raises
        shown = f"{path[:100]}..."
        raise OSError(errno.ENAMETOOLONG, f"a path has less than {_PATH_MAX} bytes", shown)


async def perform(
    tool: Bash, operation: Operation, context: ToolContext, *, judged: bool = True
) -> bytes:
    """Carry out an operation, and return what its program said.

    One that is not `judged` is held like any other, and no guard or rule looks at it.

    Raises:
        OSError: If it failed; the class is that of the cause, and a refusal is a PermissionError.
        ValueError: If a character of the path is in no path.
        NacreError: If it could not be carried out at all.
    """
    require_path(operation.path)
    words = " ".join(map(quote, (operation.path, *operation.words)))
    run = Run(
        script=operation.script if judged else as_comment(operation.script),
        program=f"{_FAIL}set -- {words}; {operation.program}",
        limit=Limit(head=operation.most, tail=0),
        timeout=_LONGEST,
        streams=Streams.SEPARATE,
        stdin=operation.stdin,
        environ=_PLAIN,
    )
    result = await carry_out(tool, run, context, raw=True)
    match result.outcome:
        case Exited(0):
            _require_whole(operation, result)
            return result.transcript.head
        case Exited() | Signaled():
            raise _failure(operation, result)
        case Denied():
            raise PermissionError(errno.EACCES, refusal(result.outcome), operation.path)
        case TimedOut():
            raise TimeoutError(errno.ETIMEDOUT, "it took too long", operation.path)
        case Unstarted() | Stopped() | Running() | Lost():
            raise unfinished(result.outcome)


async def carry_out(
    tool: Bash,
    run: Run,
    context: ToolContext,
    *,
    raw: bool,
    on_output: Callable[[bytes], None] | None = None,
) -> Result:
    """Have a run carried out, which has a result."""
    result = await tool.carry_out(run, context, raw=raw, on_output=on_output)
    if isinstance(result, JobList):
        raise WardenError("a run was answered with a list of jobs")
    return result


def refusal(denied: Denied) -> str:
    """Why a script was refused, and what to do instead, on one line."""
    verdict = denied.verdict
    return " ".join(filter(None, (verdict.reason, denied.said, verdict.suggestion)))


def unfinished(outcome: Outcome) -> NacreError:
    """Why nothing came of a run, for an outcome that is no end of a script."""
    match outcome:
        case Unstarted(reason, unheld):
            return SandboxError(reason) if unheld else WardenError(reason)
        case Lost(reason):
            return WardenError(reason)
        case Stopped():
            return WardenError("it was stopped; was the tool closed?")
        case Running() | Denied() | TimedOut() | Exited() | Signaled():
            return WardenError(f"it ended in a way that was not asked for: {outcome}")


def _named(path: str) -> str:
    """A path that no program takes for an option, or for a word of its own."""
    return path if not path or path.startswith("/") else f"./{path}"


def _require_whole(operation: Operation, result: Result) -> None:
    """Say so if what was said was too much, or what was done is undone: a protected path was put back."""
    if result.transcript.omitted:
        raise OSError(errno.EFBIG, f"more than {operation.most} bytes came of it", operation.path)
    undone = [notice for notice in result.notices if _PUT_BACK in notice]
    if operation.changes and undone:
        raise PermissionError(errno.EACCES, "; ".join(undone), operation.path)


def _failure(operation: Operation, result: Result) -> OSError:
    """What a program said last, as the exception that Python has for it."""
    said = result.errors.head.decode("utf-8", "replace").strip() if result.errors else ""
    line = said.rpartition("\n")[2]
    words = line.rpartition(": ")[2]
    sentence = "; ".join(each.sentence for each in result.violations)
    code = _ERRORS.get(words, errno.EIO)
    return OSError(
        errno.EACCES if sentence and code == errno.EBUSY else code,  # a mount that is in the way
        sentence or (words if words in _ERRORS else line or f"it failed: {result.outcome}"),
        operation.path,
    )
