"""What one written word becomes: no, one or several fields, perhaps in several ways."""

import re
from typing import NamedTuple

from nacre.model.expression import expression
from nacre.syntax.tree import Span
from nacre.syntax.word import FIELDS, QUERY, STAR, Expansion, Word, known

__all__ = ("Growing", "Option", "Reading", "append", "as_readings", "globbed")

Reading = tuple[Word, ...]

_WHITE = expression(r"[ \t\n]+")
_GLOB = expression(r"\*+|\?|\[[!^]?\]?[^\]\[/]*\]")


class Option(NamedTuple):
    """One thing a part could become: several fields, of which all but quoted ones split."""

    fields: tuple[str, ...]
    splits: bool = False


class Growing(NamedTuple):
    """A reading under construction: finished fields, and the one that is open."""

    fields: tuple[str, ...] = ()
    current: str = ""
    begun: bool = False


def globbed(text: str) -> str:
    """Unquoted text with its glob characters marked."""
    if "*" not in text and "?" not in text and "[" not in text:
        return text
    return _GLOB.sub(lambda found: STAR if found[0][0] == "*" else QUERY, text)


def append(growing: Growing, option: Option, separators: str) -> Growing:
    """Add what a part became to a reading."""
    fields, current, begun = list(growing.fields), growing.current, growing.begun
    for index, field in enumerate(option.fields):
        if index and (current or begun):
            fields.append(current)
            current, begun = "", False
        if not option.splits:
            current, begun = current + field, True
            continue
        first, *others = _split(globbed(field), separators)
        current, begun = current + first, begun or bool(first)
        for each in others:
            if current or begun:
                fields.append(current)
            current, begun = each, bool(each)
    return Growing(tuple(fields), current, begun)


def _split(text: str, separators: str) -> list[str]:
    if separators == " \t\n":
        return _WHITE.split(text)
    if not separators:
        return [text]
    if not known(separators):
        return [FIELDS] if text else [""]
    return re.split(f"[{re.escape(separators)}]", text)


def as_readings(
    grown: list[Growing], source: str, span: Span, shown: tuple[Expansion, ...]
) -> tuple[Reading, ...]:
    """Make words of what was grown; readings of the same length are one with more values."""
    rows = [
        (*each.fields, each.current) if each.begun or each.current else each.fields
        for each in grown
    ]
    by_length: dict[int, list[tuple[str, ...]]] = {}
    for row in rows:
        by_length.setdefault(len(row), []).append(row)
    return tuple(
        tuple(
            Word(source, span, tuple(dict.fromkeys(column)), shown)
            for column in zip(*same, strict=True)
        )
        for same in by_length.values()
    )
