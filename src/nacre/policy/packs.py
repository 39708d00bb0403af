"""Packs of guards, by name, each proven by its own examples before it is used."""

from collections.abc import Mapping
from functools import cache
from types import MappingProxyType

from nacre.errors import RuleError
from nacre.policy.credentials.pack import CREDENTIALS, WAYLAND_CREDENTIALS
from nacre.policy.guards.dangerous import DANGEROUS
from nacre.policy.guards.footguns import DOCUMENTED_FOOTGUNS, FOOTGUNS
from nacre.policy.guards.guard import Guard, Pack, Watch
from nacre.policy.guards.hazards import DOCUMENTED_HAZARDS, HAZARDS
from nacre.syntax.read import read

__all__ = ("PACKS", "load", "prove")

_GUARDS: Mapping[str, tuple[Guard, ...]] = MappingProxyType(
    {
        "credentials": CREDENTIALS,
        "credentials:documented": WAYLAND_CREDENTIALS,
        "dangerous": DANGEROUS,
        "footguns": FOOTGUNS,
        "footguns:documented": DOCUMENTED_FOOTGUNS,
        "hazards": HAZARDS,
        "hazards:documented": DOCUMENTED_HAZARDS,
    }
)

PACKS = tuple(_GUARDS)


@cache
def load(name: str) -> Pack:
    """A pack by its name, proven.

    With `:documented` after the name, only what the document that the pack comes
    from lists, as it lists it.

    Raises:
        RuleError: If there is no such pack, or one of its guards fails its examples.
    """
    guards = _GUARDS.get(name)
    if guards is None:
        raise RuleError(f"There is no pack of guards {name!r}; there are: {', '.join(PACKS)}.")
    pack = Pack(name=name.partition(":")[0], guards=guards)
    prove(pack)
    return pack


def prove(pack: Pack) -> None:
    """Try every guard on its examples.

    Raises:
        RuleError: If a guard misses an example or finds something in a counterexample.
    """
    for guard in pack.guards:
        alone = Watch((Pack(name=pack.name, guards=(guard,)),))
        for example in guard.examples:
            if not _finds(alone, example):
                raise RuleError(f"{pack.name}.{guard.name} misses its example: {example}")
        for example in guard.counterexamples:
            if _finds(alone, example):
                raise RuleError(f"{pack.name}.{guard.name} refuses its counterexample: {example}")


def _finds(watch: Watch, example: str) -> bool:
    script = read(example)
    return any(watch.find(command, script) for command in script.commands)
