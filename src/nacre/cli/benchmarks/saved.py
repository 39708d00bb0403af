"""Rows as JSON: what a run has said, kept whole, to be shown again."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import cast

from nacre.cli.benchmarks.row import Figures, Row, Scale, Timing
from nacre.errors import ConfigError

__all__ = ("Saved", "read_json", "to_json")


@dataclass(frozen=True, slots=True, kw_only=True)
class Saved:
    """The rows of one run, how much work was done for them, and where."""

    rows: tuple[Row, ...]
    scale: Scale
    machine: str


def to_json(saved: Saved) -> str:
    """A list of objects, each of which can be read without the others."""
    told = {"scale": saved.scale.value, "machine": saved.machine}
    return json.dumps([asdict(row) | told for row in saved.rows], indent=2)


def read_json(text: str, name: str) -> Saved:
    """What `to_json` has written.

    Raises:
        ConfigError: If it has not written this.
    """
    try:
        told = cast("Sequence[Mapping[str, object]]", json.loads(text))
        return Saved(
            rows=tuple(map(_row, told)),
            scale=Scale(told[0]["scale"]),
            machine=str(told[0]["machine"]),
        )
    except (ValueError, LookupError, TypeError, AttributeError) as error:
        why = f"{type(error).__name__}: {error}"
        raise ConfigError(
            f"{name} is not what `nacre bench --json` prints ({why}); run that into a file"
        ) from error


def _row(told: Mapping[str, object]) -> Row:
    fields = {key: value for key, value in told.items() if key not in {"scale", "machine"}}
    figures = cast("dict[str, object] | None", fields.pop("figures"))
    return Row(**fields, figures=_figures(figures))  # type: ignore[arg-type]


def _figures(told: dict[str, object] | None) -> Figures | None:
    if told is None:
        return None
    timings = cast("list[dict[str, object]]", told.pop("timings"))
    return Figures(**told, timings=tuple(Timing(**each) for each in timings))  # type: ignore[arg-type]
