"""An examination, for a person and for a program."""

import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict

from nacre.cli.diagnosis.engines import Reached
from nacre.cli.diagnosis.examination import UNPROVEN, Examination
from nacre.cli.diagnosis.facts import Facts
from nacre.cli.diagnosis.trial import HELD, OPEN, UNTESTED, Trial
from nacre.cli.terminal import coloured
from nacre.model.confinement import UNENFORCED, Protection
from nacre.sandbox.gaps import GAPS, gaps

__all__ = ("as_fields", "as_lines")

_NOT_ASKED = "-"
_SIGNS = {HELD: "", OPEN: "!", UNPROVEN: "?", UNTESTED: "?"}
_LEGEND = (
    "Each protection with the layers that enforce it, as every result tells it in `enforced`.",
    "An attack was tried on each: ! it came through; ? nothing is shown, because it could not be",
    "tried here or fails without a sandbox too; - not asked for. `compare`: put back after the run.",
)


def as_fields(found: Examination) -> dict[str, object]:
    """The examination as plain values; the names are those that `nacre doctor` documents."""
    return {
        "auto": found.auto,
        "backends": {
            name: {
                "works": trial.works,
                "why_not": trial.why_not or None,
                "enforced": dict(trial.enforced),
                "probed": dict(trial.probed),
                "contradictions": list(trial.contradictions),
                "gaps": {gap.id: gap.sentence for gap in gaps(name)},
            }
            for name, trial in found.trials.items()
        },
        "engines": [_engine_fields(each) for each in found.engines],
        "facts": asdict(found.facts),
        "remedies": [asdict(remedy) for remedy in found.remedies],
    }


def as_lines(found: Examination) -> Iterator[str]:
    """The examination as a person reads it."""
    yield f"sandbox='auto' takes {found.auto or 'nothing'}: {found.why}"
    for name, protection in found.contradictions:
        line = f"{name} is to enforce {protection}, and an attack on it came through: report this"
        yield coloured(line, "red", sys.stdout)
    yield ""
    yield from _table(found.trials)
    yield ""
    yield from _LEGEND
    yield ""
    yield from _facts(found.facts)
    if found.remedies:
        yield ""
        yield "MISSING"
    for remedy in found.remedies:
        yield f"{remedy.missing}: {remedy.why}"
        yield f"  {coloured(remedy.do, 'yellow', sys.stdout)}"
    yield ""
    yield "CONTAINER ENGINES"
    yield from _engines(found.engines)
    yield ""
    yield "NOT HELD, by design or by the kernel"
    for gap in GAPS:
        yield f"{', '.join(gap.sandboxes)}: {gap.sentence}"


def _engine_fields(reached: Reached) -> dict[str, object]:
    trial, facts = reached.trial, reached.facts
    return {
        "address": reached.address,
        "product": facts.product if facts else None,
        "version": facts.version if facts else None,
        "rootless": facts.rootless if facts else None,
        "works": trial.works,
        "why_not": trial.why_not or None,
        "enforced": dict(trial.enforced),
        "probed": dict(trial.probed),
        "contradictions": list(trial.contradictions),
    }


def _engines(engines: Sequence[Reached]) -> Iterator[str]:
    if not engines:
        yield (
            "none answers in a usual place: start Docker or `podman system service`, or set"
            " DOCKER_HOST"
        )
    for reached in engines:
        trial, facts = reached.trial, reached.facts
        whose = ", rootless" if facts and facts.rootless else ""
        name = f"{facts.product} {facts.version}{whose}, at {reached.address}" if facts else ""
        yield f"{name or reached.address}: {trial.why_not or 'works'}"
        tried = {
            "held": [each for each, how in trial.probed.items() if how == HELD],
            "not enforced": [each for each, by in trial.enforced.items() if by == UNENFORCED],
            "not tried": [each for each, how in trial.probed.items() if how == UNTESTED],
        }
        for words, protections in tried.items():
            if protections:
                yield f"  {words}: {', '.join(protections)}"


def _table(trials: Mapping[str, Trial]) -> Iterator[str]:
    rows = [("PROTECTION", *(name.upper() for name in trials))]
    rows.append(("works here", *("yes" if each.works else "no" for each in trials.values())))
    for protection in Protection:
        cells = [_cell(trial, protection) for trial in trials.values()]
        if any(cell.rstrip("?") != _NOT_ASKED for cell in cells[:-1]):
            rows.append((protection, *cells))
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        aligned = (f"{cell:{width}}" for cell, width in zip(row, widths, strict=True))
        yield "  ".join(aligned).rstrip()


def _cell(trial: Trial, protection: str) -> str:
    if not trial.works:
        return _NOT_ASKED
    layers = trial.enforced.get(protection)
    probed = trial.probed.get(protection, UNTESTED)
    if layers is None:
        return f"{UNENFORCED} !" if probed == OPEN else _NOT_ASKED
    return f"{layers} {_SIGNS[probed]}".rstrip()


def _facts(facts: Facts) -> Iterator[str]:
    rows = {
        "kernel": f"Linux {facts.kernel} on {facts.machine}",
        "Landlock": _landlock(facts),
        "system call filters": facts.no_seccomp or "yes",
        "bubblewrap": f"{facts.bwrap} {facts.bwrap_version or ''}" if facts.bwrap else "not found",
        "user namespaces": facts.no_user_namespaces or "yes",
        "user": f"uid {facts.uid}{', root' if facts.root else ''}, capabilities {facts.capabilities}",
        "around us": _around(facts),
        "control group": facts.cgroup or "none that we may divide",
    }
    width = max(map(len, rows))
    for name, value in rows.items():
        yield f"{name:{width}}  {value.rstrip()}"


def _landlock(facts: Facts) -> str:
    if not facts.landlock_abi:
        return f"none: {facts.no_landlock}"
    errata = "not told" if facts.landlock_errata is None else f"{facts.landlock_errata:#x}"
    return f"ABI {facts.landlock_abi}, errata fixed: {errata}"


def _around(facts: Facts) -> str:
    found = [
        "nacre itself" if facts.inside_nacre else "",
        f"Landlock domains ({facts.landlock_domains})" if facts.landlock_domains else "",
        f"a container ({facts.container})" if facts.container else "",
        "a system call filter" if facts.filtered else "",
        "no_new_privs" if facts.no_new_privs else "",
    ]
    return ", ".join(filter(None, found)) or "no container or sandbox that can be seen"
