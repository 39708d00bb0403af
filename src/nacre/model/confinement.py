"""What a command may touch, and what of it was enforced."""

from collections.abc import Mapping
from dataclasses import dataclass, field

__all__ = ("Enforcement", "Environment")


@dataclass(frozen=True, slots=True, kw_only=True)
class Enforcement:
    """Per protection, the layer that enforces it; a protection not named is not enforced."""

    by: Mapping[str, str] = field(default_factory=dict[str, str])


@dataclass(frozen=True, slots=True, kw_only=True)
class Environment:
    """Which variables of the host a script sees.

    `inherit` passes all of them. Otherwise the environment is built from
    nothing: what every program needs, and the names in `passed`. `fixed`
    variables are set in either case.
    """

    inherit: bool = False
    passed: tuple[str, ...] = ()
    fixed: Mapping[str, str] = field(default_factory=dict[str, str])
