"""What a yes for always is worth: one command, to the letter, where nothing around it changes it.

A person who says so has seen one script. What is remembered is the narrowest rule that
covers the command they were asked about: its text, without any star. It counts only where
that text means the same again: every word is written out, nothing is fed into it, and nothing
before it in the script changes what its words would run. Whatever runs other programs
by its words (shells, interpreters, `env`, `sudo`) is never remembered.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

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
# They change what later words run, or where: after them no text means what it did.
_CHANGES = frozenset(
    {".", "alias", "bind", "builtin", "command", "declare", "enable", "eval", "exec", "export"}
    | {"getopts", "hash", "let", "local", "mapfile", "popd", "printf", "pushd", "read", "readarray"}
    | {"readonly", "set", "shopt", "source", "trap", "typeset", "ulimit", "umask", "unalias"}
    | {"unset"}
)
# Arithmetic can set variables, and is not listed among the commands.
_ARITHMETIC = "(("
# What a word is expanded by, and what a rule takes for more than itself.
_SPECIAL = frozenset("*?[{~$`\\")
_STAGED = frozenset({Place.PIPED_IN, Place.GUESSED, Place.FUNCTION, Place.ITERATES, Place.LOOP})
_OUTPUT = frozenset({">", ">>", ">&", "&>", "&>>"})


def grantable(script: Script, at: int) -> str:
    """The rule that would cover one command of a script and nothing else; nothing if none can."""
    command = script.commands[at]
    text = _text(script, command)
    if not text or not _is_plain(script, at) or not _is_undisturbed(script, at):
        return ""
    return f"{TOOL}({text})"


def granted(script: Script, rules: Iterable[str]) -> dict[int, str]:
    """The commands of a script that these rules cover, by their position, and which rule does."""
    known = frozenset(rules)
    found: dict[int, str] = {}
    for at, command in enumerate(script.commands):
        if known and not command.via and (rule := grantable(script, at)) in known:
            found |= dict.fromkeys((at, *_below(script, at)), rule)
    return found


def without(script: Script, covered: Mapping[int, str]) -> Script:
    """The rest of a script, for rules that have been heard about the whole of it already."""
    rest = tuple(each for at, each in enumerate(script.commands) if at not in covered)
    return replace(script, commands=rest)


def _text(script: Script, command: Command) -> str:
    """A command as it is written, if it can be shown whole and be a rule."""
    text = script.text[slice(*command.span)]
    shown = len(text) <= _MOST_CHARACTERS and text.isprintable() and text.isascii()
    return text if shown and text == collapsed(text) and not _SPECIAL & {*text} else ""


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
    """Whether a program does no more than its name says, and is one that nobody rewrites."""
    name = command.words[0].value if command.words else None
    return (
        name is not None
        and ("/" not in name or name.startswith("/"))
        and all(via.kind is ViaKind.TRANSPARENT for via in command.via)
        and not runs_others(command)
        and not any(further_reach(command, script))
    )


def _is_undisturbed(script: Script, at: int) -> bool:
    """Whether nothing else in the script could change what the command's words mean."""
    if script.unreadable or _ARITHMETIC in script.text:
        return False
    below = {at, *_below(script, at)}
    others = (each for number, each in enumerate(script.commands) if number not in below)
    return all(
        bool(other.words)
        and not other.assignments
        and not setting_gap(other)
        and not other.opaque
        and _CHANGES.isdisjoint(other.names)
        and Place.FUNCTION not in other.places
        and all(via.kind is not ViaKind.FUNCTION for via in other.via)
        for other in others
    )


def _below(script: Script, at: int) -> Iterator[int]:
    """What a command runs, and what that runs in turn."""
    under = script.once(_runs)
    for each in under.get(at, ()):
        yield each
        yield from _below(script, each)


def _runs(script: Script) -> dict[int, list[int]]:
    return runs(script.commands)
