"""An agent's regular expression, matched in time that its length bounds.

RE2 does not backtrack, so no expression can hang the host. What it does not
know (look-around, back-references) is refused when the expression is read.
"""

from typing import Protocol

from nacre.errors import CallError

__all__ = ("Pattern", "compile_pattern")

_MEMORY_BYTES = 8 << 20


class _Expression(Protocol):
    def search(self, text: bytes) -> object | None: ...


class Pattern:
    """A compiled expression over the bytes of one line."""

    def __init__(self, expression: _Expression) -> None:
        self._expression = expression

    def matches(self, line: bytes) -> bool:
        """Whether the expression is found anywhere in the line."""
        return self._expression.search(line.rstrip(b"\r\n")) is not None


def compile_pattern(text: str) -> Pattern:
    """Read an expression.

    Raises:
        CallError: If it is not one; the message says where.
    """
    import re2

    options = re2.Options()
    options.log_errors = False
    options.max_mem = _MEMORY_BYTES
    try:
        # As bytes: a line need not be valid UTF-8 to be searched.
        compiled = re2.compile(text.encode("utf-8", "surrogateescape"), options)
    except (re2.error, UnicodeEncodeError) as error:
        said = error.args[0]
        reason = said.decode(errors="replace") if isinstance(said, bytes) else str(error)
        raise CallError(
            f"{text!r:.60} is not a regular expression (RE2 syntax): {reason:.100}"
        ) from error
    return Pattern(compiled)
