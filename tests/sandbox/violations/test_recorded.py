"""Every recorded failure, judged; and how often that is right."""

from functools import cache

import pytest

from nacre.model.violation import Violation
from nacre.sandbox.violations import violations
from nacre.sandbox.violations.find import _distinct, _found
from sandbox.violations.recorded import SETS, Case, cases, host


@cache
def _judged(name: str) -> tuple[tuple[Case, tuple[Violation, ...]], ...]:
    """The runs of one set, and what was found in each."""
    # Past the door that keeps a fault of ours from the caller.
    return tuple(
        (case, _distinct(_found(case.evidence, host(online=not case.offline))))
        for case in cases(name)
    )


def _told(case: Case, found: tuple[Violation, ...]) -> bool:
    """Whether what was stopped is among what was found."""
    return any(
        each.kind.value == kind and each.target.startswith(target)
        for each in found
        for kind, target in case.stopped
    )


def _strange(case: Case, found: tuple[Violation, ...]) -> list[str]:
    kinds = {kind for kind, _ in case.stopped}
    return [each.sentence for each in found if each.kind.value not in kinds]


@pytest.mark.parametrize("name", SETS)
def test_what_the_sandbox_stopped_is_told_and_nothing_else(name: str) -> None:
    wrong: dict[str, object] = {}
    for case, found in _judged(name):
        if bool(strange := _strange(case, found)) != case.mistaken:
            wrong[case.name] = strange or "no longer mistaken"
        elif case.stopped and _told(case, found) == case.missed:
            wrong[case.name] = "missed" if not case.missed else "no longer missed"
    assert wrong == {}


@pytest.mark.parametrize("name", SETS)
def test_the_door_says_the_same(name: str) -> None:
    for case, found in _judged(name):
        assert violations(case.evidence, host(online=not case.offline)) == found


def test_the_recordings_are_many_of_both_kinds() -> None:
    everything = [case for name in SETS for case in cases(name)]
    assert sum(bool(case.stopped) for case in everything) >= 300
    assert sum(not case.stopped for case in everything) >= 250


def test_precision_and_recall() -> None:
    everything = [judged for name in SETS for judged in _judged(name)]
    right = sum(bool(case.stopped) and _told(case, found) for case, found in everything)
    wrong = sum(bool(_strange(case, found)) for case, found in everything)
    missed = sum(bool(case.stopped) for case, _ in everything) - right
    assert right / (right + wrong) >= 0.99
    assert right / (right + missed) >= 0.98


def test_nothing_is_the_sandboxs_doing_where_none_is_in_force() -> None:
    for name in SETS:
        for case, found in _judged(name):
            if "none" in case.name:
                assert found == ()
