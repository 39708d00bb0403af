"""What simple programs make of a text they read."""

import base64
import re
import zlib
from collections.abc import Callable, Mapping, Sequence

from nacre.model.expression import expression
from nacre.syntax.ansi import unescape
from nacre.syntax.encodings import decoded, encoded, from_base32, from_base64, from_hex
from nacre.syntax.word import HOLE, known
from nacre.syntax.wrappers.sed import Substitution, substitutions

__all__ = ("FILTERS",)

# From a program's arguments and its input to every output it could have.
Filter = Callable[[Sequence[str], str], Sequence[str]]

_LONGEST = 1 << 20


_SETTING = expression(r"-.|\+?\d+$|.$")


def _same(arguments: Sequence[str], text: str) -> Sequence[str]:
    """Programs that print lines they read: some of them, or in another order."""
    files = [each for each in arguments if not _SETTING.match(each)]
    return () if files and "-" not in arguments else (text,)


def _some(arguments: Sequence[str], text: str) -> Sequence[str]:
    """Programs whose operands are no files: what they let through is some of the lines."""
    del arguments
    return (text,)


def _decoding(
    decode: Callable[[str], bytes], encode: Callable[[bytes], bytes], letters: str
) -> Filter:
    def run(arguments: Sequence[str], text: str) -> Sequence[str]:
        if not known(text):
            return ()
        given = {letter for each in arguments if each[:1] == "-" for letter in each[1:]}
        long = any(each.startswith("--d") for each in arguments)
        if long or not given.isdisjoint(letters):
            return (decoded(decode("".join(text.split()))),)
        return (decoded(encode(encoded(text))) + "\n",)

    return run


def _xxd(arguments: Sequence[str], text: str) -> Sequence[str]:
    letters = "".join(each[1:] for each in arguments if each[:1] == "-")
    if not known(text) or "r" not in letters:
        return ()
    if "p" in letters:
        return (decoded(from_hex("".join(text.split()))),)
    dump = (line.partition(":")[2].partition("  ")[0] for line in text.splitlines())
    return (decoded(from_hex("".join("".join(dump).split()))),)


def _openssl(arguments: Sequence[str], text: str) -> Sequence[str]:
    if "-d" in arguments and any("base64" in each for each in arguments) and known(text):
        return (decoded(from_base64("".join(text.split()))),)
    return ()


def _unzipped(arguments: Sequence[str], text: str) -> Sequence[str]:
    if any(each[:1] != "-" for each in arguments) or not known(text):
        return ()
    try:
        data = zlib.decompressobj(wbits=47).decompress(encoded(text), _LONGEST)
    except zlib.error:
        return ()
    return (decoded(data),) if data else ()


def _gzip(arguments: Sequence[str], text: str) -> Sequence[str]:
    unpacks = any(each[:2] == "--" or "d" in each for each in arguments if each[:1] == "-")
    return _unzipped(arguments, text) if unpacks else ()


def _rev(arguments: Sequence[str], text: str) -> Sequence[str]:
    if any(each[:1] != "-" for each in arguments):
        return ()
    return ("".join(line.rstrip("\n")[::-1] + "\n" for line in text.splitlines(keepends=True)),)


def _tac(arguments: Sequence[str], text: str) -> Sequence[str]:
    if any(each[:1] != "-" for each in arguments):
        return ()
    return ("".join(f"{line}\n" for line in reversed(text.splitlines())),)


_CLASSES = {
    "[:upper:]": "A-Z",
    "[:lower:]": "a-z",
    "[:digit:]": "0-9",
    "[:alpha:]": "A-Za-z",
    "[:alnum:]": "A-Za-z0-9",
    "[:space:]": "\t\n\v\f\r ",
    "[:blank:]": "\t ",
    "[:punct:]": "!-/:-@[-`{-~",
}
_RANGE = expression(r"([\x00-\x7f])-([\x00-\x7f])", re.DOTALL)


def _members(text: str) -> str:
    for name, members in _CLASSES.items():
        text = text.replace(name, members)
    return _RANGE.sub(
        lambda found: "".join(map(chr, range(ord(found[1]), ord(found[2]) + 1))), unescape(text)
    )


def _tr(arguments: Sequence[str], text: str) -> Sequence[str]:
    letters = {letter for each in arguments if each[:1] == "-" for letter in each[1:]}
    sets = [_members(each) for each in arguments if each[:1] != "-" or len(each) == 1]
    if not sets or letters & {"c", "C"} or not all(map(known, arguments)):
        return ()
    if "d" in letters:
        return (text.translate(dict.fromkeys(map(ord, sets[0]))),)
    if len(sets) == 1:
        return (text,)
    if not sets[1]:
        return ()
    first, second = sets[0], sets[1].ljust(len(sets[0]), sets[1][-1])
    return (text.translate(dict(zip(map(ord, first), second, strict=False))),)


_WHOLE = expression(r"\^?(?:\.\*|\\?\(\.[*+]\\?\)|\.\+)\$?$")
_INSERTION = expression(r"&|\\(?:1|([^0-9]))")
_SPECIAL = frozenset("\\.*[]^$+?(){}|&")


def _sed(arguments: Sequence[str], text: str) -> Sequence[str]:
    """Simple substitutions; others are taken to leave a text as it is."""
    scripts = [each for each in arguments if each[:1] != "-"]
    edits = substitutions(scripts[0]) if len(scripts) == 1 else None
    lines = text.splitlines()
    for edit in edits or ():
        changed = [_substituted(edit, line) for line in lines]
        lines = [each for each in changed if each is not None]
        if edits is None or len(lines) < len(changed):
            edits = None
            break
    if edits is None:
        return () if not known(text) else (text,)
    return ("\n".join(lines) + text[len(text.rstrip("\n")) :],)


def _substituted(edit: Substitution, line: str) -> str | None:
    """A line after a substitution; nothing if that takes a regular expression."""
    if _WHOLE.match(edit.pattern):
        inserted = _INSERTION.sub(lambda found: found[1] or "\0", edit.replacement)
        return inserted.replace("\0", line)
    if edit.pattern == "^":
        return edit.replacement + line
    if edit.pattern == "$":
        return line + edit.replacement
    if not _SPECIAL.isdisjoint(edit.pattern + edit.replacement):
        return None
    count = -1 if "g" in edit.flags else 1
    return line.replace(edit.pattern, edit.replacement, count) if edit.pattern else line


_CUT = expression(r"(?:-d ?(.) ?)?-([bcf]) ?(\d{0,6})(-?)(\d{0,6})$")


def _cut(arguments: Sequence[str], text: str) -> Sequence[str]:
    """One range of characters, or of fields."""
    given = " ".join(arguments)
    found = _CUT.match(given)
    if found is None or not known(given):
        return (HOLE,)
    delimiter, letter, first, dash, last = found.groups()
    start = int(first or 1) - 1
    end = int(last) if last else None if dash else start + 1
    lines: list[str] = []
    for line in text.splitlines():
        between = "" if letter in "bc" else (delimiter or "\t")
        parts = list(line) if not between else line.split(between)
        lines.append(between.join(parts[max(start, 0) : end]) if len(parts) > 1 else line)
    return ("".join(f"{line}\n" for line in lines),)


FILTERS: Mapping[str, Filter] = {
    **dict.fromkeys(("sort", "uniq", "head", "tail", "pv", "sponge", "fold", "fmt"), _same),
    **dict.fromkeys(("grep", "egrep", "fgrep", "rg", "tee", "dos2unix", "envsubst"), _some),
    **dict.fromkeys(("base64", "gbase64"), _decoding(from_base64, base64.b64encode, "dD")),
    "base32": _decoding(from_base32, base64.b32encode, "dD"),
    "xxd": _xxd,
    "openssl": _openssl,
    **dict.fromkeys(("gunzip", "zcat"), _unzipped),
    "gzip": _gzip,
    "rev": _rev,
    "tac": _tac,
    "tr": _tr,
    **dict.fromkeys(("sed", "gsed"), _sed),
    "cut": _cut,
}
