"""Packs of guards, by name, each proven by its own examples before it is used."""

from collections.abc import Mapping
from dataclasses import replace
from functools import cache, partial
from types import MappingProxyType

from nacre.errors import RuleError
from nacre.policy.credentials.pack import CREDENTIALS, WAYLAND_CREDENTIALS
from nacre.policy.guards.dangerous import DANGEROUS
from nacre.policy.guards.footguns import DOCUMENTED_FOOTGUNS, FOOTGUNS
from nacre.policy.guards.guard import Guard, Hit, Pack, Watch
from nacre.policy.guards.hazards import DOCUMENTED_HAZARDS, HAZARDS
from nacre.syntax.read import read
from nacre.syntax.script import Command, Script

__all__ = ("PACKS", "load", "prove", "proving")

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
    """A pack by its name, each guard of which is proven before it is first asked.

    With `:documented` after the name, only what the document that the pack comes
    from lists, as it lists it.

    Raises:
        RuleError: If there is no such pack; and, from a guard that fails its examples, when it
            is asked.
    """
    guards = _GUARDS.get(name)
    if guards is None:
        raise RuleError(f"There is no pack of guards {name!r}; there are: {', '.join(PACKS)}.")
    pack = name.partition(":")[0]
    return Pack(name=pack, guards=tuple(proving(pack, guard) for guard in guards))


def proving(pack: str, guard: Guard) -> Guard:
    """The same guard, tried before it is first asked: most scripts are about few guards."""
    prove_once = cache(partial(prove, Pack(name=pack, guards=(guard,))))

    def find(command: Command, script: Script) -> Hit | None:
        prove_once()
        return guard.find(command, script)

    return replace(guard, find=find)


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
