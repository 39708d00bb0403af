import json
from dataclasses import replace
from pathlib import Path
from typing import cast

import pytest

from hosts import nacre
from nacre.cli.diagnosis.attempts import ATTEMPTS
from nacre.cli.diagnosis.examination import Examination
from nacre.cli.diagnosis.facts import Facts
from nacre.cli.diagnosis.remedies import remedies
from nacre.cli.diagnosis.report import as_fields, as_lines
from nacre.cli.diagnosis.trial import Trial
from nacre.model.confinement import Protection
from nacre.sandbox.gaps import GAPS, gaps

_UNASKED = {Protection.CPU_LIMIT}
_HOST = Facts(
    kernel="6.18.1",
    machine="x86_64",
    distribution=("ubuntu", "debian"),
    landlock_abi=7,
    landlock_errata=7,
    landlock_domains=0,
    no_landlock="",
    lsm="lockdown,capability,yama",
    no_seccomp="",
    bwrap="/usr/bin/bwrap",
    bwrap_version="0.8.0",
    no_bwrap="",
    no_user_namespaces="",
    max_user_namespaces=10_000,
    unprivileged_userns_clone=1,
    apparmor_restricts_userns=0,
    uid=1000,
    capabilities="0000000000000000",
    filtered=False,
    no_new_privs=False,
    container=None,
    inside_nacre=False,
    cgroup=None,
)
_NO_NAMESPACES = replace(_HOST, no_bwrap="it fails", no_user_namespaces="Operation not permitted")


def test_there_is_an_attack_for_every_protection_that_a_workspace_asks_for() -> None:
    assert set(ATTEMPTS) == set(Protection) - _UNASKED


@pytest.mark.needs("namespace")
def test_attacks_come_through_without_a_sandbox_and_are_held_by_what_the_table_names(
    state: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "tmp"
    folder.mkdir()
    done = nacre("doctor", "--json", state=state, variables={"TMPDIR": str(folder)})
    found = json.loads(done.out)
    assert (done.code, done.err, found["auto"]) == (0, "", "bubblewrap")
    backends = cast("dict[str, dict[str, dict[str, str]]]", found["backends"])
    # Nothing of a sandbox can be shown by an attack that fails without one.
    control = {name for name, how in backends["none"]["probed"].items() if how == "open"}
    assert control == set(ATTEMPTS) - set(backends["none"]["enforced"])
    for name in ("bubblewrap", "landlock"):
        probed = backends[name]["probed"]
        open_ones = {protection for protection, how in probed.items() if how != "held"}
        assert open_ones == {gap.protection for gap in gaps(name)} - {None}
        assert set(backends[name]["enforced"]) == set(ATTEMPTS)
    # It leaves nothing behind, not even a state directory.
    assert (list(folder.iterdir()), state.exists()) == ([], False)


def test_the_first_line_says_what_auto_takes_and_the_last_what_is_not_held(state: Path) -> None:
    done = nacre("doctor", state=state)
    lines = done.out.splitlines()
    assert (done.code, done.err) == (0, "")
    assert lines[0].startswith("sandbox='auto' takes ")
    assert [line.partition(": ")[2] for line in lines[-len(GAPS) :]] == [
        gap.sentence for gap in GAPS
    ]


def test_a_protection_that_is_claimed_and_was_breached_is_reported() -> None:
    trial = Trial(
        sandbox="landlock",
        enforced={"write": "landlock", "metadata": "none", "tcp": "seccomp"},
        probed={"write": "open", "metadata": "open", "tcp": "unproven"},
    )
    found = Examination(
        auto="landlock", why="it works", trials={"landlock": trial}, facts=_HOST, remedies=()
    )
    assert found.contradictions == (("landlock", "write"),)
    assert "landlock is to enforce write, and an attack on it came through: report this" in list(
        as_lines(found)
    )
    backends = cast("dict[str, dict[str, object]]", as_fields(found)["backends"])
    assert backends["landlock"]["contradictions"] == ["write"]


@pytest.mark.parametrize(
    ("facts", "missing", "why", "do"),
    [
        (
            replace(_HOST, bwrap=None, no_bwrap="none"),
            "bubblewrap",
            "it is not installed",
            "sudo apt install bubblewrap",
        ),
        (
            replace(
                _HOST, bwrap=None, no_bwrap="none", distribution=("almalinux", "rhel", "centos")
            ),
            "bubblewrap",
            "it is not installed",
            "sudo dnf install bubblewrap",
        ),
        (
            replace(_HOST, bwrap=None, no_bwrap="none", distribution=()),
            "bubblewrap",
            "it is not installed",
            "apk add bubblewrap (alpine)",
        ),
        (
            replace(_NO_NAMESPACES, apparmor_restricts_userns=1),
            "user namespaces",
            "kernel.apparmor_restrict_unprivileged_userns is 1",
            "'profile nacre-bwrap /usr/bin/bwrap flags=(unconfined) {' '  userns,' '}'",
        ),
        (
            replace(_NO_NAMESPACES, max_user_namespaces=0),
            "user namespaces",
            "user.max_user_namespaces is 0",
            "sudo sysctl -w user.max_user_namespaces=15000",
        ),
        (
            replace(_NO_NAMESPACES, unprivileged_userns_clone=0),
            "user namespaces",
            "kernel.unprivileged_userns_clone is 0",
            "sudo sysctl -w kernel.unprivileged_userns_clone=1",
        ),
        (
            replace(_NO_NAMESPACES, container="docker", filtered=True),
            "user namespaces",
            "something around this process",
            "docker run --security-opt seccomp=unconfined",
        ),
        (
            replace(_NO_NAMESPACES, uid=0),
            "user namespaces",
            "root without CAP_SETFCAP",
            "run nacre as an ordinary user",
        ),
        (
            replace(_NO_NAMESPACES, inside_nacre=True, landlock_domains=1),
            "user namespaces",
            "nacre started this",
            "run nacre outside of nacre",
        ),
        (
            replace(_NO_NAMESPACES, landlock_domains=1),
            "user namespaces",
            "a Landlock domain is around this process",
            "outside of the sandbox",
        ),
        (
            replace(_HOST, landlock_domains=16),
            "Landlock",
            "16 domains",
            "outside of the sandbox",
        ),
        (
            replace(_HOST, landlock_abi=0, no_landlock="Operation not supported"),
            "Landlock",
            "Operation not supported",
            "lsm=landlock,lockdown,capability,yama",
        ),
        (
            replace(
                _HOST, landlock_abi=0, no_landlock="Function not implemented", kernel="5.4.0-1"
            ),
            "Landlock",
            "Function not implemented",
            "use Linux 5.13 or newer",
        ),
        (
            replace(_HOST, landlock_abi=5, kernel="6.11.0"),
            "Landlock beyond ABI 5: holding signals to processes of one's own",
            "Linux 6.11.0 has ABI 5",
            "use Linux 6.12 or newer",
        ),
        (
            replace(_HOST, no_seccomp="Invalid argument"),
            "system call filters",
            "Invalid argument",
            "CONFIG_SECCOMP_FILTER=y",
        ),
    ],
)
def test_a_remedy_names_the_cause_and_the_command(
    facts: Facts, missing: str, why: str, do: str
) -> None:
    (remedy,) = remedies(facts)
    assert remedy.missing == missing
    assert why in remedy.why
    assert do in remedy.do


def test_where_nothing_is_missing_there_is_no_remedy() -> None:
    assert remedies(_HOST) == ()
