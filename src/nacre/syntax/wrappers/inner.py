"""A command that another command runs, and the words it is made of."""

import shlex
from collections.abc import Callable, Iterable
from itertools import product
from math import prod
from typing import NamedTuple

from nacre.model.value import dataclass
from nacre.syntax.script import Via, ViaKind
from nacre.syntax.word import HOLE, Word, shown

__all__ = (
    "Inner",
    "Invocation",
    "Reader",
    "changed",
    "derived",
    "joined",
    "quoted",
    "restored",
)

# More possible texts than these are as good as unknown.
_MOST_TEXTS = 24


@dataclass(frozen=True, slots=True, kw_only=True)
class Inner:
    """A command that another command runs: given as words, or as text that is read as bash.

    The texts of `code` are joined by one blank. `positional` are `$0 $1 ...` of
    that code, none if they are not known.
    """

    via: Via
    words: tuple[Word, ...] = ()
    code: tuple[Word, ...] = ()
    positional: tuple[Word, ...] | None = None
    cwd: Word | None = None
    assignments: tuple[tuple[str, Word], ...] = ()


class Invocation(NamedTuple):
    """A command under one of the names it could have.

    `arguments` are the words after the name; `stdin` is the text it reads, if that is known.
    """

    name: str
    program: Word
    arguments: tuple[Word, ...]
    stdin: Word | None = None

    def via(self, kind: ViaKind) -> Via:
        """What a command run by this one is run through."""
        return Via(kind, self.name)


Reader = Callable[[Invocation], Iterable[Inner]]


def derived(word: Word, *templates: str) -> Word:
    """A word made of another one: it stands where that one stands."""
    return Word(
        source=shown(templates[0]),
        span=word.span,
        templates=templates,
        expansions=word.expansions,
    )


def changed(word: Word, change: Callable[[str], str]) -> Word:
    """A word with every text it could be changed the same way."""
    return derived(word, *dict.fromkeys(change(each) for each in word.templates))


def quoted(word: Word) -> Word:
    """A word as bash must be told it, to come out as one word."""
    return changed(word, shlex.quote)


def joined(words: Iterable[Word], separator: str = " ") -> tuple[str, ...]:
    """Every text that several words could make together."""
    choices = [word.templates for word in words]
    if prod(len(each) for each in choices) > _MOST_TEXTS:
        choices = [each if len(each) == 1 else (HOLE,) for each in choices]
    return tuple(dict.fromkeys(separator.join(each) for each in product(*choices)))


def restored(words: Iterable[str]) -> str:
    """Bash code that runs a command of these words."""
    return " ".join(shlex.quote(each) for each in words)
