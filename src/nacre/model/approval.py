"""What a person is asked before a script runs."""

from dataclasses import dataclass
from pathlib import PurePath

from nacre.model.verdict import Verdict

__all__ = ("Question",)


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """A script that only a person may allow, and why: its verdict is always ASK."""

    script: str
    verdict: Verdict
    description: str
    cwd: PurePath
    conversation: str
