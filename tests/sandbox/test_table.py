"""Which layer is said to enforce what: the table that every result carries."""

from dataclasses import replace
from pathlib import PurePath

import pytest

from nacre.model.confinement import Confinement, Enforcement, Limits, Network
from nacre.sandbox.rights import rights
from nacre.sandbox.table import landlock_table, none_table, room_table

WORKSPACE = Confinement(
    name="workspace",
    writable=(PurePath("/w"),),
    denied=(PurePath("/s"),),
    private_tmp=True,
    limits=Limits(memory=1, processes=1, file_bytes=1),
)
OPEN = Confinement(name="open", writable=None, network=Network.INHERIT, own_signals=False)
ALWAYS = {
    "kernel_calls": "seccomp",
    "privileges": "no_new_privs",
    "core_files": "rlimit",
    "environment": "cleared",
    "descriptors": "closed",
}
LIMITED = {"memory_limit": "rlimit", "file_limit": "rlimit", "process_limit": "rlimit"}


def landlock(confinement: Confinement, abi: int = 6, *, root: bool = False) -> dict[str, str]:
    table = landlock_table(confinement, rights(abi), cleared=True, root=root)
    return dict(table.by)


def room(confinement: Confinement, abi: int = 6, *, root: bool = False) -> dict[str, str]:
    return dict(room_table(confinement, rights(abi), cleared=True, root=root).by)


def test_landlock_holds_a_workspace_but_for_what_needs_namespaces() -> None:
    assert landlock(WORKSPACE) == {
        "write": "landlock",
        "metadata": "none",
        "protected": "compare",
        "read": "landlock",
        "tcp": "landlock+seccomp",
        "udp": "seccomp",
        "unix_sockets": "seccomp",
        "signals": "landlock",
        "scheduling_of_others": "seccomp",
        "view_of_others": "none",
        "ipc": "seccomp",
        "memory_of_others": "landlock+seccomp",
        "terminals": "session+landlock+seccomp",
        "namespaces": "seccomp",
        "lifetime": "warden",
        **ALWAYS,
        **LIMITED,
    }
    table = landlock_table(WORKSPACE, rights(6), cleared=True, root=False)
    assert table.missing == ("metadata", "view_of_others")


def test_a_room_holds_a_workspace_with_nothing_missing() -> None:
    assert room(WORKSPACE) == {
        "write": "mount+landlock",
        "metadata": "mount",
        "protected": "mount+compare",
        "read": "mount",
        "tcp": "netns",
        "udp": "netns",
        "unix_sockets": "seccomp",
        "signals": "pidns+landlock",
        "scheduling_of_others": "pidns",
        "view_of_others": "pidns",
        "ipc": "ipcns",
        "memory_of_others": "pidns+landlock+seccomp",
        "terminals": "session+mount+seccomp",
        "namespaces": "userns+seccomp",
        "lifetime": "warden+pidns",
        **ALWAYS,
        **LIMITED,
    }
    assert room_table(WORKSPACE, rights(0), cleared=True, root=False).missing == ()


@pytest.mark.parametrize(
    ("abi", "said"),
    [
        (1, {"write": "landlock+seccomp", "tcp": "seccomp", "signals": "none"}),
        (2, {"write": "landlock+seccomp", "tcp": "seccomp", "signals": "none"}),
        (3, {"write": "landlock", "tcp": "seccomp", "signals": "none"}),
        (4, {"write": "landlock", "tcp": "landlock+seccomp", "signals": "none"}),
        (6, {"write": "landlock", "tcp": "landlock+seccomp", "signals": "landlock"}),
    ],
)
def test_an_older_kernel_is_helped_by_the_filter_or_said_to_lack_it(
    abi: int, said: dict[str, str]
) -> None:
    assert {name: landlock(WORKSPACE, abi)[name] for name in said} == said


def test_a_room_without_landlock_says_so() -> None:
    said = room(WORKSPACE, abi=0)
    assert (said["write"], said["signals"]) == ("mount", "pidns")
    assert said["memory_of_others"] == "pidns+seccomp"
    assert "landlock" not in "".join(said.values())


def test_what_is_not_asked_for_is_not_named() -> None:
    assert landlock(OPEN) == {
        "memory_of_others": "landlock+seccomp",
        "terminals": "session+seccomp",
        "namespaces": "seccomp",
        "lifetime": "warden",
        **ALWAYS,
    }
    assert {"write", "read", "metadata", "tcp", "udp", "unix_sockets", "protected"}.isdisjoint(
        room(OPEN)
    )


def test_open_can_still_protect_and_deny_in_a_room() -> None:
    asked = replace(OPEN, protected=(PurePath("/p"),), denied=(PurePath("/s"),))
    assert (room(asked)["protected"], room(asked)["read"]) == ("mount", "mount")
    readable = replace(WORKSPACE, denied=(), readable=(PurePath("/r"),))
    assert room(readable)["read"] == "mount+landlock"
    assert landlock(readable)["read"] == "landlock"


def test_the_processes_of_root_are_counted_by_the_warden() -> None:
    for table in (landlock, room):
        assert table(WORKSPACE, root=True)["process_limit"] == "warden"
        unlimited = replace(WORKSPACE, limits=Limits(cpu_seconds=1))
        assert "process_limit" not in table(unlimited, root=True)
        assert table(unlimited)["cpu_limit"] == "rlimit"
        assert "memory_limit" not in table(unlimited)


def test_without_a_sandbox_three_things_hold_all_the_same() -> None:
    holds = {"environment": "cleared", "descriptors": "closed", "lifetime": "warden"}
    assert none_table(cleared=True) == Enforcement(by=holds)
    assert none_table(cleared=False).missing == ("environment",)
