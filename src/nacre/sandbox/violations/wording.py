"""Who says a line, and what it was about to do, by the words of it."""

import re

from nacre.model.expression import expression
from nacre.sandbox.violations.complaint import Access

__all__ = ("access_of", "is_nameless", "speaker_of")

_SPEAKER = expression(r"(?:\S*/)?([A-Za-z_][\w.+-]*)(?: \(child\)| I/O error)?: ")
_ANSWER = expression(r"(?:Permission denied|Read-only file system|No such file|Operation not)")
_SHELL_LINE = expression(r"\S+: (?:line )?\d+: ")
_SHELLS = frozenset({"bash", "sh", "dash", "environment", "ash", "zsh"})
# They open a message, and are no programs.
_LABELS = frozenset(
    {"error", "fatal", "warning", "Error", "ERROR", "Fatal", "FATAL", "Warning", "panic", "remote"}
    | {"Exception", "OSError", "PermissionError", "FileNotFoundError", "connect", "open", "mkdir("}
)

_NAMELESS = expression(r"(?:error|fatal|warning|zip|remote|Cannot|Resolving|Connecting)\b|[/.~]")

_WRITES = expression(
    r"(?:cannot|can't|could not|couldn't|failed to|unable to|not) "
    r"(?:\w+ )?(?:touch|create|mkdir|write|make|lock|append|link|overwrite|move|install)\b|"
    r"for (?:writing|output|appending)|output file|temporary file|error writing|"
    r"inter-device move|creating|leading directories",
    re.IGNORECASE,
)
_REMOVES = expression(r"(?:remove|delete|unlink|unlinking|rename) ")
_CHANGES = expression(r"changing (?:permissions|ownership|group)|setting (?:times|permissions)|"
    r"preserving (?:times|permissions|ownership)")  # fmt: skip
_READS = expression(
    r"for reading|unable to access '/|cannot (?:stat|access|read|open directory)|: cd: |reading|"
    r"can't (?:read|cd|chdir)|Cannot (?:stat|read)"
)

_READERS = frozenset(
    [
        "cat",
        "head",
        "tail",
        "grep",
        "egrep",
        "fgrep",
        "rg",
        "ls",
        "less",
        "more",
        "wc",
        "du",
        "file",
        "diff",
        "cmp",
        "md5sum",
        "sha256sum",
        "sha1sum",
        "xxd",
        "od",
        "strings",
        "stat",
        "readlink",
        "source",
        "jq",
        "nl",
        "cut",
        "uniq",
        "comm",
        "find",
        "tree",
    ]
)
_WRITERS = frozenset(
    ["touch", "tee", "mkdir", "ln", "mktemp", "split", "truncate", "csplit", "install", "mkfifo"]
)
_REMOVERS = frozenset(["rm", "rmdir", "unlink", "shred"])


def speaker_of(text: str) -> tuple[str, bool]:
    """The program named in front of a line, or nothing; and whether it is a shell."""
    found = _SPEAKER.match(text)
    # `/srv/x: Permission denied` is what perror prints: a path, and no program.
    if found is None or found[1] in _LABELS or _ANSWER.match(text, found.end()):
        return "", False
    return found[1], found[1] in _SHELLS or _SHELL_LINE.match(text) is not None


def is_nameless(text: str) -> bool:
    """Whether a line is an error of a program that does not say its name, as git's are."""
    return _NAMELESS.match(text) is not None


def access_of(text: str, program: str) -> Access:
    """What a program was about to do with the file it complains of."""
    for access, words in (
        (Access.CHANGE, _CHANGES),
        (Access.REMOVE, _REMOVES),
        (Access.READ, _READS),
        (Access.WRITE, _WRITES),
    ):
        if words.search(text):
            return access
    for access, programs in (
        (Access.READ, _READERS),
        (Access.WRITE, _WRITERS),
        (Access.REMOVE, _REMOVERS),
    ):
        if program in programs:
            return access
    return Access.UNKNOWN
