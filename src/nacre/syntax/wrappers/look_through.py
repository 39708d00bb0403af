"""Commands that run commands: `sudo`, `xargs`, `bash -c`, `find -exec`, `python -c`.

A rule that denies must see through every one of them. Each kind has a module of
its own; here is which program is read by which.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace

from nacre.model.expression import expression
from nacre.syntax.output.produced import prints
from nacre.syntax.script import Command, Via, ViaKind
from nacre.syntax.word import FIELDS, HOLE, QUERY, STAR, Word, known
from nacre.syntax.wrappers.callouts import CALLOUTS
from nacre.syntax.wrappers.fanout import FANOUTS
from nacre.syntax.wrappers.git import git
from nacre.syntax.wrappers.inner import Inner, Invocation, Reader, derived
from nacre.syntax.wrappers.interpreters import INTERPRETERS
from nacre.syntax.wrappers.prefixes import PREFIXES, TRANSPARENT
from nacre.syntax.wrappers.remotes import REMOTES
from nacre.syntax.wrappers.runners import RUNNERS
from nacre.syntax.wrappers.sed import sed
from nacre.syntax.wrappers.shells import SHELLS, substituted
from nacre.syntax.wrappers.terminals import TERMINALS

__all__ = ("Inner", "inners", "produced", "runs_others")


def _gathered(*tables: Mapping[str, Reader]) -> Mapping[str, tuple[Reader, ...]]:
    found: dict[str, tuple[Reader, ...]] = {}
    for table in tables:
        for name, reader in table.items():
            found[name] = (*found.get(name, ()), reader)
    return found


_READERS = _gathered(
    CALLOUTS,
    FANOUTS,
    INTERPRETERS,
    PREFIXES,
    REMOTES,
    RUNNERS,
    SHELLS,
    TERMINALS,
    {"git": git, "sed": sed, "gsed": sed},
)
_VERSIONED = frozenset({*INTERPRETERS, "bash", "sh", "ksh", "zsh", "proxychains"})
# What they run is not their own: the words after them say it, or a file, or what they are fed.
_LENT = frozenset({*FANOUTS, *INTERPRETERS, *PREFIXES, *SHELLS, *TERMINALS}) - TRANSPARENT
_LOADER = expression(r"ld-(?:linux|musl)[\w.-]*\.so[.\d]*$")
# A script in a folder may well be called so.
_ORDINARY_WORDS = frozenset(
    {"script", "watch", "test", "time", "st", "sg", "at", "batch", "make", "install", "split"}
    | {"sort", "go", "ip", "op", "view", "sem", "screen", "complete", "jobs", "read", "wait"}
    | {"login", "source", "eval", "command", "exec", "local", "export", "screen", "crash", "dotenv"}
)

# Variables that by their name hold a program, when nothing is known of their value.
_VARIABLES = {
    "SUDO": "sudo",
    "SHELL": "sh",
    "BASH": "bash",
    "ENV": "env",
    **{each.upper(): each for each in ("bash", "sh", "git", "find", "xargs", "ssh", "docker")},
    **{each.upper(): each for each in ("python", "python3", "perl", "ruby", "node", "awk")},
}

# Variables whose value some program reads as a command.
_COMMAND_VARIABLES = frozenset(
    {"PAGER", "MANPAGER", "EDITOR", "VISUAL", "BROWSER", "LESSOPEN", "LESSCLOSE"}
    | {"GIT_PAGER", "GIT_EDITOR", "GIT_SSH", "GIT_SSH_COMMAND", "GIT_SEQUENCE_EDITOR"}
    | {"GIT_EXTERNAL_DIFF", "GIT_ASKPASS", "GIT_PROXY_COMMAND", "SSH_ASKPASS", "SUDO_ASKPASS"}
    | {"SUDO_EDITOR", "RSYNC_RSH", "CVS_RSH", "PROMPT_COMMAND", "FZF_DEFAULT_COMMAND"}
)
# Those whose value bash expands, so that only substitutions in it run.
_EXPANDED_VARIABLES = frozenset({"PS0", "PS1", "PS2", "PS4", "BASH_ENV", "ENV"})
_DEEPEST = 4


def inners(command: Command, stdin: Word | None = None) -> tuple[Inner, ...]:
    """Every command this one runs, one level deep.

    `stdin` is the text it reads, if that is known. Where words can be read in
    several ways, the commands of all of them are given.
    """
    found: list[Inner] = []
    if stdin is not None and not any(each.strip() for each in stdin.templates):
        stdin = None
    if command.assignments:
        found += _set(command)
    if command.words:
        program = command.words[0]
        for name in _names(program):
            for reader in _READERS[name]:
                found += reader(Invocation(name, program, command.words[1:], stdin))
    return tuple(dict.fromkeys(found)) if found else ()


def runs_others(command: Command) -> bool:
    """Whether a command's program is there to run something else, or code that it is given."""
    return bool(command.words) and not _LENT.isdisjoint(_names(command.words[0]))


def produced(command: Command, stdin: Word | None = None) -> Word | None:
    """The text a command prints, if that is known, or what of it is known."""
    return _produced(command, stdin, 0)


def _produced(command: Command, stdin: Word | None, depth: int) -> Word | None:
    for template in command.words[0].templates if command.words else ():
        name = template.rpartition("/")[2]
        found = prints(name, command, stdin)
        if found is not None:
            return found
        if name in PREFIXES and depth < _DEEPEST:
            invocation = Invocation(name, command.words[0], command.words[1:], stdin)
            for inner in PREFIXES[name](invocation):
                return _produced(replace(command, words=inner.words), stdin, depth + 1)
    return None


def _names(program: Word) -> Iterator[str]:
    """The wrappers that a word could name."""
    for template in program.templates:
        name = template.rpartition("/")[2]
        if name in _READERS:
            if name not in _ORDINARY_WORDS or not _is_relative(template):
                yield name
        elif STAR in name or QUERY in name:
            yield from _globbed(name)
        elif name[-1:].isdecimal():
            yield from _versioned(name)
        elif not known(name):
            # What is not known of it may be nothing.
            if (rest := name.replace(HOLE, "").replace(FIELDS, "")) in _READERS:
                yield rest
            yield from (_VARIABLES[e.name] for e in program.expansions if e.name in _VARIABLES)


def _is_relative(template: str) -> bool:
    return "/" in template and template[0] != "/" and known(template)


def _versioned(name: str) -> Iterator[str]:
    plain = name.rstrip("-.0123456789")
    if plain in _VERSIONED:
        yield plain
    elif _LOADER.match(name):
        yield "ld.so"


def _globbed(name: str) -> Iterator[str]:
    """The wrappers whose names a pattern matches, shells and `sudo` first."""
    if len(name.strip(STAR + QUERY)) == 0 or HOLE in name:
        return
    escaped = re.escape(name).replace(STAR, ".*").replace(QUERY, ".")
    pattern = re.compile(escaped)
    yield from (each for each in _READERS if pattern.fullmatch(each))


def _set(command: Command) -> Iterator[Inner]:
    """Commands in variables that programs take them from."""
    for assigned in command.assignments:
        via = Via(ViaKind.CODE, assigned.name)
        if assigned.name in _COMMAND_VARIABLES:
            yield from (Inner(via=via, code=(word,)) for word in assigned.words)
        elif assigned.name in _EXPANDED_VARIABLES:
            codes = (substituted(each) for word in assigned.words for each in word.templates)
            for code in codes:
                if code:
                    yield Inner(via=via, code=(derived(assigned.words[0], code),))
