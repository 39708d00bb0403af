"""The peers beside nacre: what each takes for the same work in the same run, and who is ahead."""

from pathlib import Path

from nacre.cli.benchmarks.peers.compared import compared, milliseconds
from nacre.cli.benchmarks.peers.crew import racing_peers
from nacre.cli.benchmarks.peers.entrant import Entrant, Racer
from nacre.cli.benchmarks.peers.ours import our_racers
from nacre.cli.benchmarks.peers.plain import BARE, plain_racers
from nacre.cli.benchmarks.peers.race import Course, race
from nacre.cli.benchmarks.row import Figures, Row, Scale, Timing, digits
from nacre.cli.benchmarks.subject import temporary_folder

__all__ = ("measure",)


async def measure(scale: Scale) -> list[Row]:
    """Time all that are there in turn; a row for each, and rows that compare them."""
    with temporary_folder() as folder:
        scratch = Path(folder)
        async with our_racers(scratch) as ours, racing_peers(scratch / "peers", scale) as peers:
            racers = [*plain_racers(scratch), *ours, *peers]
            courses = {each.racer.entrant: each for each in await race(racers, scale)}
    timed: dict[Entrant, tuple[Timing, ...]] = {}
    rows: list[Row] = []
    for racer in racers:
        course = courses.get(racer.entrant)
        if course is None or course.failure:
            rows.append(_absent(racer, course.failure if course else racer.why_not))
        else:
            timed[racer.entrant] = course.timings()
            rows.append(_row(course, timed[BARE]))
    return [*rows, *compared(timed, [racer.entrant for racer in ours])]


def _absent(racer: Racer, why: str) -> Row:
    entrant = racer.entrant
    return Row(name=entrant.name, work=str(entrant), measured="-", note=why)


def _row(course: Course, bare: tuple[Timing, ...]) -> Row:
    entrant, timings = course.racer.entrant, course.timings()
    figures = Figures(
        kind=entrant.kind,
        shell=entrant.shell,
        confined=entrant.confined,
        version=course.racer.version,
        timings=timings,
    )
    said = [f"`{each.work}` {milliseconds(each)}, p90 {digits(each.p90_ms)}" for each in timings]
    said.append(f"{timings[0].n} calls of each")
    if lacking := course.lacking():
        said.append(f"{lacking} answers without what the script prints, not counted")
    if course.racer.version:
        said.append(course.racer.version)
    return Row(
        name=entrant.name,
        work=str(entrant),
        measured=f"{digits(timings[0].median_ms / bare[0].median_ms)} x",
        note="; ".join(said),
        figures=figures,
    )
