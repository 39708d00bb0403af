"""Expressions that cost nothing until they are used.

There are some three hundred, and a script meets few of them; compiling all took a tenth of what
`nacre run` took to start.
"""

import re
from typing import AnyStr, Generic, cast

__all__ = ("expression",)


class _Uncompiled(Generic[AnyStr]):
    """Stands for a compiled expression, and has its methods from the first use on."""

    def __init__(self, pattern: AnyStr, flags: int) -> None:
        self.pattern: AnyStr = pattern
        self._flags = flags

    def __getattr__(self, name: str) -> object:
        """Look something up for the first time; from then on it is an attribute."""
        if name.startswith("__"):
            raise AttributeError(name)  # Python's own questions, as in copying
        found: object = getattr(re.compile(self.pattern, self._flags), name)
        setattr(self, name, found)
        return found

    def __repr__(self) -> str:
        return repr(re.compile(self.pattern, self._flags))


def expression(pattern: AnyStr, flags: int = 0) -> re.Pattern[AnyStr]:
    """What `re.compile` makes of it, made when it is used.

    A mistake in it is raised then, too: tests compile them all.
    """
    return cast("re.Pattern[AnyStr]", _Uncompiled(pattern, flags))
