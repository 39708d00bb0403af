"""Many scripts run and judged, and what came of it in figures."""

import json
import random
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

from oracle.generate import Sample, generated, planted
from oracle.judge import Answer, judge
from oracle.namespace import Namespace
from oracle.shrink import shrunk

__all__ = ("Finding", "Report", "cases", "fuzz", "plants", "tried")

_SHARED = Path(__file__).parents[3] / "shared"
_LONGEST = 3000
# What walks the whole disk or waits for somebody only uses up its time.
_WAITS = re.compile(
    r"\b(?:find|du|ls -\S*R) (?:~|/|\$)|\bwhile\b|\buntil\b|\byes\b|\btop\b|tail -f"
)


@dataclass(frozen=True, slots=True)
class Finding:
    """A program that ran and got an answer worth showing, and a script that shows it."""

    answer: Answer
    name: str
    script: str

    def shrunk(self, place: Namespace) -> "Finding":
        """The same with the smallest script."""

        def still(script: str) -> bool:
            found = judge(script, place.run(script)).having(self.answer)
            return any(call[0] == self.name for call in found)

        return Finding(self.answer, self.name, shrunk(self.script, still))


@dataclass(slots=True)
class Report:
    """Figures of a campaign."""

    scripts: int = 0
    ran: int = 0
    refused: int = 0
    slow: int = 0
    literal: int = 0
    answers: Counter[Answer] = field(default_factory=Counter[Answer])
    literally: Counter[Answer] = field(default_factory=Counter[Answer])
    findings: list[Finding] = field(default_factory=list[Finding])
    idle: list[str] = field(default_factory=list[str])

    def add(self, sample: Sample, place: Namespace) -> None:
        """Run a script, judge its reading, count."""
        run = place.run(sample.script)
        self.scripts += 1
        self.refused += bool(run.refused)
        self.slow += run.status is not None and run.status < 0
        judgement = judge(sample.script, run)
        if judgement.idle:
            self.idle.append(sample.script)
        if not judgement.answers:
            return
        self.ran += 1
        self.literal += sample.literal
        worst = max((answer for _, answer in judgement.answers), key=list(Answer).index)
        self.answers[worst] += 1
        if sample.literal:
            self.literally[worst] += 1
        if worst is not Answer.WORDS:
            name = judgement.having(worst)[0][0]
            self.findings.append(Finding(worst, name, sample.script))

    def join(self, other: "Report") -> None:
        """Count what another one counted."""
        self.scripts += other.scripts
        self.ran += other.ran
        self.refused += other.refused
        self.slow += other.slow
        self.literal += other.literal
        self.answers += other.answers
        self.literally += other.literally
        self.findings += other.findings
        self.idle += other.idle

    def lines(self) -> Iterator[str]:
        """The figures, for a person."""
        yield f"{self.scripts:7} scripts run"
        yield f"{self.ran:7} in which a fake ran"
        for answer in Answer:
            yield f"{self.answers[answer]:7} of these: {answer.value}"
        yield f"{self.literal:7} in which a fake ran and every name is written out"
        for answer in (Answer.OPAQUE, Answer.UNREADABLE):
            yield f"{self.literally[answer]:7} of these: {answer.value}"
        yield f"{len(self.idle):7} whose reading has a fake, on no branch, that did not run"
        yield f"{self.slow:7} were ended, {self.refused} could not be given to bash"


def tried(samples: Iterable[Sample], *, workers: int = 1) -> Report:
    """Run and judge samples, in as many places at a time as there are workers."""
    queue = iter(list(samples))
    report = Report()

    def work(_: int) -> Report:
        mine = Report()
        with Namespace() as place:
            for sample in queue:
                mine.add(sample, place)
        return mine

    with ThreadPoolExecutor(workers) as pool:
        for each in pool.map(work, range(workers)):
            report.join(each)
    return report


def fuzz(seed: int, count: int) -> Iterable[Sample]:
    """Generated scripts, the same for the same seed."""
    return map(generated, range(seed * 1_000_000, seed * 1_000_000 + count))


def cases() -> list[Sample]:
    """Every script of the shared cases; none where they are absent."""
    found: dict[str, None] = {}
    for name in ("analysis_cases", "display_cases", "seed_cases"):
        path = _SHARED / "cases" / f"{name}.json"
        for case in json.loads(path.read_text("utf-8")) if path.exists() else ():
            for key in ("command", "input"):
                if script := _script(case.get(key)):
                    found[script] = None
    return [Sample(script, ("case",), literal=False) for script in found]


def _script(value: object) -> str:
    match value:
        case str():
            return value
        case {"command": str(command)}:
            return command
        case _:
            return ""


def plants(seed: int, count: int) -> list[Sample]:
    """Scripts that people wrote, with commands put into them; none where there are none."""
    texts: list[str] = []
    for path in sorted((_SHARED / "corpus").glob("*")):
        text = path.read_text("utf-8")
        if path.suffix == ".json":
            texts += json.loads(text)
        elif path.name == "nl2bash.txt":
            texts += text.splitlines()
    texts = [text for text in texts if len(text) < _LONGEST and not _WAITS.search(text)]
    chance = random.Random(seed)  # noqa: S311
    return [
        planted(chance.choice(texts), seed * 1_000_000 + at) for at in range(count if texts else 0)
    ]
