"""Scripts of sed, as far as they run commands."""

import re
from collections.abc import Iterator
from typing import NamedTuple

from nacre.model.expression import expression
from nacre.syntax.script import ViaKind
from nacre.syntax.word import HOLE, Word
from nacre.syntax.wrappers.inner import Inner, Invocation, derived
from nacre.syntax.wrappers.options import Unknown, options, readings
from nacre.syntax.wrappers.prefix import LOOKUPS, names
from nacre.syntax.wrappers.shells import STDIN_FILES

__all__ = ("Substitution", "scripts", "sed", "substitutions")

_SED = options(
    "-e -f -l --expression --file --line-length",
    "-n -r -E -s -u -z -b --quiet --silent --debug --posix --regexp-extended --separate"
    " --unbuffered --null-data --sandbox --follow-symlinks",
    "-i -I --in-place",
    unknown=Unknown.PLAIN,
    style="permuted",
)
_EXPRESSION = names("-e --expression")
_FILE = names("-f --file")
_IDLE = LOOKUPS | names("--sandbox")

_BLANKS = expression(r"[\s;{}!]*")
_ADDRESS = expression(r"[\d$,+~]+\s*")
_ADDRESS_END = expression(r"[IM\s,]*")
_LABEL = expression(r"[^;\n]*")
_TO_LINE_END = frozenset("aicerRwW")
_GROUP = expression(r"\\(\d|.)|&", re.DOTALL)
_FLAGS = expression(r"[gpiImMe\d]*")


class Substitution(NamedTuple):
    """`s/pattern/replacement/flags`."""

    pattern: str
    replacement: str
    flags: str


def sed(invocation: Invocation) -> Iterator[Inner]:
    """What `e` and `s///e` have a shell read."""
    via = invocation.via(ViaKind.CODE)
    for script in scripts(invocation):
        for template in script.templates:
            for code in _codes(template):
                if code:
                    yield Inner(via=via, code=(derived(script, code),))
                elif invocation.stdin:
                    yield Inner(via=via, code=(invocation.stdin,))


def scripts(invocation: Invocation) -> list[Word]:
    """The scripts that `sed` is given in words, or in its input."""
    found: list[Word] = []
    for reading in readings(invocation.arguments, _SED):
        if reading.has(_IDLE):
            continue
        found += reading.values(_EXPRESSION)
        files = reading.values(_FILE)
        if invocation.stdin and any(each.value in {"-", *STDIN_FILES} for each in files):
            found.append(invocation.stdin)
        if not found and not files:
            found += reading.operands[:1]
    return found


def substitutions(script: str) -> list[Substitution] | None:
    """The substitutions of a script that has nothing else, if all are made on every line."""
    found: list[Substitution] = []
    for name, at in _commands(script):
        addressed = script[: at - 1].rstrip(" ")[-1:] not in {"", ";", "\n"}
        if name != "s" or addressed or (parts := _parts(script, at)) is None:
            return None
        found.append(parts[0])
    return found


def _codes(script: str) -> Iterator[str]:
    """The texts a shell reads; an empty one stands for the line that was read."""
    for name, at in _commands(script):
        if name == "e":
            yield script[at : _line(script, at)].strip()
        elif name == "s" and (parts := _parts(script, at)) and "e" in parts[0].flags:
            yield _GROUP.sub(_inserted, parts[0].replacement)


def _inserted(found: re.Match[str]) -> str:
    return HOLE if found[0] == "&" or found[1].isdecimal() else found[1]


def _commands(script: str) -> Iterator[tuple[str, int]]:
    """Every command's letter, and where what follows it begins."""
    at = _skipped(script, 0)
    while at < len(script):
        yield script[at], at + 1
        at = _skipped(script, _end(script, at + 1))


def _skipped(script: str, at: int) -> int:
    """Where the next command's letter stands, past separators and addresses."""
    while at < len(script):
        at = _match_end(_BLANKS, script, at)
        first = script[at : at + 1]
        if first == "#":
            at = _line(script, at)
        elif first in {"/", "\\"} and at + 1 < len(script):
            opening = at if first == "/" else at + 1
            at = _match_end(_ADDRESS_END, script, _delimited(script, opening))
        elif found := _ADDRESS.match(script, at):
            at = found.end()
        else:
            return at
    return at


def _match_end(pattern: re.Pattern[str], text: str, at: int) -> int:
    found = pattern.match(text, at)
    return found.end() if found else at


def _end(script: str, at: int) -> int:
    """Where a command ends, what follows its letter beginning here."""
    name = script[at - 1]
    if name in _TO_LINE_END:
        return _line(script, at)
    if name == "s":
        parts = _parts(script, at)
        return parts[1] if parts else len(script)
    if name == "y":
        middle = _delimited(script, at)
        return _delimited(script, at, middle)
    if name in ":btT":
        return _match_end(_LABEL, script, at)
    return at


def _line(text: str, at: int) -> int:
    """Where a line ends, with those it is continued on by a backslash."""
    end = text.find("\n", at)
    while end > at and text[end - 1] == "\\":
        end = text.find("\n", end + 1)
    return len(text) if end < 0 else end


def _delimited(text: str, opening: int, start: int | None = None) -> int:
    """Where a text ends, past its delimiter, which stands at its opening."""
    delimiter = text[opening : opening + 1]
    at = opening + 1 if start is None else start
    while at < len(text) and text[at] != delimiter:
        at += 2 if text[at] == "\\" else 1
    return min(at + 1, len(text))


def _parts(script: str, at: int) -> tuple[Substitution, int] | None:
    delimiter = script[at : at + 1]
    if not delimiter or delimiter in "\n\\":
        return None
    middle = _delimited(script, at)
    end = _delimited(script, at, middle)
    after = _match_end(_FLAGS, script, end)
    closed = end > middle and script[end - 1] == delimiter
    replacement = script[middle : end - 1 if closed else end]
    unescaped = replacement.replace("\\" + delimiter, delimiter)
    return Substitution(script[at + 1 : middle - 1], unescaped, script[end:after]), after
