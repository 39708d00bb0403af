"""What a benchmark says: a figure, the bar it is held against, and how it was got."""

from enum import Enum

from nacre.errors import NacreError
from nacre.model.value import dataclass

__all__ = (
    "FailedToRunError",
    "Figures",
    "Row",
    "Scale",
    "Timing",
    "at_least",
    "at_most",
    "digits",
)

_TWO_DIGITS = 10
_THREE_DIGITS = 100


class FailedToRunError(NacreError):
    """A benchmark could not be carried out, so there is no figure to judge."""


class Scale(Enum):
    """How much work is done; figures of a quick run prove only that it runs."""

    FULL = "full"
    QUICK = "quick"

    def of(self, full: int, *, quick: int) -> int:
        """The number that goes with this scale."""
        return quick if self is Scale.QUICK else full


@dataclass(frozen=True, slots=True, kw_only=True)
class Timing:
    """What calls of one script took: the raw figures behind a row."""

    work: str
    n: int
    median_ms: float
    p90_ms: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Figures:
    """The raw figures of a row about one way to run scripts, and what that way is.

    `kind` is "baseline", "nacre" or "peer"; `shell` is "fresh" or "kept".
    """

    kind: str
    shell: str
    confined: bool
    version: str
    timings: tuple[Timing, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One line of the table.

    `holds` is None where there is no bar: such a row informs and never fails.
    """

    name: str
    work: str
    measured: str
    bar: str = ""
    holds: bool | None = None
    note: str = ""
    figures: Figures | None = None


def at_most(name: str, value: float, bar: float, unit: str, *, work: str, note: str = "") -> Row:
    """A row whose value must not be above its bar."""
    return Row(
        name=name,
        work=work,
        measured=f"{digits(value)} {unit}",
        bar=f"<= {bar:g} {unit}",
        holds=value <= bar,
        note=note,
    )


def at_least(name: str, value: float, bar: float, unit: str, *, work: str, note: str = "") -> Row:
    """A row whose value must not be below its bar."""
    return Row(
        name=name,
        work=work,
        measured=f"{digits(value)} {unit}",
        bar=f">= {bar:g} {unit}",
        holds=value >= bar,
        note=note,
    )


def digits(value: float) -> str:
    """A number with as many digits as a noisy measurement deserves."""
    if isinstance(value, int):
        return f"{value:,}"
    if abs(value) < _TWO_DIGITS:
        return f"{value:.2f}"
    return f"{value:.1f}" if abs(value) < _THREE_DIGITS else f"{value:,.0f}"
