"""Choose a dialect by name, or refuse."""

from nacre.dialects.base import Dialect
from nacre.dialects.nacre.dialect import NacreDialect
from nacre.errors import ConfigError

__all__ = ("select",)


def select(name: str) -> Dialect:
    """Return the dialect of this name.

    Raises:
        ConfigError: If there is none.
    """
    if name == "nacre":
        return NacreDialect()
    raise ConfigError(f"dialect {name!r} is not known; this version speaks 'nacre' only")
