"""What a host gave, as the values it stands for."""

import os
from datetime import timedelta
from pathlib import Path

from anyio.lowlevel import current_token

from nacre.errors import ConfigError

__all__ = ("folder_of", "in_event_loop", "time_of")

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


def in_event_loop() -> bool:
    """Whether this thread has an event loop that runs."""
    try:
        current_token()
    except RuntimeError:
        return False
    return True
