"""What the suite saw, held against what is expected of this server."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from mcp_conformance.scenarios import EXCUSED, NOT_OURS, OURS, VERSIONS, Subject
from mcp_conformance.suite import EXTENSION, Check

__all__ = ("Finding", "Report")

# Sent with any scenario: that messages had the right form does not show that it got anywhere.
_BESIDE = {"wire-schema-valid", "wire-schema-harness-error"}
_BAD = {"FAILURE", "WARNING"}


@dataclass(frozen=True, slots=True)
class Finding:
    """One scenario of a version, tried on a server."""

    scenario: str
    version: str
    checks: Sequence[Check]

    @property
    def passed(self) -> int:
        """How many checks passed."""
        return sum(check.status == "SUCCESS" for check in self.checks)

    def having(self, statuses: set[str], *, excused: bool) -> list[Check]:
        """The checks that came out so, and are excused or are not."""
        return [
            check
            for check in self.checks
            if check.status in statuses and ((self.scenario, check.id) in EXCUSED) is excused
        ]

    def faults(self) -> Iterator[str]:
        """Why it did not pass."""
        for check in self.having(_BAD, excused=False):
            yield f"{check.id}: {check.message}"
        proofs = [each for each in self.checks if each.id not in _BESIDE]
        if not any(each.status == "SUCCESS" for each in proofs):
            yield "no check of it passed, so it showed nothing"

    def left_out(self) -> Iterator[str]:
        """What it did not look at, and why."""
        for check in self.having(_BAD, excused=True):
            yield f"{check.id}: {EXCUSED[self.scenario, check.id]}"
        for check in self.having({"SKIPPED"}, excused=False):
            yield f"{check.id}: {check.message}"


class Report:
    """All findings, and what they come to."""

    def __init__(self, scenarios: Mapping[str, Sequence[str]]) -> None:
        self._scenarios = scenarios
        self._findings: dict[tuple[str, str], Finding] = {}

    def add(self, version: str, subject: Subject, seen: Mapping[str, Sequence[Check]]) -> None:
        """Note what was seen of the scenarios that are for a server, at that server."""
        for scenario in self._of(version):
            if OURS.get(scenario) is subject:
                found = Finding(scenario, version, seen.get(scenario, ()))
                self._findings[scenario, version] = found

    def faults(self) -> list[str]:
        """Everything that is not as it should be; nothing, if all is well."""
        tables = {**OURS, **NOT_OURS}
        unknown = [
            f"{each}: the suite has it, and scenarios.py does not say whether it is for this server"
            for each in self._scenarios
            if each not in tables
        ]
        gone = [
            f"{each}: the suite does not have it" for each in tables if each not in self._scenarios
        ]
        gone += [
            f"{scenario}: its check {check} did not fail, so it needs no excuse"
            for scenario, check in EXCUSED
            if not any(
                each.id == check
                for found in self._findings.values()
                if found.scenario == scenario
                for each in found.having(_BAD, excused=True)
            )
        ]
        failed = [
            f"{found.scenario} ({found.version}): {fault}"
            for found in self._findings.values()
            for fault in found.faults()
        ]
        return [*unknown, *gone, *failed]

    def rows(self) -> Iterator[tuple[str, ...]]:
        """The table: a scenario, the checks that passed for each version, and what it was tried on."""
        yield ("scenario", *VERSIONS, "tried on")
        for scenario in self._scenarios:
            if subject := OURS.get(scenario):
                yield (scenario, *(self._cell(scenario, each) for each in VERSIONS), subject.value)
        for title, figures in self._totals():
            yield (title, *map(str, figures), "")

    def reasons(self) -> Iterator[tuple[str, str]]:
        """The scenarios that are not for this server: the reason, and their names."""
        for reason in dict.fromkeys(NOT_OURS.values()):
            names = [each for each in self._scenarios if NOT_OURS.get(each) == reason]
            yield reason, ", ".join(names)

    def left_out(self) -> list[str]:
        """Checks within the others that were not made, each once."""
        return [
            *dict.fromkeys(
                f"{found.scenario}, {line}"
                for found in self._findings.values()
                for line in found.left_out()
            )
        ]

    def _totals(self) -> Iterator[tuple[str, list[int]]]:
        of = [[f for f in self._findings.values() if f.version == each] for each in VERSIONS]
        yield "scenarios that passed", [sum(not [*f.faults()] for f in each) for each in of]
        yield "scenarios that failed", [sum(bool([*f.faults()]) for f in each) for each in of]
        yield "checks that passed", [sum(f.passed for f in each) for each in of]
        not_ours = [sum(name in NOT_OURS for name in self._of(each)) for each in VERSIONS]
        yield "scenarios not for this server", not_ours
        extensions = [name for name, tags in self._scenarios.items() if EXTENSION in tags]
        yield "of extensions that it does not have", [len(extensions)] * len(VERSIONS)

    def _cell(self, scenario: str, version: str) -> str:
        if version not in self._scenarios[scenario]:
            return "-"
        found = self._findings.get((scenario, version))
        if found is None or [*found.faults()]:
            return "FAILED"
        return str(found.passed)

    def _of(self, version: str) -> list[str]:
        return [name for name, tags in self._scenarios.items() if version in tags]
