"""The files that settings and rules are read from."""

import os
import stat
import sys
from pathlib import Path

from nacre.errors import ConfigError

__all__ = ("PROJECT_FILES", "read_text", "user_file", "xdg_folder")

_USER_FILE = "nacre.toml"
PROJECT_FILES = ("nacre.toml", "agentrail.yaml", "agentrail.yml")
_MOST_BYTES = 1024 * 1024


def user_file() -> Path | None:
    """Where the user's own settings are, whether there are any or not."""
    if sys.platform == "linux":
        folder = xdg_folder("XDG_CONFIG_HOME", "~/.config")
        # Without a home this is a relative path, and an agent could put something there.
        return folder and folder / "nacre" / _USER_FILE
    from platformdirs import user_config_path

    return user_config_path("nacre", appauthor=False) / _USER_FILE


def xdg_folder(variable: str, usual: str) -> Path | None:
    """What platformdirs says on Linux, without the time its import takes; None without a home."""
    folder = os.environ.get(variable, "").strip()
    if not os.path.isabs(folder):
        folder = os.path.expanduser(usual)
    return Path(folder) if os.path.isabs(folder) else None


def read_text(path: Path) -> str | None:
    """The text of a file; None if there is no such file.

    Raises:
        ConfigError: If it is there and cannot be read.
    """
    try:
        # An agent may have put a FIFO there, which would never open.
        fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except (OSError, ValueError) as error:
        # Whoever may not even see a folder, as under another user's HOME, has no file in it.
        if isinstance(error, PermissionError) and not os.path.lexists(path):
            return None
        raise ConfigError(f"{path}: cannot be read: {_reason(error)}") from None
    if not stat.S_ISREG(os.fstat(fd).st_mode):
        os.close(fd)
        raise ConfigError(f"{path}: is no file; put a file of settings there, or nothing")
    with open(fd, "rb") as file:
        data = file.read(_MOST_BYTES + 1)
    if len(data) > _MOST_BYTES:
        raise ConfigError(f"{path}: is larger than {_MOST_BYTES:,} bytes; make it shorter")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise ConfigError(f"{path}:{line}: is not UTF-8; save it as UTF-8") from None


def _reason(error: OSError | ValueError) -> str:
    return (isinstance(error, OSError) and error.strerror) or str(error)
