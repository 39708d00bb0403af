"""Where nacre keeps its state."""

from pathlib import Path

from nacre.config.found import Config
from nacre.config.layers import gather
from nacre.errors import ConfigError

__all__ = ("state_folder",)


def state_folder(config: Config | None = None) -> Path:
    """The state directory: the one that is configured, or the platform's place for it.

    Raises:
        ConfigError: If there is none of these.
    """
    chosen = (config or gather(None)).text("state")
    if chosen:
        return Path(chosen).absolute()
    from platformdirs import user_state_path

    try:
        return user_state_path("nacre", appauthor=False)
    except RuntimeError:
        raise ConfigError("this user has no home directory; set NACRE_STATE") from None
