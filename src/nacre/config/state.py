"""Where nacre keeps its state."""

import sys
from pathlib import Path

from nacre.config.files import xdg_folder
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
    folder = _usual()
    if folder is None:
        raise ConfigError("this user has no home directory; set NACRE_STATE")
    return folder


def _usual() -> Path | None:
    if sys.platform == "linux":
        folder = xdg_folder("XDG_STATE_HOME", "~/.local/state")
        return folder and folder / "nacre"
    from platformdirs import user_state_path

    try:
        return user_state_path("nacre", appauthor=False)
    except RuntimeError:
        return None
