"""A text cut into words by programs that are no shell: `env -S`, `xargs`, git's aliases."""

import re
from collections.abc import Iterator

from nacre.model.expression import expression
from nacre.syntax.word import HOLE

__all__ = ("split",)

_WORD = expression(
    r"""(?:[^\s'"\\]|\\.|'[^']*'|"[^"\\]*(?:\\.[^"\\]*)*"|['"\\])+""",
    re.DOTALL,
)
_PIECE = expression(
    r"""'([^']*)'|"([^"\\]*(?:\\.[^"\\]*)*)"|\\(.)|(\$\{\w+\})|([^'"\\$]+|.)""",
    re.DOTALL,
)
_ESCAPED = expression(r"\\(.)", re.DOTALL)


def split(text: str, *, variables: bool = True) -> Iterator[str]:
    """The words of a text, with quotes and backslashes removed.

    Variables are not known; some programs do not expand any.
    """
    if not ("'" in text or '"' in text or "\\" in text or "$" in text):
        yield from text.split()
        return
    for word in _WORD.finditer(text):
        yield "".join(_pieces(word[0], variables=variables))


def _pieces(word: str, *, variables: bool) -> Iterator[str]:
    for single, double, escaped, variable, plain in _PIECE.findall(word):
        if variable:
            yield HOLE if variables else variable
        elif double:
            yield _ESCAPED.sub(r"\1", double)
        else:
            # `\_` is a blank to `env -S`, and nobody else escapes an underscore.
            yield single or (" " if escaped == "_" else escaped) or plain
