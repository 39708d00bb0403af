"""The published list says what the attacks find, no less and no more."""

from fnmatch import fnmatchcase

import pytest

from attacks.attack import CONTAINER, SANDBOXES, load
from nacre.model.confinement import Confinement, Protection
from nacre.sandbox.gaps import GAPS, gaps, left_out
from nacre.sandbox.rights import rights
from nacre.sandbox.table import landlock_table, room_table

# Which attacks show which gap.
_SHOWN_BY = {
    "metadata": ("metadata-chmod*", "metadata-fchmod*", "metadata-*time*", "metadata-*xattr"),
    "names": ("read-listing",),
    "processes": ("read-arguments-of-another", "read-processes-of-others"),
    "segments": ("ipc-shared-memory-seen",),
    "hard-link": ("write-hard-link-already-there",),
    "locks": ("metadata-lock",),
    "resident": ("parent-*", "descriptor-output-reopened"),
    "address-space": ("resource-memory",),
}
# Shown by what is up to the engine.
_UP_TO_ENGINE = "limits"
# In a room it changes the priority of the room's own processes: it goes through, and harms nobody.
_HARMLESS = {("bubblewrap", "process-renice-user")}


def _gap_of(attack: str) -> str | None:
    found = [
        gap
        for gap, patterns in _SHOWN_BY.items()
        if any(fnmatchcase(attack, each) for each in patterns)
    ]
    return found[0] if len(found) == 1 else None


@pytest.mark.parametrize("backend", SANDBOXES)
def test_every_attack_that_is_not_held_shows_a_published_gap_and_every_gap_is_shown(
    backend: str,
) -> None:
    unheld = [
        attack.id
        for attack in load()
        if backend in attack.not_held and (backend, attack.id) not in _HARMLESS
    ]
    shown = {attack: _gap_of(attack) for attack in unheld}
    assert [attack for attack, gap in shown.items() if gap is None] == []
    engines = backend == CONTAINER and any(attack.up_to_engine for attack in load())
    left_open = {_UP_TO_ENGINE} if engines else set[str]()
    assert {*shown.values(), *left_open} == {gap.id for gap in gaps(backend)}


def test_a_protection_that_nothing_enforces_is_a_gap_as_a_whole() -> None:
    confinement = Confinement(name="workspace", private_tmp=True)
    tables = {"landlock": landlock_table, "bubblewrap": room_table}
    for backend, table in tables.items():
        found = table(confinement, rights(7), cleared=True, root=False)
        wholes = {gap.protection for gap in gaps(backend)} - {None}
        assert set(found.missing) == wholes
    assert {gap.protection for gap in GAPS} - {None} == {
        Protection.METADATA,
        Protection.VIEW_OF_OTHERS,
    }


def test_each_gap_is_one_sentence_of_its_own() -> None:
    assert len({gap.id for gap in GAPS}) == len(GAPS)
    assert [gap.id for gap in GAPS if not gap.sentence.endswith(".")] == []
    assert [gap.id for gap in GAPS if ". " in gap.sentence] == []


def test_what_one_sandbox_leaves_out_is_what_the_other_holds() -> None:
    assert left_out("landlock", "bubblewrap") == (
        "modes, times and attributes of files outside, names in denied folders,"
        " the view of other processes, the list of shared memory"
    )
    assert left_out("bubblewrap", "landlock") == ""
