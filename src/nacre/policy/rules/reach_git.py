"""Which words make git run programs or write files that its subcommand does not suggest."""

import re
from collections.abc import Iterator, Sequence

from nacre.model.expression import expression
from nacre.policy.reading.paths import located, settled
from nacre.syntax.script import Command, Script
from nacre.syntax.word import CWD, HOME, UNKNOWN, shown

__all__ = ("git_reach", "harmless_globals", "inside")

_UNKNOWN = expression(f"[{UNKNOWN}{HOME}{CWD}]")
_SHORTEST = len("--o")
_HARMLESS = frozenset(
    {
        "--no-pager",
        "-P",
        "--literal-pathspecs",
        "--glob-pathspecs",
        "--noglob-pathspecs",
        "--icase-pathspecs",
        "--no-optional-locks",
        "--no-replace-objects",
        "--no-lazy-fetch",
        "--no-advice",
        "--version",
        "--help",
        "-v",
        "-h",
    }
)
_LONG = (
    "--output",
    "--output-directory",
    "--upload-pack",
    "--receive-pack",
    "--exec",
    "--ext-diff",
    "--extcmd",
    "--open-files-in-pager",
)
_LONG_OF = {"clone": ("--config", "--template"), "init": ("--template",)}
_LETTERS = {
    "archive": "o",
    "clone": "cu",
    "difftool": "x",
    "format-patch": "o",
    "grep": "O",
    "rebase": "x",
}
_RUNNERS = frozenset(
    {
        "bisect run",
        "daemon",
        "difftool",
        "filter-branch",
        "hook run",
        "instaweb",
        "mergetool",
        "send-email",
        "submodule foreach",
    }
)
# Settings that name a program, or a file with more settings.
_RUNNING_SETTING = expression(
    r"alias\.|pager\.|include|core\.(pager|editor|hookspath|sshcommand|fsmonitor|gitproxy|askpass)|"
    r"(diff|merge|filter|difftool|mergetool|browser|man|credential|gpg|uploadpack|trailer|url)\.|"
    r"remote\..*\.(uploadpack|receivepack|vcs|proxy)|sequence\.editor|interactive\.difffilter|"
    r"init\.templatedir|protocol\.|web\.browser|submodule\..*\.update|sendemail\.",
    re.IGNORECASE,
)


def harmless_globals(words: Sequence[str], command: Command, script: Script) -> int | None:
    """Where git's subcommand stands, if only harmless options come before it."""
    at = 1
    while at < len(words) and words[at].startswith("-"):
        if words[at] in _HARMLESS:
            at += 1
        elif words[at] == "-C" and at + 1 < len(words) and inside(words[at + 1], command, script):
            at += 2
        else:
            return None
    return at


def inside(path: str, command: Command, script: Script) -> bool:
    """Whether a path is surely the folder the script starts in, or below it."""
    place = located(path, command.cwd)
    start = script.surroundings.cwd
    if start:
        place = settled(place, script.surroundings)
        start = settled(located(start, "/"), script.surroundings)
    else:
        start = CWD
    below = place.startswith(start.rstrip("/") + "/") and ".." not in place.split("/")
    return place == start or (below and not _UNKNOWN.search(place, len(start)))


def git_reach(words: Sequence[str], command: Command, script: Script) -> Iterator[str]:
    """The words of a git command that reach further than its subcommand."""
    if not inside(".", command, script):
        yield f"a repository in {shown(command.cwd)}"
    at = harmless_globals(words, command, script)
    if at is None:
        yield next(word for word in words[1:] if word.startswith("-") and word not in _HARMLESS)
        return
    subcommand, rest = "".join(words[at : at + 1]), words[at + 1 :]
    if subcommand in _RUNNERS or (rest and f"{subcommand} {rest[0]}" in _RUNNERS):
        yield subcommand
    if subcommand == "config":
        yield from (word for word in rest if _RUNNING_SETTING.match(word))
    letters = frozenset(_LETTERS.get(subcommand, ""))
    long = _LONG + _LONG_OF.get(subcommand, ())
    yield from (word for word in rest if _reaches(word, letters, long))


def _reaches(word: str, letters: frozenset[str], long: tuple[str, ...]) -> bool:
    if word.startswith("ext::"):
        return True
    if word.startswith("--") and len(word) >= _SHORTEST:
        name = word.partition("=")[0]
        return any(each.startswith(name) for each in long)
    return word[:1] == "-" and not letters.isdisjoint(word[1:])
