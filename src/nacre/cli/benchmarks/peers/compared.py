"""Who is ahead of whom: what nacre is held against, and what is only said."""

from collections.abc import Iterator, Mapping, Sequence

from nacre.cli.benchmarks.peers.entrant import Entrant, Kind
from nacre.cli.benchmarks.row import Row, Timing, at_most, digits

__all__ = ("Timed", "compared", "milliseconds")

# What each entrant's calls took, for each work in the same order.
Timed = Mapping[Entrant, Sequence[Timing]]


def compared(timed: Timed, ours: Sequence[Entrant]) -> list[Row]:
    """For each of ours a row with a bar, and one that says who takes less."""
    there = [entrant for entrant in ours if entrant in timed]
    return [_bar(each, timed) for each in ours] + [_faster(each, timed) for each in there]


def _bar(ours: Entrant, timed: Timed) -> Row:
    """The worst of our ratios to whoever promises the same: a fresh shell, confined."""
    name = f"peers {ours.name.removeprefix('nacre ')}"
    others = [each for each in timed if each.fresh_and_confined and each.kind is not Kind.NACRE]
    if not others or ours not in timed:
        work = f"{ours.name} to all that run a fresh confined shell"
        note = "nothing else here runs one" if ours in timed else "it is not there itself"
        return Row(name=name, work=work, measured="-", note=note)
    ratios = {
        (mine.median_ms / theirs.median_ms, each.name, mine.work)
        for each in others
        for mine, theirs in zip(timed[ours], timed[each], strict=True)
    }
    worst, nearest, work = max(ratios)
    return at_most(
        name,
        worst,
        1,
        "x",
        work=f"{ours.name} to the nearest of {len(others)} that run a fresh confined shell",
        note=f"`{work}`, to {nearest}",
    )


def _faster(ours: Entrant, timed: Timed) -> Row:
    """Who takes less for `true`, whatever it promises: said, and no bar."""
    mine = timed[ours][0]
    others = [each for each in timed if each.kind is not Kind.NACRE]
    ahead = [each for each in others if timed[each][0].median_ms < mine.median_ms]
    return Row(
        name=f"ahead of {ours.name.removeprefix('nacre ')}",
        work=f"who takes less for `{mine.work}` than {ours.name}'s {milliseconds(mine)}",
        measured=f"{len(ahead)} of {len(others)}",
        note="; ".join(_grouped(ahead, timed)) or "nobody",
    )


def _grouped(entrants: Sequence[Entrant], timed: Timed) -> Iterator[str]:
    """What each takes, under what it promises."""
    groups: dict[str, list[Entrant]] = {}
    for entrant in sorted(entrants, key=lambda each: timed[each][0].median_ms):
        groups.setdefault(entrant.promise, []).append(entrant)
    for promise, group in groups.items():
        yield f"{promise}: {', '.join(f'{each.name} {milliseconds(timed[each][0])}' for each in group)}"


def milliseconds(timing: Timing) -> str:
    """Its median, as a person reads it."""
    return f"{digits(timing.median_ms)} ms"
