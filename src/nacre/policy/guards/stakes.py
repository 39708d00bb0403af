"""What is at stake when a path is deleted with everything in it."""

import re
from enum import Enum

from nacre.model.expression import expression
from nacre.policy.reading.paths import could_be, located, normal, settled
from nacre.syntax.script import Command, Place, Script, Surroundings
from nacre.syntax.word import CWD, FIELDS, HOLE, HOME, QUERY, SET, STAR, UNKNOWN, Word

__all__ = ("Stake", "stakes")


class Stake(Enum):
    """What would be lost."""

    ROOT = "every file of the machine"
    HOME = "a home directory"
    IN_HOME = "something in the home directory, written with `~` or `$HOME`"
    GIT = "the repository's history"
    IN_GIT = "a part of the repository's history"
    EVERYTHING = "everything here, or everything hidden"
    HERE = "the folder the script starts in, or one above it"
    SYSTEM = "a folder of the system"
    VARIABLE = "a folder that matters, if a variable is empty"


# What is worth a refusal on another machine or in a container, too.
_ELSEWHERE = frozenset({Stake.ROOT, Stake.HOME})

_LONGEST_PATH = 4096  # the kernel takes none that is longer

_WILD = STAR + QUERY
# `[0-9]*` is far from all names, though a template has the same mark for `[0-9]` and `?`.
_NARROW = expression(r"\[[^!^]")
_STARTS_WITH_ONE = expression(f"(?<![^/]){QUERY}")
_UNKNOWN = expression(f"[{HOLE}{FIELDS}]+")
_UNSAYABLE = expression(f"[{UNKNOWN}]")
# One of several values of a variable that comes before a slash is often the empty one it starts with.
_VARIABLE_THEN_SLASH = expression(r'"?\$(?:\w+|\{\w+\})"?/')
_NEVER_EMPTY = frozenset({":-", ":=", ":?"})

_HOME_AS_WRITTEN = expression(r"^(?:~[\w.-]*|\$HOME|\$\{HOME\})(?=/|$)")

_TEMPORARY = "tmp"
_FOLDERS_OF_HOMES = frozenset({"home", "Users"})
_ROOT_FOLDERS = (
    frozenset({"bin", "boot", "dev", "etc", "home", "lib", "lib32", "lib64", "media", "mnt", "opt"})
    | {"proc", "root", "run", "sbin", "srv", "sys", "usr", "var"}
    | {"Applications", "Library", "System", "Users", "private"}
)
_SECOND_FOLDERS = frozenset(
    {"usr/bin", "usr/include", "usr/lib", "usr/lib64", "usr/local", "usr/sbin", "usr/share"}
    | {"var/lib"}
)
# Git's own messages and manuals tell people to delete these.
_SCRATCH_OF_GIT = expression(r"(modules|worktrees)/.+|rebase-(merge|apply)|.*\.lock", re.DOTALL)


def stakes(word: Word, command: Command, script: Script) -> frozenset[Stake]:
    """All that is at stake if a command deletes what a word could be."""
    found: set[Stake] = set()
    guessed = Place.GUESSED in command.places
    # What is unknown of a path comes from the script, or from a program that found the path.
    written = "$" in word.source or "`" in word.source
    for each in word.templates:
        template = _marked(each) if guessed else each
        if _NARROW.search(word.source):
            template = _STARTS_WITH_ONE.sub("x", template)
        if not 0 < len(template) <= _LONGEST_PATH:
            continue
        sure = written or not _UNSAYABLE.search(template)
        if sure:
            found |= _as_written(template)
        path = located(template, command.cwd)
        found |= _of_git(path, globs=sure) | _of_path(path, script.surroundings)
    if len(word.templates) > 1 and _VARIABLE_THEN_SLASH.match(word.source):
        found -= {Stake.ROOT, Stake.SYSTEM}
        short = (each for each in word.templates if len(each) <= _LONGEST_PATH)
        if any(_if_empty(HOLE + each) for each in short):
            found.add(Stake.VARIABLE)
    if any(shown.operator in _NEVER_EMPTY for shown in word.expansions):
        found.discard(Stake.VARIABLE)
    return frozenset(found & _ELSEWHERE if command.remote else found)


def _marked(guess: str) -> str:
    """What a word of a text that could not be parsed would be if nothing in it were quoted."""
    return _HOME_AS_WRITTEN.sub(HOME, guess).replace("*", STAR)


def _as_written(template: str) -> set[Stake]:
    found: set[Stake] = set()
    last = template.rstrip("/").rpartition("/")[2]
    hidden = last[:1] == "." and STAR in last and not last[1:].strip(STAR)
    everything = template[0] == STAR and not template.rstrip("/").strip(STAR)
    if hidden or everything:
        found.add(Stake.EVERYTHING)
    if template[0] == HOME:
        found.add(Stake.IN_HOME)
    if _if_empty(template):
        found.add(Stake.VARIABLE)
    return found


def _of_path(path: str, surroundings: Surroundings) -> set[Stake]:
    path = settled(path, surroundings)
    folder = _emptied(path)
    stake = _of_folder(folder, surroundings)
    if not stake and folder[0] == "/" and not _UNSAYABLE.search(folder):
        stake = _of_system(folder[1:], emptied=folder != path)
    return {stake} if stake else set()


def _if_empty(template: str) -> bool:
    """Whether it would be a folder that matters if the variable it starts with were empty."""
    if template.lstrip("/")[:1] not in {HOLE, FIELDS} or len(_UNKNOWN.findall(template)) > 1:
        return False
    rest = _UNKNOWN.sub("", template)
    if not rest or SET in rest:
        return False
    folder = _emptied(normal(rest))
    return _is_whole(rest) or folder == "/" or (folder[0] == "/" and folder[1:] in _ROOT_FOLDERS)


def _of_git(path: str, *, globs: bool) -> set[Stake]:
    parts = path.split("/")
    for at, part in enumerate(parts):
        if part == ".git" or (globs and could_be(part, ".git")):
            inside = "/".join(parts[at + 1 :])
            if not inside or _is_whole(inside):
                return {Stake.GIT}
            return set() if _SCRATCH_OF_GIT.fullmatch(inside) else {Stake.IN_GIT}
    return set()


def _emptied(path: str) -> str:
    """The folder that a path such as `folder/*` empties, or the path itself."""
    while True:
        folder, slash, last = path.rpartition("/")
        if not slash or not _is_whole(last):
            return path
        path = folder or "/"


def _is_whole(name: str) -> bool:
    """Whether a name stands for all names, or all hidden ones: `*`, `.*`, `.??*`."""
    rest = name[1:] if name[:1] == "." else name
    return STAR in rest and not rest.strip(_WILD)


def _of_folder(folder: str, surroundings: Surroundings) -> Stake | None:
    if folder == "/":
        return Stake.ROOT
    if folder == surroundings.home or _is_or_is_above(folder, HOME):
        return Stake.HOME
    if _is_or_is_above(folder, CWD):
        return Stake.HERE
    cwd = surroundings.cwd
    return Stake.HERE if cwd and f"{cwd}/".startswith(f"{folder}/") else None


def _is_or_is_above(folder: str, mark: str) -> bool:
    return folder[0] == mark and not folder[1:].replace("/..", "")


def _of_system(name: str, *, emptied: bool) -> Stake | None:
    first, _, rest = name.partition("/")
    if first in _FOLDERS_OF_HOMES and rest and "/" not in rest:
        return Stake.HOME
    if rest:
        matters = name in _SECOND_FOLDERS
    elif emptied:
        matters = first in _ROOT_FOLDERS
    else:
        matters = first != _TEMPORARY
    return Stake.SYSTEM if matters else None
