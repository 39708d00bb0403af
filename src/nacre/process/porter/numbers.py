"""The numbers that mark what the calls of one house start."""

import secrets

__all__ = ("Numbers",)

_TAG = 1 << 62
_FILLED = (1 << 24) - 1
_CALL_SHIFT, _CALLS = 24, 1 << 16
_HOUSE_SHIFT, _HOUSES = 40, 1 << 22


class Numbers:
    """Marks, as `nacre.process.marks` has them; each is higher than the one before."""

    def __init__(self) -> None:
        self._house = secrets.randbelow(_HOUSES // 2)  # and room above it
        self._call = 0

    def next(self) -> int:
        """A number for the next call."""
        self._call += 1
        if self._call == _CALLS:
            self._house, self._call = self._house + 1, 0
        return _TAG | self._house << _HOUSE_SHIFT | self._call << _CALL_SHIFT | _FILLED
