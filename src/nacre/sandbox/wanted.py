"""Which container is asked for."""

from pathlib import Path

from nacre.model.value import dataclass

__all__ = ("IDLE_SECONDS", "Wanted")

IDLE_SECONDS = 1800.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """Which container is asked for: one made of an `image`, or one of a `name` that is there.

    One that is `kept` outlives its host; `state` is the state directory it belongs to. `engine`
    is the address of the engine, if it is not the first that is found.
    """

    image: str | None = None
    name: str | None = None
    idle: float = IDLE_SECONDS
    kept: bool = False
    state: Path = Path("/")
    engine: str | None = None
