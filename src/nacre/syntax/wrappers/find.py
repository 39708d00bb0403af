"""The commands that `find` and `fd` run on what they find, and the names of what that is."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import field

from nacre.model.expression import expression
from nacre.model.value import dataclass
from nacre.syntax.script import ViaKind
from nacre.syntax.word import HOLE, QUERY, STAR, Word, known
from nacre.syntax.wrappers.inner import Inner, Invocation, derived
from nacre.syntax.wrappers.options import Unknown, options, readings
from nacre.syntax.wrappers.prefix import names

__all__ = ("fd", "find", "found_paths")

_EXECUTES = names("-exec -execdir -ok -okdir")
_NAMED = names("-name -iname")
_PATHS = names("-path -ipath -wholename -iwholename")
_NOT = names("! -not")
_OTHERWISE_PRINTED = names("-printf -ls -fprint -fprint0 -fls -fprintf -delete")
# What says nothing of which files are found, with the number of words it takes.
_OPEN = {
    **dict.fromkeys(names("-maxdepth -regextype -D"), 1),
    **dict.fromkeys(names("-depth -d -mount -xdev -follow -print -print0 -ls -quit -prune"), 0),
    **dict.fromkeys(
        names("-noleaf -ignore_readdir_race -warn -nowarn -true ( ) -o -or -a -and ,"), 0
    ),
}
_GLOB = expression(r"\\(.)|\*+|\?|\[[^]\[/]+\]")
_MOST_NAMES = 12


@dataclass(slots=True)
class _Search:
    """What an expression has said so far of the files it finds."""

    starts: list[str] = field(default_factory=list[str])
    found: list[str] = field(default_factory=list[str])
    only_starts: bool = False
    tested: bool = False

    def paths(self) -> tuple[str, ...]:
        """The templates of what is found here."""
        if self.only_starts:
            return tuple(self.starts[:_MOST_NAMES]) or (".",)
        if self.found:
            return tuple(dict.fromkeys(self.found[:_MOST_NAMES]))
        below = [f"{each.rstrip('/')}/{HOLE}" for each in self.starts]
        return tuple((below if self.tested else self.starts + below)[:_MOST_NAMES]) or (HOLE,)


def find(invocation: Invocation) -> Iterator[Inner]:
    """The commands after `-exec` and its like, with what is found in the place of `{}`."""
    via = invocation.via(ViaKind.FANOUT)
    for search, command in _walk(invocation.arguments):
        if command:
            item = search.paths()
            words = tuple(_filled(word, item) for word in command)
            yield Inner(via=via, words=words)


def found_paths(arguments: Sequence[Word]) -> str | None:
    """What `find` prints, a line for each name it looks for; nothing if that is not known."""
    *before, (search, _) = _walk(arguments)
    options = {word.value for word in arguments}
    if before or options & _OTHERWISE_PRINTED or not (search.found or search.only_starts):
        return None
    end = "\0" if "-print0" in options else "\n"
    return "".join(f"{each}{end}" for each in search.paths())


def _walk(words: Sequence[Word]) -> Iterator[tuple[_Search, Sequence[Word]]]:
    """Every command of an expression, and at last none, with what was said before it."""
    search = _Search()
    at = _starts(words, search)
    negated = False
    while at < len(words):
        option = words[at].templates[0]
        if not _EXECUTES.isdisjoint(words[at].templates):
            end = _end(words, at + 1)
            yield search, words[at + 1 : end]
            at, negated = end + 1, False
        elif option in _NOT:
            at, negated = at + 1, True
        else:
            at = _test(words, at, search, negated=negated)
            negated = False
    yield search, ()


def _starts(words: Sequence[Word], search: _Search) -> int:
    at = 0
    while at < len(words) and words[at].value in {"-H", "-L", "-P"}:
        at += 1
    while at < len(words) and words[at].templates[0][:1] not in {"-", "!", "(", ","}:
        search.starts += words[at].templates
        at += 1
    if not search.starts:
        search.starts.append(".")
    return at


def _test(words: Sequence[Word], at: int, search: _Search, *, negated: bool) -> int:
    """Note what one test says; where the next one begins."""
    option = words[at].templates[0]
    if option in _OPEN:
        value = words[at + 1].value if at + 1 < len(words) else None
        search.only_starts |= option == "-maxdepth" and value == "0"
        return at + 1 + _OPEN[option]
    if option[:1] == "-":
        search.tested = True
    if option in _NAMED | _PATHS and at + 1 < len(words):
        if not negated:
            search.found += _patterns(words[at + 1], option)
        return at + 2
    return at + 1


def _patterns(word: Word, option: str) -> Iterator[str]:
    whole = option in _PATHS
    for template in word.templates:
        text = _GLOB.sub(_wild_path if whole else _wild, template)
        if not whole:
            text = f"{HOLE}/{text}"
        yield text
        if option.startswith(("-i",)) and text != text.lower():
            yield text.lower()


def _wild(found: re.Match[str]) -> str:
    if found[1]:
        return found[1]
    return STAR if found[0][0] == "*" else QUERY


def _wild_path(found: re.Match[str]) -> str:
    # To `-path`, a star is any text, slashes included.
    wild = _wild(found)
    return HOLE if wild == STAR else wild


def _end(words: Sequence[Word], start: int) -> int:
    """Where a command ends: at `;`, or at `+` after `{}`."""
    for at in range(start, len(words)):
        value = words[at].value
        if value == ";" or (value == "+" and at > start and words[at - 1].value == "{}"):
            return at
    return len(words)


def _filled(word: Word, item: tuple[str, ...]) -> Word:
    if not any("{}" in each for each in word.templates):
        return word
    texts = (each.replace("{}", path) for each in word.templates for path in item)
    return derived(word, *dict.fromkeys(texts))


_FD = options(
    "-d -t -e -E -S -o -j -c --max-depth --min-depth --exact-depth --type --extension --exclude"
    " --size --changed-within --changed-before --owner --threads --color --max-results"
    " --base-directory --search-path --path-separator --ignore-file --format --batch-size --and",
    "-H -I -u -s -i -g -F -a -l -L -p -0 -1 -q --hidden --no-ignore --unrestricted --glob --absolute-path"
    " --case-sensitive --ignore-case --fixed-strings --list-details --follow --full-path --print0"
    " --quiet --prune --one-file-system --no-ignore-vcs --show-errors --strip-cwd-prefix",
    unknown=Unknown.PLAIN,
    style="permuted",
)
_FD_EXECUTES = expression(r"-[HIusigFalLp01q]*[xX]$|--exec(?:-batch)?$")
_FD_PLACES = ("{}", "{/}", "{//}", "{.}", "{/.}")
_EXTENSION = names("-e --extension")
_SIMPLE = expression(r"\^?((?:[\w-]|\\?\.)+)\$?$")


def fd(invocation: Invocation) -> Iterator[Inner]:
    """The command after `-x` or `-X`, up to `;` or the end."""
    words = invocation.arguments
    matches = (at for at, word in enumerate(words) if _FD_EXECUTES.match(word.templates[0]))
    start = next(matches, None)
    if start is None:
        return
    end = next((at for at in range(start, len(words)) if words[at].value == ";"), len(words))
    command = words[start + 1 : end]
    if not command:
        return
    item = _fd_paths(words[:start] + words[end + 1 :])
    placed = any(
        place in each for word in command for each in word.templates for place in _FD_PLACES
    )
    if placed:
        command = tuple(_fd_filled(word, item) for word in command)
    else:
        command = (*command, derived(command[0], *item))
    yield Inner(via=invocation.via(ViaKind.FANOUT), words=command)


def _fd_filled(word: Word, item: tuple[str, ...]) -> Word:
    for place in _FD_PLACES:
        texts = (each.replace(place, path) for each in word.templates for path in item)
        word = derived(word, *dict.fromkeys(texts)) if _holds(word, place) else word
    return word


def _holds(word: Word, text: str) -> bool:
    return any(text in each for each in word.templates)


def _fd_paths(words: tuple[Word, ...]) -> tuple[str, ...]:
    """What `fd` finds: a pattern is a regular expression, and only a simple one says a name."""
    reading = readings(words, _FD)[0]
    pattern = reading.operands[0].value if reading.operands else None
    if pattern and (simple := _SIMPLE.match(pattern)):
        return (f"{HOLE}/{simple[1].replace(chr(92), '')}",)
    extension = reading.value(_EXTENSION)
    if extension and not any(not known(each) for each in extension.templates):
        return tuple(f"{HOLE}/{STAR}.{each}" for each in extension.templates)
    return (HOLE,)
