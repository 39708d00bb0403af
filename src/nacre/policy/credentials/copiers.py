"""Which words of a program that copies, packs or sends are what it takes from."""

from collections.abc import Iterator
from itertools import pairwise, takewhile

from nacre.policy.reading.flags import Grammar, arguments
from nacre.policy.reading.subcommand import past_globals
from nacre.syntax.word import Word

__all__ = ("copied", "packed_by_tar", "packed_by_zip", "shown_by_git")

_COPY = Grammar(
    long=frozenset({"target-directory", "suffix", "mode", "owner", "group", "rsh", "exclude"}),
    valued=frozenset("tSmogePFilJcDXW")
    | {"target-directory", "suffix", "mode", "owner", "group", "rsh", "exclude", "exclude-from"}
    | {"include", "include-from", "files-from", "password-file", "rsync-path", "filter"},
)
_TAR = Grammar(
    long=frozenset({"create", "append", "update", "file", "exclude", "directory", "exclude-from"}),
    valued=frozenset("fCXTbgHIKNVL")
    | {"file", "exclude", "directory", "exclude-from", "files-from", "transform", "use-compress"},
)
_DIFFS = frozenset({"p", "u", "patch", "cc", "c", "L", "G", "S"})
_GIT = Grammar(
    long=frozenset({"patch", "message", "cached", "no-index", "file"}),
    valued=frozenset({"m", "F", "message", "file", "L", "S", "G", "format", "o", "output"}),
)


def copied(words: tuple[Word, ...]) -> tuple[tuple[Word, ...], Word | None]:
    """What is copied, moved or linked, and where to; the folder of `-t`, if that is how it is said."""
    given = arguments(words, _COPY)
    if given.has("t", "target-directory"):
        return given.operands, _target(words)
    if len(given.operands) < len(("from", "to")):
        return given.operands, None
    return given.operands[:-1], given.operands[-1]


def _target(words: tuple[Word, ...]) -> Word | None:
    for word, following in zip(words, (*words[1:], None), strict=False):
        text = word.templates[0]
        if text.startswith("--t") and "=" in text:
            return word._replace(templates=(text.partition("=")[2],))
        if text.startswith("--t") or (text.startswith("-") and text.endswith("t")):
            return following
    return None


def packed_by_tar(words: tuple[Word, ...]) -> Iterator[Word]:
    """What goes into an archive; what comes out of one is not read here."""
    if words and not words[0].templates[0].startswith("-"):
        # `tar czf x y` is `tar -czf x y`.
        words = (words[0]._replace(templates=(f"-{words[0].templates[0]}",)), *words[1:])
    given = arguments(words, _TAR)
    if not given.has("c", "r", "u", "A", "create", "append", "update"):
        return
    folder = ""
    for option, value in pairwise(words):
        if option.value in {"-C", "--directory"}:
            folder = f"{value.templates[0]}/"
    for word in given.operands:
        yield word
        if folder:
            yield word._replace(templates=tuple(folder + each for each in word.templates))


def packed_by_zip(words: tuple[Word, ...]) -> Iterator[Word]:
    """What goes into an archive, up to what is left out of it."""
    kept = takewhile(lambda word: word.templates[0] not in {"-x", "--exclude"}, words)
    yield from arguments(tuple(kept), Grammar()).operands[1:]


def shown_by_git(words: tuple[Word, ...]) -> Iterator[Word]:
    """The files, here or in history, whose content a git command shows or packs."""
    texts = ("git", *(word.templates[0] for word in words))
    texts = past_globals(texts) or texts
    if len(texts) == 1:
        return
    subcommand, rest = texts[1], words[len(words) - len(texts) + 2 :]
    given = arguments(rest, _GIT)
    shows = subcommand in {"show", "cat-file", "diff", "blame", "annotate", "archive", "difftool"}
    if subcommand == "grep":
        yield from given.operands[1:]
    elif (shows and not given.has("stat", "name-only", "name-status", "quiet")) or (
        subcommand in {"log", "stash", "whatchanged"} and given.options & _DIFFS
    ):
        for word in given.operands:
            yield word
            # `HEAD:.env`, a file of a commit.
            if ":" in word.templates[0]:
                yield word._replace(
                    templates=tuple(each.partition(":")[2] for each in word.templates)
                )
