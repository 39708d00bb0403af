"""Exactly what will be executed."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import PurePath

__all__ = ("Launch",)


@dataclass(frozen=True, slots=True, kw_only=True)
class Launch:
    """One program to start: which, under which words, where, with which variables.

    `stdin` is what the program finds on descriptor 0; None means /dev/null.
    """

    executable: str
    argv: tuple[str, ...]
    cwd: PurePath
    environ: Mapping[str, str] = field(default_factory=dict[str, str])
    stdin: bytes | None = None
