"""The threat ledger of SECURITY.md is what the attacks show, and names tests that exist."""

import re
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from attacks.attack import CONTAINER, SANDBOXES, Attack, load

ROOT = Path(__file__).resolve().parents[2]
LEDGER = ROOT / "SECURITY.md"
_CELL = r" ([^|]+) \|"
ROW = re.compile(rf"^\| (T-[A-Z]+-\d\d) \|{_CELL * 5}$", re.MULTILINE)
NAMED_ATTACK = re.compile(r"(?:^|; )(\w+): ((?:`[\w-]+`(?:, )?)+)")
NAMED_TEST = re.compile(r"`(tests/[\w/]+\.py)::(test_\w+)`")
# What the ledger may say of a threat, by what its attacks are said to come to.
STATUSES = {
    "held": {"held", "compared"},
    "refused": {"refused"},
    "some": {"partly"},
    "all": {"not held", "accepted"},
    "engine": {"engine"},
    "absent": {"absent"},
}
COMPARED = "protected"


@dataclass(frozen=True, slots=True, kw_only=True)
class Threat:
    """One row of the ledger: a status for each sandbox, and what shows it."""

    id: str
    sentence: str
    status: dict[str, str]
    shown_by: str

    @property
    def attacks(self) -> list[tuple[str, str]]:
        """The named attacks, each with its file."""
        return [
            (file, name)
            for file, names in NAMED_ATTACK.findall(self.shown_by)
            for name in re.findall(r"[\w-]+", names)
        ]

    @property
    def tests(self) -> list[tuple[str, str]]:
        """The named tests, each with its file."""
        return NAMED_TEST.findall(self.shown_by)


def ledger() -> tuple[Threat, ...]:
    rows = ROW.findall(LEDGER.read_text("utf-8"))
    return tuple(
        Threat(
            id=name,
            sentence=sentence,
            status=dict(zip(SANDBOXES, statuses, strict=True)),
            shown_by=shown_by,
        )
        for name, sentence, *statuses, shown_by in rows
    )


THREATS = ledger()
ATTACKS = {attack.id: attack for attack in load()}
BY_THREAT: dict[str, list[Attack]] = defaultdict(list)
for _attack in ATTACKS.values():
    BY_THREAT[_attack.threat].append(_attack)


def outcome(attacks: Sequence[Attack], backend: str) -> str:
    """What the attacks of a threat come to under a sandbox."""
    if backend == CONTAINER:
        attacks = [attack for attack in attacks if not attack.not_in_containers]
        if not attacks:
            return "absent"
    through = [backend in attack.not_held for attack in attacks]
    if any(through):
        return "all" if all(through) else "some"
    if backend == CONTAINER and any(attack.up_to_engine for attack in attacks):
        return "engine"
    return "refused" if all(backend in attack.refused for attack in attacks) else "held"


def test_the_ledger_can_be_read() -> None:
    lines = [line for line in LEDGER.read_text("utf-8").splitlines() if line.startswith("| T-")]
    assert len(lines) == len(THREATS) > 0


def test_every_id_stands_once() -> None:
    ids = [threat.id for threat in THREATS]
    assert sorted(set(ids)) == sorted(ids)


def test_every_threat_that_is_attacked_is_in_the_ledger() -> None:
    assert sorted(BY_THREAT.keys() - {threat.id for threat in THREATS}) == []


@pytest.mark.parametrize("threat", THREATS, ids=lambda threat: threat.id)
def test_a_threat_names_attacks_and_tests_that_exist(threat: Threat) -> None:
    assert threat.attacks or threat.tests
    for file, name in threat.attacks:
        assert name in ATTACKS, f"there is no attack {name}"
        assert (ATTACKS[name].category, ATTACKS[name].threat) == (file, threat.id)
    for file, name in threat.tests:
        text = (ROOT / file).read_text("utf-8")
        assert re.search(rf"^(?:async )?def {name}\(", text, re.MULTILINE), f"no {file}::{name}"


@pytest.mark.parametrize("backend", SANDBOXES)
@pytest.mark.parametrize("threat", THREATS, ids=lambda threat: threat.id)
def test_a_status_is_what_the_attacks_come_to(threat: Threat, backend: str) -> None:
    status, attacks = threat.status[backend], BY_THREAT[threat.id]
    if not attacks:
        assert status == "held"  # a test that passes shows that
        return
    assert status in STATUSES[outcome(attacks, backend)]
    if status == "compared":
        assert {attack.category for attack in attacks} == {COMPARED}


def test_what_is_accepted_is_said_to_be_a_residual_risk() -> None:
    text = LEDGER.read_text("utf-8")
    risks = text[text.index("\n## Residual risks") :]
    accepted = [threat.id for threat in THREATS if "accepted" in threat.status.values()]
    assert [each for each in accepted if each not in risks] == []
