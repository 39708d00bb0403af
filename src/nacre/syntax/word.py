"""A word as far as it is known before the script runs.

A *template* is a string in which a few characters stand for what is not known.
They are lone surrogates, which no script can hold, since bash could not be given
them; so a template that has none of them is exactly the word.
"""

from typing import NamedTuple

from nacre.model.expression import expression
from nacre.syntax.tree import Span

__all__ = (
    "CWD",
    "FIELDS",
    "HOLE",
    "HOME",
    "MARKS",
    "QUERY",
    "SET",
    "STAR",
    "UNKNOWN",
    "Expansion",
    "Word",
    "known",
    "shown",
)

HOLE = "\ud800"  # some text, perhaps none
SET = "\ud801"  # some text, surely not empty
FIELDS = "\ud802"  # not quoted: any number of words, perhaps none
STAR = "\ud803"  # `*` of a glob: any characters of a file name
QUERY = "\ud804"  # `?` or `[...]` of a glob: one character
HOME = "\ud805"  # the home directory, because it was written `~` or `$HOME`
CWD = "\ud806"  # the directory the script starts in

UNKNOWN = HOLE + SET + FIELDS  # text of which nothing is known
MARKS = UNKNOWN + STAR + QUERY + HOME + CWD

_MARK = expression(f"[{MARKS}]")
_SHOWN = {HOLE: "…", SET: "…", FIELDS: "…", STAR: "*", QUERY: "?", HOME: "~", CWD: "."}


class Expansion(NamedTuple):
    """A variable whose value becomes part of a word, and how: `operator` as in `Parameter`."""

    name: str
    operator: str


class Word(NamedTuple):
    """One word after expansion: every template it could have, at least one.

    `source` is how it was written. `expansions` are the variables it shows the
    value of, known or not.
    """

    source: str
    span: Span
    templates: tuple[str, ...]
    expansions: tuple[Expansion, ...] = ()

    @property
    def value(self) -> str | None:
        """The word itself, if it can be only one."""
        templates = self.templates
        return templates[0] if len(templates) == 1 and known(templates[0]) else None

    @property
    def values(self) -> tuple[str, ...]:
        """Those of its possible values that are known whole."""
        return tuple(each for each in self.templates if known(each))

    @property
    def opaque(self) -> bool:
        """Whether it could be something that is not known."""
        templates = self.templates
        if len(templates) == 1:
            return not known(templates[0])
        return not all(map(known, templates))


def known(template: str) -> bool:
    """Whether nothing of a template is left open."""
    return template.isascii() or _MARK.search(template) is None


def shown(template: str) -> str:
    """A template for a person to read."""
    return _MARK.sub(lambda found: _SHOWN[found[0]], template)
