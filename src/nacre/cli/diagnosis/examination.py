"""The examination of a host: what `auto` takes, how each sandbox did, what is missing."""

import os
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from nacre.cli.diagnosis.engines import Reached, try_engines
from nacre.cli.diagnosis.facts import Facts, gather_facts
from nacre.cli.diagnosis.remedies import Remedy, remedies
from nacre.cli.diagnosis.trial import HELD, OPEN, Trial, try_sandbox
from nacre.engine.threads import in_thread
from nacre.errors import ConfigError
from nacre.model.value import dataclass
from nacre.sandbox.probe import probe

__all__ = ("UNPROVEN", "Examination", "examine")

UNPROVEN = "unproven"
_CONTROL = "none"
# The strongest first.
_SANDBOXES = ("bubblewrap", "landlock")


@dataclass(frozen=True, slots=True, kw_only=True)
class Examination:
    """What was found. `auto` is None where nothing can hold a script here.

    An attack that fails under a sandbox shows something only if it comes through without
    one: where it does not, its protection is `unproven`.
    """

    auto: str | None
    why: str
    trials: Mapping[str, Trial]
    facts: Facts
    remedies: tuple[Remedy, ...]
    engines: tuple[Reached, ...] = ()

    @property
    def contradictions(self) -> tuple[tuple[str, str], ...]:
        """Sandboxes with protections that they claim, and that did not hold."""
        containers = {f"a container at {each.address}": each.trial for each in self.engines}
        trials = {**self.trials, **containers}
        return tuple((name, each) for name in trials for each in trials[name].contradictions)


async def examine(image: str | None = None) -> Examination:
    """Try every sandbox on this host, and every engine; leaves nothing behind.

    Containers are made of the image, if there is one.
    """
    facts = await in_thread(_facts)
    control = await try_sandbox(_CONTROL)
    trials: dict[str, Trial] = {}
    for name in _SANDBOXES:
        trials[name] = _shown(await try_sandbox(name), control)
    trials[_CONTROL] = control
    auto = next((name for name in _SANDBOXES if trials[name].works), None)
    return Examination(
        auto=auto,
        why=_why(auto, facts, trials),
        trials=trials,
        facts=facts,
        remedies=remedies(facts),
        engines=await try_engines(os.environ, image),
    )


def _facts() -> Facts:
    # Where scripts would be run, and write: no program is taken from there.
    try:
        here = Path(os.path.realpath("."))
    except FileNotFoundError:
        raise ConfigError("the current directory is gone; go to another") from None
    return gather_facts(probe((here,)), here)


def _shown(trial: Trial, control: Trial) -> Trial:
    def shows(name: str) -> bool:
        # What holds without a sandbox is nacre's own doing, and needs no other control.
        return control.probed.get(name) == OPEN or name in control.enforced

    probed = {
        name: UNPROVEN if found == HELD and not shows(name) else found
        for name, found in trial.probed.items()
    }
    return replace(trial, probed=probed)


def _why(auto: str | None, facts: Facts, trials: Mapping[str, Trial]) -> str:
    causes = {"bubblewrap": facts.no_bwrap, "landlock": facts.no_landlock}
    unfiltered = facts.no_seccomp and f"no system call filter can be set ({facts.no_seccomp})"
    reasons = {name: cause or unfiltered or trials[name].why_not for name, cause in causes.items()}
    stronger = _SANDBOXES[: _SANDBOXES.index(auto)] if auto else _SANDBOXES
    told = "; ".join(f"{name} does not: {reasons[name]}" for name in stronger)
    if auto is None:
        return told
    return f"it works here, and {told or 'is the strongest'}"
