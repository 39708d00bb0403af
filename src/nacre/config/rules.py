"""Layers of rules, from files and from what such files hold.

What reads them is imported when there are rules: it takes longer than a start.
"""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, cast

from nacre.config.files import read_text
from nacre.errors import ConfigError
from nacre.model.value import dataclass

if TYPE_CHECKING:
    from nacre.policy.rules.layer import Layer
    from nacre.policy.rules.load import Notation

__all__ = ("PERMISSIONS", "Rules", "Sourced", "layer_of_file", "layer_of_rules", "layer_of_text")

# A file of rules, or what such a file holds.
Rules = str | os.PathLike[str] | Mapping[str, object]

# The table of a file that holds its rules.
PERMISSIONS = "permissions"


@dataclass(frozen=True, slots=True)
class Sourced:
    """A layer of rules, and where it came from."""

    layer: "Layer"
    source: str


def layer_of_text(text: str, path: Path, dialect: str) -> "Layer | None":
    """The rules of a file; nothing if it has none.

    Raises:
        RuleError: If something in it cannot be used as written.
    """
    from nacre.policy.rules.load import load_text

    # The file that bears a dialect's name is written in that dialect's way.
    return load_text(text, str(path), _notation(path.stem if path.stem in _NOTATED else dialect))


def layer_of_file(path: Path, dialect: str) -> "Layer":
    """The rules of a file that must have some.

    Raises:
        ConfigError: If there is no such file, or no rules in it.
        RuleError: If something in it cannot be used as written.
    """
    text = read_text(path)
    if text is None:
        raise ConfigError(f"there is no rules file {str(path)!r}; write it, or leave it out")
    layer = layer_of_text(text, path, dialect)
    if layer is None:
        raise ConfigError(f"{path}: there are no rules in it; put them under {PERMISSIONS!r}")
    return layer


def layer_of_rules(rules: Mapping[str, object], dialect: str) -> "Layer":
    """The rules of an object, as they stand under `permissions` in a file, or with it.

    Raises:
        RuleError: If something in it cannot be used as given.
    """
    from nacre.policy.rules.load import load_rules

    inner = rules.get(PERMISSIONS) if len(rules) == 1 else None
    if isinstance(inner, Mapping):
        rules = cast("Mapping[str, object]", inner)
    return load_rules(rules, "", _notation(dialect))


_NOTATED = {"agentrail": "COLON", "yoi": "ORDERED"}


def _notation(dialect: str) -> "Notation":
    from nacre.policy.rules.load import Notation

    return Notation[_NOTATED.get(dialect, "PLAIN")]
