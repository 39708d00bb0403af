"""Programs that are written before the command they run: `sudo`, `timeout`, `npx`."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import field

from nacre.model.expression import expression
from nacre.model.value import dataclass
from nacre.syntax.script import ViaKind
from nacre.syntax.word import FIELDS, Word
from nacre.syntax.wrappers.inner import Inner, Invocation, Reader, changed
from nacre.syntax.wrappers.options import Options, Reading, options, readings

__all__ = ("ALL", "LOOKUPS", "Prefix", "behind", "is_option", "names", "prefixed", "subcommands")

LOOKUPS = frozenset({"--help", "--version"})
# Of a program whose operands are never the command, unless `--` comes before them.
ALL = 1 << 30
_ASSIGNMENT = expression(r"[^=/\s-][^=/\s]*=")


@dataclass(frozen=True, slots=True, kw_only=True)
class Prefix:
    """How a program is given the command it runs: after its options and its own operands.

    `operands` are its own, which look like `shape` if they can be left out.
    `codes` are options whose value a shell reads, `folders` those that say where
    it runs, `idle` those with which nothing is run. `assigns`: `NAME=value` may
    come first. `joins`: the words are joined and read by a shell. `login`: without
    a command it is a shell that reads its input. `dashed`: the command
    is what follows `--`, if there is one.
    """

    options: Options = field(default_factory=options)
    kind: ViaKind = ViaKind.EXEC
    operands: int = 0
    shape: re.Pattern[str] | None = None
    codes: frozenset[str] = frozenset()
    folders: frozenset[str] = frozenset()
    idle: frozenset[str] = LOOKUPS
    assigns: bool = False
    joins: bool = False
    login: bool = False
    dashed: bool = False


def names(text: str) -> frozenset[str]:
    """Names of options, written one after another."""
    return frozenset(text.split())


def prefixed(prefix: Prefix) -> Reader:
    """Read commands of one program by its prefix."""

    def read(invocation: Invocation) -> Iterator[Inner]:
        return behind(prefix, invocation)

    return read


def behind(prefix: Prefix, invocation: Invocation) -> Iterator[Inner]:
    """What a program runs, in every way its words can be read."""
    via = invocation.via(prefix.kind)
    for reading in readings(invocation.arguments, prefix.options):
        if reading.has(prefix.idle):
            continue
        codes = reading.values(prefix.codes)
        yield from (Inner(via=via, code=(code,)) for code in codes)
        folder = reading.value(prefix.folders)
        for assigned, words in _commands(prefix, reading):
            if words and prefix.joins:
                yield Inner(via=via, code=words, cwd=folder)
            elif words and not is_option(words[0]):
                yield Inner(via=via, words=words, cwd=folder, assignments=assigned)
            elif not words and prefix.login and not codes and invocation.stdin:
                yield Inner(via=via, code=(invocation.stdin,), cwd=folder)


_Command = tuple[tuple[tuple[str, Word], ...], tuple[Word, ...]]


def _commands(prefix: Prefix, reading: Reading) -> Iterator[_Command]:
    for words in _dashed(prefix, reading) if prefix.dashed else _plain(prefix, reading):
        if prefix.assigns:
            yield from _assigned(words)
        else:
            yield (), words


def _plain(prefix: Prefix, reading: Reading) -> Iterator[tuple[Word, ...]]:
    operands, own = reading.operands, prefix.operands
    if own and operands:
        fits = prefix.shape is not None and _fits(prefix.shape, operands[0])
        if reading.skipped and not (fits or reading.named):
            return
        if prefix.shape and not fits:
            own = 0
    yield tuple(operands[own:])


def _dashed(prefix: Prefix, reading: Reading) -> Iterator[tuple[Word, ...]]:
    """What follows `--`; or what follows its own operands, where that could be a command."""
    operands = reading.operands
    if reading.before is not None:
        yield tuple(operands[reading.before :])
        return
    dashes = next((at for at, word in enumerate(operands) if word.value == "--"), None)
    if dashes is not None:
        yield tuple(operands[dashes + 1 :])
    own = operands[prefix.operands : dashes]
    if own and not is_option(own[0]):
        yield tuple(operands[prefix.operands :])
    elif own and dashes is None:
        yield from (tuple(each.operands) for each in readings(own, prefix.options))


def _assigned(words: tuple[Word, ...]) -> Iterator[_Command]:
    """Cut off assignments; a word that is not known could be some, or the command."""
    assigned: list[tuple[str, Word]] = []
    doubtful = False
    for at, word in enumerate(words):
        if _ASSIGNMENT.match(word.templates[0]):
            name = word.templates[0].partition("=")[0]
            assigned.append((name, changed(word, lambda text: text.partition("=")[2])))
        elif _could_assign(word) and at + 1 < len(words) and not doubtful:
            doubtful = True
            yield tuple(assigned), words[at:]
        else:
            yield tuple(assigned), words[at:]
            return
    yield tuple(assigned), ()


def _could_assign(word: Word) -> bool:
    """Whether it is unknown, or has an equals sign in a place that only `env` does not mind."""
    return word.templates[0] == FIELDS or "=" in word.templates[0]


def _fits(shape: re.Pattern[str], word: Word) -> bool:
    return any(shape.match(each) for each in word.templates) or word.opaque


def is_option(word: Word) -> bool:
    """Whether a word is surely no command."""
    value = word.value
    return value is not None and (not value or value[0] == "-")


def subcommands(before: Options, readers: Mapping[str, Reader]) -> Reader:
    """Read commands of a program by their subcommand, past the options before it."""

    def read(invocation: Invocation) -> Iterator[Inner]:
        for reading in readings(invocation.arguments, before):
            first, rest = reading.operands[:1], tuple(reading.operands[1:])
            for each in first[0].values if first else ():
                if reader := readers.get(each):
                    yield from reader(invocation._replace(arguments=rest))

    return read
