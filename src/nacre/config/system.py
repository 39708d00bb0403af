"""Which systems nacre runs scripts on."""

import sys

from nacre.errors import ConfigError

__all__ = ("require_linux",)


def require_linux() -> None:
    """Refuse to go on elsewhere.

    Raises:
        ConfigError: On any other system.
    """
    if sys.platform != "linux":
        raise ConfigError(f"nacre runs scripts on Linux only, and this is {sys.platform!r}")
