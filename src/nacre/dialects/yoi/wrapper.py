"""What bash is given to carry a command out.

The command stands in a group, so that bash reads all of it before it runs any; then the
jobs it left are waited for, and its exit code is passed on. A command can leave the group
only by a `}` of its own. One that has such a word is quoted instead, and evaluated there.
"""

from nacre.model.expression import expression

__all__ = ("program",)

_GROUP = "{{ {}\n}}\n__yoi_exit=$?\nwait 2>/dev/null\nexit $__yoi_exit\n"
# Bash takes a closing brace for one only where it is a whole word.
_CLOSING_BRACE = expression(r"(?<![^\s;&|()<>])\}(?=[\s;&|()<>\\]|\Z)")


def program(command: str) -> str:
    """The program around a command."""
    contained = _CLOSING_BRACE.search(command) is None
    return _GROUP.format(command if contained else f"eval -- {_quoted(command)}")


def _quoted(text: str) -> str:
    """A text as one word, whatever it holds."""
    escaped = text.replace("'", "'\\''")
    return f"'{escaped}'"
