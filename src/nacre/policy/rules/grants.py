"""What a yes for always is worth: one command, to the letter, where nothing around it changes it.

A person who says so has seen one script. What is remembered is the narrowest rule that
covers the command they were asked about: its text, without any star. It counts only where
that text means the same again: every word is written out, nothing is fed into it, and nothing
else in the script changes what its words would run. Whatever runs other programs
by its words (shells, interpreters, `env`, `sudo`) is never remembered.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

from nacre.model.expression import expression
from nacre.policy.rules.cover import runs
from nacre.policy.rules.pattern import collapsed
from nacre.policy.rules.reach import further_reach
from nacre.policy.rules.rule import TOOL
from nacre.policy.rules.safe import redirection_gap, setting_gap
from nacre.syntax.script import Command, Place, Script, ViaKind
from nacre.syntax.word import CWD
from nacre.syntax.wrappers.look_through import runs_others

__all__ = ("grantable", "granted", "without")

# A longer command is not read to its end by whoever says yes.
_MOST_CHARACTERS = 300
# Builtins that change what later words mean, or could. Those that are left out (`echo`, `pwd`,
# `true`, `exit` and the like) change nothing.
_CHANGES = frozenset(
    {".", "[", "alias", "bg", "bind", "builtin", "caller", "command", "compgen", "complete"}
    | {"compopt", "declare", "dirs", "disown", "enable", "eval", "exec", "export", "fc", "fg"}
    | {"getopts", "hash", "history", "jobs", "let", "local", "mapfile", "popd", "printf", "pushd"}
    | {"read", "readarray", "readonly", "set", "shift", "shopt", "source", "suspend", "test"}
    | {"trap", "typeset", "ulimit", "umask", "unalias", "unset", "wait"}
)
# Where it leads is known, unless a command before it put another folder in that place.
_MOVES = frozenset({"cd"})
# What sets variables or defines functions without being a command: arithmetic, conditions,
# expansions that do more than show a variable, named descriptors, coprocesses.
_SETS = expression(
    r"\(\(|\[\[|\$\[|\$\{(?!\w+\})|\}[<>]|\(\s*\)|\b(?:coproc|function|select)\b", re.ASCII
)
_CONTINUATION = "\\\n"
# What a word is expanded by, and what a rule takes for more than itself.
_SPECIAL = frozenset("*?[{~$`\\")
_STAGED = frozenset({Place.PIPED_IN, Place.GUESSED, Place.FUNCTION, Place.ITERATES, Place.LOOP})
_OUTPUT = frozenset({">", ">>", ">&", "&>", "&>>"})
# Interpreters and shells that nobody looks through, so that only their name tells them.
_INTERPRETERS = frozenset(
    {"babashka", "bb", "bpftrace", "bpython", "chibi-scheme", "clisp", "clj", "clojure", "cmd"}
    | {"csi", "d8", "dart", "dotnet", "ecl", "elixir", "emacs", "erl", "es", "escript", "fennel"}
    | {"gdb", "ghc", "ghci", "gjs", "gprolog", "groovy", "groovysh", "gsi", "guile", "hy", "iex"}
    | {"ion", "irb", "java", "js", "jshell", "jython", "kotlin", "lldb", "m4", "micropython"}
    | {"mono", "mruby", "nu", "ocaml", "ocamlrun", "octave", "oksh", "pdksh", "powershell", "pwsh"}
    | {"python", "pythonw", "qjs", "racket", "raku", "rc", "rhino", "runghc", "rzsh", "sbcl"}
    | {
        "scala",
        "scheme",
        "swift",
        "swipl",
        "tcc",
        "truffleruby",
        "wasmer",
        "wasmtime",
        "wish",
        "zx",
    }
)
# They run what is written behind them.
_RUNNERS = frozenset(
    {"abduco", "daemonize", "dtach", "i386", "linux32", "linux64", "run-parts", "sudoedit"}
    | {"x86_64"}
)
# These do by some of their words.
_RUN_BY = {
    "cmake": {"-E", "-P"},
    "crystal": {"eval", "run"},
    "dune": {"exec"},
    "go": {"run"},
    "machinectl": {"shell"},
    "mise": {"exec", "run", "x"},
    "nim": {"e", "r"},
    "nix": {"develop", "run", "shell"},
    "opam": {"exec"},
}
_NOT_ITSELF = _INTERPRETERS | _RUNNERS
_VARIANT = expression(r"[-.\d]*(?:-(?:dbg|cli|console|preview|script))?[-.\d]*$", re.ASCII)
# A script may write elsewhere, and so put another program there.
_SYSTEM = ("/bin/", "/sbin/", "/usr/bin/", "/usr/sbin/", "/usr/lib/", "/usr/libexec/")


def grantable(script: Script, at: int) -> str:
    """The rule that would cover one command of a script and nothing else; nothing if none can."""
    rule = _rule(script, script.commands[at])
    return rule if rule and _is_plain(script, at) and _is_undisturbed(script, at) else ""


def granted(script: Script, rules: Iterable[str]) -> dict[int, str]:
    """The commands of a script that these rules cover, by their position, and which rule does."""
    known = frozenset(rules)
    found: dict[int, str] = {}
    for at, command in enumerate(script.commands if known else ()):
        rule = "" if command.via else _rule(script, command)
        if rule in known and grantable(script, at):
            found |= dict.fromkeys((at, *_below(script, at)), rule)
    return found


def without(script: Script, covered: Mapping[int, str]) -> Script:
    """The rest of a script, for rules that have been heard about the whole of it already."""
    rest = tuple(each for at, each in enumerate(script.commands) if at not in covered)
    return replace(script, commands=rest)


def _rule(script: Script, command: Command) -> str:
    """The rule that is a command as it is written, if that can be shown whole and be a rule."""
    start, end = command.span
    text = script.text[start:end] if end - start <= _MOST_CHARACTERS else ""
    shown = text.isprintable() and text.isascii() and text == collapsed(text)
    return f"{TOOL}({text})" if text and shown and not _SPECIAL & {*text} else ""


def _is_plain(script: Script, at: int) -> bool:
    """Whether the text says all that would run: no other program by its words, nothing fed in."""
    command = script.commands[at]
    return (
        not command.via
        and bool(command.words)
        and all(word.value is not None and not word.expansions for word in command.words)
        and not command.assignments
        and all(each.operator in _OUTPUT for each in command.redirections)
        and not redirection_gap(command)
        and command.cwd in {CWD, script.surroundings.cwd}
        and _STAGED.isdisjoint(command.places)
        and all(_is_itself(script.commands[each], script) for each in (at, *_below(script, at)))
    )


def _is_itself(command: Command, script: Script) -> bool:
    """Whether a program does no more than its name says, and is one that no script rewrites."""
    name = command.words[0].value if command.words else None
    return (
        name is not None
        and ("/" not in name or (name.startswith(_SYSTEM) and ".." not in name))
        and (_CHANGES | _MOVES).isdisjoint(command.names)
        and _NOT_ITSELF.isdisjoint({*command.names, *map(_plain_name, command.names)})
        and not any(_runs_by_a_word(each, command) for each in command.names)
        and all(via.kind is ViaKind.TRANSPARENT for via in command.via)
        and not runs_others(command)
        and not any(further_reach(command, script))
    )


def _runs_by_a_word(name: str, command: Command) -> bool:
    return not _RUN_BY.get(name, set[str]()).isdisjoint(word.value or "" for word in command.words)


def _plain_name(name: str) -> str:
    """A program's name without its version, or what tells its variants apart."""
    return _VARIANT.sub("", name, count=1)


def _is_undisturbed(script: Script, at: int) -> bool:
    """Whether nothing else in the script could change what the command's words mean."""
    if script.once(_sets_unlisted):
        return False
    own = {at, *_below(script, at)}
    return all(each in own for each in script.once(_disturbing))


def _sets_unlisted(script: Script) -> bool:
    """Whether something could set variables that is not to be seen in the list of commands."""
    text = script.text
    joined = text.replace(_CONTINUATION, "")
    return bool(script.unreadable or _SETS.search(text) or _SETS.search(joined))


def _disturbing(script: Script) -> tuple[int, ...]:
    """The commands after which, or beside which, no text means what it did."""
    return tuple(
        at
        for at, each in enumerate(script.commands)
        if not _leaves_all(each) or not _moves_first_or_never(at, each)
    )


def _moves_first_or_never(at: int, command: Command) -> bool:
    """Whether nothing can have put another folder in the place of the one it goes to."""
    if _MOVES.isdisjoint(command.names):
        return True
    written_out = all(word.value is not None and not word.expansions for word in command.words)
    return at == 0 and not command.redirections and written_out


def _leaves_all(command: Command) -> bool:
    return (
        bool(command.words)
        and not command.assignments
        and not setting_gap(command)
        and not command.opaque
        and _CHANGES.isdisjoint(command.names)
        and Place.FUNCTION not in command.places
        and all(via.kind is not ViaKind.FUNCTION for via in command.via)
    )


def _below(script: Script, at: int) -> Iterator[int]:
    """What a command runs, and what that runs in turn."""
    under = script.once(_runs)
    for each in under.get(at, ()):
        yield each
        yield from _below(script, each)


def _runs(script: Script) -> dict[int, list[int]]:
    return runs(script.commands)
