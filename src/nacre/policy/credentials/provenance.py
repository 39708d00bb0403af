"""Where the variables of a script have their values from."""

from nacre.policy.credentials.secret_names import NamePredicate
from nacre.syntax.script import Command, Place, Script
from nacre.syntax.word import HOLE, Expansion, Word

__all__ = ("Provenance",)

_DECLARING = frozenset({"declare", "export", "local", "readonly", "typeset"})
_READING = frozenset({"read", "mapfile", "readarray"})
_NOT_SURELY = frozenset(
    {Place.BRANCH, Place.SUBSHELL, Place.SUBSTITUTION, Place.FUNCTION, Place.LOOP}
    | {Place.PIPED_IN, Place.PIPED_OUT, Place.BACKGROUND}
)


class Provenance:
    """Which variables hold secrets."""

    def __init__(self, is_secret: NamePredicate) -> None:
        self._is_secret = is_secret

    def holds_secret(self, name: str, script: Script) -> bool:
        """Whether a variable has a secret in it: by its name, or because it was given one.

        A variable that the script itself sets to something else has none.
        """
        given, own = script.once(self._trace)
        return name in given or (self._is_secret(name) and name not in own)

    def _trace(self, script: Script) -> tuple[frozenset[str], frozenset[str]]:
        given: set[str] = set()
        own: set[str] = set()
        for command in script.commands:
            surely = not command.words and _NOT_SURELY.isdisjoint(command.places)
            for name, words in _set_by(command):
                if self._from_secret(name, words, given):
                    given.add(name)
                elif surely or not name.isupper():
                    own.add(name)
        return frozenset(given), frozenset(own)

    def _from_secret(self, name: str, words: tuple[Word, ...], given: set[str]) -> bool:
        return any(
            expansion.name in given or (expansion.name != name and self._is_secret(expansion.name))
            for word in words
            if word.opaque
            for expansion in word.expansions
        )


def _set_by(command: Command) -> list[tuple[str, tuple[Word, ...]]]:
    """Names that a command gives values to, and the words these come from."""
    found = [(assigned.name, assigned.words) for assigned in command.assignments]
    names = command.names
    if not names:
        return found
    if not _DECLARING.isdisjoint(names):
        refers = any(word.templates[0][:2] == "-n" for word in command.words[1:])
        for word in command.words[1:]:
            name, sign, value = word.templates[0].partition("=")
            if sign:
                found.append((name, (_referring(word, value) if refers else word,)))
    elif not _READING.isdisjoint(names):
        sources = tuple(
            source
            for each in command.redirections
            if (source := each.body or (each.target if each.operator == "<<<" else None))
        )
        found += [(word.templates[0], sources) for word in command.words[1:]]
    elif "printf" in names and command.words[1:2] and command.words[1].value == "-v":
        found += [(word.templates[0], command.words[3:]) for word in command.words[2:3]]
    return found


def _referring(word: Word, name: str) -> Word:
    """What `declare -n x=name` makes of `x`: another name for `name`."""
    return word._replace(templates=(HOLE,), expansions=(Expansion(name, ""),))
