"""Where nacre keeps its state."""

import os
from pathlib import Path

from nacre.errors import ConfigError

__all__ = ("state_folder",)


def state_folder(given: str | os.PathLike[str] | None = None) -> Path:
    """The state directory: the one given, `$NACRE_STATE`, or the platform's place for it.

    Raises:
        ConfigError: If there is none of these.
    """
    if chosen := given or os.environ.get("NACRE_STATE"):
        return Path(chosen).absolute()
    from platformdirs import user_state_path

    try:
        return user_state_path("nacre", appauthor=False)
    except RuntimeError:
        raise ConfigError("this user has no home directory; set NACRE_STATE") from None
