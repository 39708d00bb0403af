"""Calls of all entrants in turn, so that whatever this machine does besides happens to all of them."""

import random
from collections.abc import Sequence
from dataclasses import dataclass, field
from statistics import median, quantiles

import anyio

from nacre.cli.benchmarks.peers.driver import DriverError
from nacre.cli.benchmarks.peers.entrant import WORKS, Answer, Call, Racer, Work
from nacre.cli.benchmarks.row import FailedToRunError, Scale, Timing

__all__ = ("Course", "race")

# The first calls start what is kept, and fill caches.
_WARM_UP = 3
# Before each call: a spare that the last one has taken is replaced within it, at nobody's cost.
_PAUSE_SECONDS = 0.01
# Who takes longer is called less often, or the run would be all theirs.
_SLOW_SECONDS = 0.02
_SLOW_TURNS = 5


@dataclass(slots=True, eq=False)
class Course:
    """What has become of one racer: the answers it has given, and why it gives no more, if it does not."""

    racer: Racer
    call: Call
    answers: dict[Work, list[Answer]] = field(default_factory=lambda: {work: [] for work in WORKS})
    failure: str = ""

    def timings(self) -> tuple[Timing, ...]:
        """What its calls have taken, for each work, of those that did it; none if it is out."""
        return () if self.failure else tuple(map(self._timing, WORKS))

    def lacking(self) -> int:
        """How many answers had not in them what the script prints."""
        return sum(not work.done(each) for work in WORKS for each in self.answers[work])

    def _timing(self, work: Work) -> Timing:
        seconds = [each.seconds for each in self.answers[work] if work.done(each)]
        late = quantiles(seconds, n=10, method="inclusive")[-1] if len(seconds) > 1 else seconds[0]
        return Timing(
            work=work.script,
            n=len(seconds),
            median_ms=_milliseconds(median(seconds)),
            p90_ms=_milliseconds(late),
        )

    def out(self, why: str) -> None:
        """End it.

        Raises:
            FailedToRunError: If it is no peer: then there is nothing to measure others against.
        """
        if self.racer.stop is None:
            raise FailedToRunError(f"{self.racer.entrant.name}: {why}")
        self.racer.stop()
        self.failure = why


async def race(racers: Sequence[Racer], scale: Scale) -> list[Course]:
    """Call everyone who is there again and again, in an order that changes with each round.

    A peer that fails is out, with the reason; the others go on.

    Raises:
        FailedToRunError: If one fails that is no peer.
    """
    courses = [Course(racer, racer.call) for racer in racers if racer.call is not None]
    slow = [course for course in courses if await _warmed_up(course) > _SLOW_SECONDS]
    rounds, slow_turns = scale.of(100, quick=2), scale.of(_SLOW_TURNS, quick=1)
    order = random.Random(0)  # noqa: S311 (the same order each time; no secret)
    for number in range(rounds):
        for work in WORKS:
            turn = [each for each in courses if number % slow_turns == 0 or each not in slow]
            order.shuffle(turn)
            for course in turn:
                await anyio.sleep(_PAUSE_SECONDS)
                await _called(course, work)
    for course in courses:
        if not course.failure and not all(any(map(w.done, course.answers[w])) for w in WORKS):
            course.out("it answered without what the script prints")
    return courses


async def _warmed_up(course: Course) -> float:
    """How long the first calls took, which do not count."""
    for _ in range(_WARM_UP):
        for work in WORKS:
            await _called(course, work)
    took = [answer.seconds for answers in course.answers.values() for answer in answers]
    for answers in course.answers.values():
        answers.clear()
    return median(took) if took else 0.0


async def _called(course: Course, work: Work) -> None:
    """One more answer, of who is not out."""
    if not course.failure:
        try:
            course.answers[work].append(await course.call(work.script))
        except DriverError as error:
            course.out(str(error))


def _milliseconds(seconds: float) -> float:
    """To the microsecond; at least one, since a logarithm is taken of it."""
    return max(round(seconds * 1e3, 3), 0.001)
