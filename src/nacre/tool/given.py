"""What a host gave, as the values it stands for."""

import os
from datetime import timedelta
from pathlib import Path

from nacre.config.found import Config
from nacre.errors import ConfigError
from nacre.sandbox.wanted import IDLE_SECONDS, Wanted

__all__ = ("folder_of", "spares_of", "time_of", "wanted_of")

# Until none of their tests flickers any more: docs/adr/0019.
_SPARES = 0
_MOST_SPARES = 16
_LONGEST_SECONDS = 10.0 * 365 * 24 * 3600


def folder_of(given: str | os.PathLike[str] | None) -> Path:
    """The folder a tool works in.

    Raises:
        ConfigError: If it was to be the current one, and that is gone.
    """
    try:
        return Path(given or ".").absolute()
    except FileNotFoundError:
        raise ConfigError("the current directory is gone; give workspace=...") from None


def time_of(given: float | None) -> timedelta | None:
    """A time in seconds; what is longer than anybody waits is as long as that."""
    return None if given is None else timedelta(seconds=min(given, _LONGEST_SECONDS))


def spares_of(given: int | None) -> int:
    """How many shells of a kind wait for their script.

    Raises:
        ConfigError: If it is no number of shells.
    """
    if given is not None and given not in range(_MOST_SPARES + 1):
        raise ConfigError(
            f"spares={given!r} cannot be used; give a number from 0 to {_MOST_SPARES}"
        )
    return _SPARES if given is None else given


def wanted_of(config: Config, sandbox: str, *, image: str | None, container: str | None) -> Wanted:
    """The container that is asked for, should one be the sandbox; what is given wins.

    Raises:
        ConfigError: If one is given, and the sandbox is another.
    """
    for name, given in (("image", image), ("container", container)):
        if given is not None and sandbox != "container":
            raise ConfigError(
                f"{name}={given!r} is of use with sandbox='container' only, and the sandbox is"
                f" {sandbox!r}; say sandbox='container' too, or leave it out"
            )
    idle = min(config.number("idle_timeout") or IDLE_SECONDS, _LONGEST_SECONDS)
    named = config.text("container") if container or not image else None
    return Wanted(image=config.text("image"), name=named, idle=idle)
