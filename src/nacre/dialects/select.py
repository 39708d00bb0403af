"""Choose a dialect by name, or refuse."""

from importlib import import_module
from typing import cast

from nacre.dialects.base import Dialect
from nacre.errors import ConfigError

__all__ = ("NAMES", "select")

# Imported when it is chosen: a host speaks one of them.
_HOMES = {
    "nacre": "NacreDialect",
    "codegen": "CodegenDialect",
    "phoenix": "PhoenixDialect",
    "wayland": "WaylandDialect",
    "agentrail": "AgentrailDialect",
    "yoi": "YoiDialect",
}
NAMES = tuple(_HOMES)


def select(name: str, *, contained: bool = False) -> Dialect:
    """Return the dialect of this name, as it is for scripts in a container.

    Raises:
        ConfigError: If there is none.
    """
    home = _HOMES.get(name)
    if home is None:
        raise ConfigError(f"dialect {name!r} is not known; use one of {', '.join(NAMES)}")
    made = getattr(import_module(f"nacre.dialects.{name}.dialect"), home)
    # One document has a variant for containers.
    variant = {"contained": True} if contained and name == "agentrail" else {}
    return cast("Dialect", made(**variant))
