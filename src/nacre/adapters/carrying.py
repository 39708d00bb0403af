"""What one script leaves for the next: its folder, and the variables it exported.

Each script has a bash of its own. That the next one goes on where it ended takes a channel. Before
a script, bash reads a prologue from its standard input (`BASH_ENV`), so that the script and its
line numbers stay as they are. The prologue joins standard error to standard output. The pipe that
was standard error is the channel: on it bash says where it is and what it exports, then and when it
exits, and the host compares the two.

What comes through the channel is a script's word, and is believed no more than a script is. Names
and values become variables of the next bash, and a path its folder; nothing becomes code. What
they could change about the next script is written in front of it, where guards, rules and people
see it: names only, for the journal keeps no values.
"""

import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import field, replace
from pathlib import PurePath
from shlex import quote

from nacre.model.call import Run, Streams
from nacre.model.outcome import Exited
from nacre.model.result import Result
from nacre.model.value import dataclass

__all__ = ("Carried", "carrying", "left_by")

# No script uses this descriptor by chance.
_CHANNEL = 63
# Between the parts of what is said there: neither a path nor a variable holds a NUL.
_BORDER = b"\0\n"
_SAY = (
    r"{ builtin printf '\0\n'; builtin pwd; builtin printf '\0\n'; builtin declare -px; }"
    f" 2>/dev/null >&{_CHANNEL} || :"
)
_PROLOGUE = f"""\
exec {_CHANNEL}>&2 2>&1 </dev/null
unset BASH_ENV
{_SAY}
trap {quote(_SAY)} EXIT
"""

# Bash keeps these itself.
_ITS_OWN = frozenset({"EUID", "OLDPWD", "PPID", "PWD", "SHELLOPTS", "SHLVL", "UID", "_"})
# They change how bash starts, or reads a script. `~` is read as the home that every script has.
_REFUSED = frozenset({"ENV", "GLIBC_TUNABLES", "HOME", "IFS", "POSIXLY_CORRECT", "PS4"})
_REFUSED_PREFIXES = ("BASH", "LD_")
_MOST_VARIABLES = 256
_MOST_BYTES = 64 * 1024
_LONGEST_PATH = 4096
_SHOWN_CHARACTERS = 200

# As `declare -px` writes them, each on a line: "..." or, with control characters, $'...'.
_VARIABLE = re.compile(rb"declare -[ilrtux]+ (\w+)=(.*)", re.ASCII)
_IN_QUOTES = re.compile(rb'\\(["$`\\])')
_ESCAPE = re.compile(rb"\\([0-7]{3}|.)")
_LETTERS = dict(zip(b"abeEfnrtv", b"\a\b\x1b\x1b\f\n\r\t\v", strict=True))
_REDACTED = b"[redacted: "
_UNKNOWN = (
    "where it ended and what it exported is not known; the next command starts as this one did"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Carried:
    """Where the next script starts, and what is exported to it beside what every script has.

    `start` is the folder of the first one. Nothing is known before that has run.
    """

    start: str = ""
    folder: str | None = None
    variables: Mapping[str, str] = field(default_factory=dict[str, str])


def carrying(run: Run, carried: Carried) -> Run:
    """A run that starts as the last one ended, and says on the channel how it ends itself.

    Into a folder that is not below the first one's, the script goes by `cd`. So it is judged as
    a script that leaves the folder, and so it may be a folder that only the sandbox knows.
    """
    script, cwd, prologue = run.script, run.cwd, _PROLOGUE
    environ = {**run.environ, **carried.variables, "BASH_ENV": "/dev/stdin"}
    if carried.variables:
        names = " ".join(f"{name}=${name}" for name in carried.variables)
        script = f"{names} # as the commands before left them\n{script}"
    if carried.folder is not None and _is_below(carried.folder, carried.start):
        cwd = PurePath(carried.folder)
        environ["PWD"] = carried.folder  # by the links that were taken
    elif carried.folder is not None:
        script = f"cd -- {quote(carried.folder)} || exit\n{script}"
        prologue += _entering(carried)
    return replace(
        run,
        script=script,
        program=run.script,
        cwd=cwd,
        environ=environ,
        stdin=prologue.encode("utf-8", "surrogateescape"),
        streams=Streams.SEPARATE,
    )


def left_by(result: Result, carried: Carried) -> tuple[Result, Carried]:
    """The result of such a run without the channel, and what is carried on to the next.

    That is what was carried to this one, unless its shell came to an end and said how.
    """
    if result.errors is None:
        return result, carried
    # What bash said before the prologue; all of its standard error, if that never ran.
    before, *parts = (result.errors.head + result.errors.tail).split(_BORDER)
    said = replace(result.transcript, head=before + result.transcript.head)
    is_whole = not result.errors.omitted
    result = replace(result, transcript=said, errors=None)
    if not isinstance(result.outcome, Exited):
        return result, carried
    match parts:
        case [_, given, folder, left] if is_whole and _is_path(folder):
            start = carried.start or str(result.cwd)
            kept, lost = _kept(carried.variables, dict(_exported(given)), dict(_exported(left)))
            if lost:
                names = ", ".join(lost)[:_SHOWN_CHARACTERS]
                told = f"not kept for the next command: {names}"
                result = replace(result, notices=(*result.notices, told))
            path = os.fsdecode(folder.removesuffix(b"\n"))
            return result, Carried(start=start, folder=path, variables=kept)
        case _:
            return replace(result, notices=(*result.notices, _UNKNOWN)), carried


def _is_path(folder: bytes) -> bool:
    return folder.startswith(b"/") and len(folder) <= _LONGEST_PATH and _REDACTED not in folder


def _entering(carried: Carried) -> str:
    """Go to a folder by `cd`; if it is gone, run nothing, and let the next one start elsewhere."""
    gone = (
        f"[not run: the folder {carried.folder} is not there any more;"
        f" the next command starts in {carried.start}]"
    )
    enter = f"cd -- {quote(carried.folder or '')} 2>/dev/null"
    return f"{enter} || {{ builtin printf '%s\\n' {quote(gone)}; exit 1; }}\n"


def _is_below(folder: str, start: str) -> bool:
    inside = PurePath(os.path.realpath(folder)).is_relative_to(os.path.realpath(start))
    return inside and os.path.isdir(folder)


def _kept(
    carried: Mapping[str, str], given: Mapping[str, bytes], left: Mapping[str, bytes]
) -> tuple[dict[str, str], list[str]]:
    """The variables that are carried on, and the names of those that should be and cannot."""
    kept = {
        name: carried[name] for name in left if name in carried and left[name] == given.get(name)
    }
    lost: list[str] = []
    room = _MOST_BYTES - sum(_size(*each) for each in kept.items())
    for name, value in left.items():
        if given.get(name) == value:
            continue
        wanted = os.fsdecode(_unquoted(value))
        room -= (size := _size(name, wanted))
        if room < 0 or len(kept) == _MOST_VARIABLES or _REDACTED in value or _is_refused(name):
            lost.append(name)
            room += size
        else:
            kept[name] = wanted
    return kept, lost


def _is_refused(name: str) -> bool:
    return name in _REFUSED or name.startswith(_REFUSED_PREFIXES)


def _size(name: str, value: str) -> int:
    return len(name) + len(os.fsencode(value))


def _exported(said: bytes) -> Iterator[tuple[str, bytes]]:
    """The variables of a shell, each as it wrote it."""
    for line in said.split(b"\n"):
        if (match := _VARIABLE.fullmatch(line)) and (name := match[1].decode()) not in _ITS_OWN:
            yield name, match[2]


def _unquoted(value: bytes) -> bytes:
    """What bash means by a value that it wrote in quotes."""
    if value.startswith(b"$'"):
        return _ESCAPE.sub(_escaped, value[2:-1])
    return _IN_QUOTES.sub(rb"\1", value[1:-1])


def _escaped(match: re.Match[bytes]) -> bytes:
    found = match[1]
    if found.isdigit():
        return bytes([int(found, 8) & 0xFF])
    return bytes([_LETTERS.get(found[0], found[0])])
