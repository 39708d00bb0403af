"""The smallest script that still shows what a large one showed."""

import re
from collections.abc import Callable

__all__ = ("shrunk",)

_LINE = re.compile(r".*\n|.+")
_TOKEN = re.compile(r"\s+|\w+|\W")
_CHARACTER = re.compile(r".", re.DOTALL)


def shrunk(script: str, still: Callable[[str], bool], *, tries: int = 400) -> str:
    """Take away lines, then words, then characters, as long as it still shows it."""
    left = tries

    def holds(candidate: str) -> bool:
        nonlocal left
        left -= 1
        return left >= 0 and still(candidate)

    for piece in (_LINE, _TOKEN, _CHARACTER):
        pieces = [found[0] for found in piece.finditer(script)]
        script = "".join(_reduced(pieces, holds))
    return script


def _reduced(pieces: list[str], holds: Callable[[str], bool]) -> list[str]:
    """Without every run of pieces that is not needed, long runs first."""
    size = max(len(pieces) // 2, 1)
    while True:
        at = 0
        smaller = False
        while at < len(pieces):
            rest = pieces[:at] + pieces[at + size :]
            if holds("".join(rest)):
                pieces, smaller = rest, True
            else:
                at += size
        if size == 1 and not smaller:
            return pieces
        size = size if smaller and size == 1 else max(size // 2, 1)
