"""What a restriction grants: everything but what is denied, in grants alone."""

import os
import tempfile
from collections.abc import Iterable
from dataclasses import replace
from itertools import product
from pathlib import Path, PurePath

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nacre.model.confinement import Confinement, Network
from nacre.model.launch import Restriction
from nacre.sandbox.landlock import Listed, restriction
from nacre.sandbox.rights import READ, WRITE, Fs, Net, Rights, Scope, rights

NEWEST = rights(6)
READ_ONLY = Confinement(name="read-only")
PLAIN_DEVICES = {"/dev/null", "/dev/zero", "/dev/full"}


def granted(made: Restriction, path: PurePath) -> Fs:
    """What the rules grant for a path: those of all folders above it, added up."""
    found = Fs(0)
    for name, access in made.rules:
        if path.is_relative_to(name):
            found |= Fs(access)
    return found


def restricted(confinement: Confinement, *, tmp: Iterable[PurePath] = ()) -> Restriction:
    return restriction(confinement, NEWEST, in_room=False, tmp=tmp)


NAMES = ("a", "b", "c")
PATHS = [PurePath(*each) for size in (1, 2, 3) for each in product(NAMES, repeat=size)]
SOME_PATHS = st.lists(st.sampled_from(PATHS), max_size=6, unique=True)


@settings(max_examples=60)
@given(files=SOME_PATHS, denied=SOME_PATHS)
def test_a_file_can_be_read_exactly_if_nothing_above_it_is_denied(
    files: list[PurePath], denied: list[PurePath]
) -> None:
    with tempfile.TemporaryDirectory() as name:
        root = Path(os.path.realpath(name))
        for path in files:
            (root / path).mkdir(parents=True, exist_ok=True)
            (root / path / "file").touch()
        made = restricted(
            Confinement(name="x", readable=(root,), denied=tuple(root / path for path in denied))
        )
        for path in files:
            is_denied = any(path.is_relative_to(each) for each in denied)
            access = granted(made, root / path / "file")
            assert (READ & ~Fs.READ_DIR in access) is not is_denied
            assert not access & WRITE
        for path in denied:
            assert Fs.READ_FILE not in granted(made, root / path / "made" / "later")


def test_without_roots_all_of_the_host_is_readable_but_what_is_denied(tmp_path: Path) -> None:
    root = Path(os.path.realpath(tmp_path))
    (root / "secret").mkdir()
    (root / "beside").mkdir()
    made = restricted(replace(READ_ONLY, denied=(root / "secret", root / "absent" / "deeper")))
    assert Fs.READ_FILE not in granted(made, root / "secret/key")
    for path in (root / "beside/file", PurePath("/usr/bin/env"), PurePath("/etc/passwd")):
        assert READ & ~granted(made, path) == 0
    # Folders on the way can be listed, and what appears in them is not granted.
    for folder in (PurePath("/"), root.parent, root):
        assert granted(made, folder / "appears-later") == Fs.READ_DIR


def test_a_link_to_what_is_denied_is_no_way_to_it(tmp_path: Path) -> None:
    root = Path(os.path.realpath(tmp_path))
    (root / "secret").mkdir()
    (root / "link").symlink_to("secret")
    made = restricted(Confinement(name="x", readable=(root,), denied=(root / "secret",)))
    assert str(root / "link") not in [name for name, _ in made.rules]


def test_if_a_root_itself_is_denied_nothing_of_it_is_granted(tmp_path: Path) -> None:
    (tmp_path / "inside").mkdir()
    made = restricted(Confinement(name="x", readable=(tmp_path,), denied=(tmp_path,)))
    assert {name for name, _ in made.rules} == PLAIN_DEVICES


def test_writing_is_granted_in_writable_folders_and_the_private_tmp_only(tmp_path: Path) -> None:
    workspace, private = tmp_path / "workspace", tmp_path / "private"
    made = restricted(
        Confinement(name="workspace", writable=(workspace,), private_tmp=True), tmp=(private,)
    )
    for folder in (workspace, private):
        assert granted(made, folder / "file") & WRITE == WRITE
    for path in (tmp_path, tmp_path / "beside", PurePath("/tmp"), PurePath("/dev/shm/x")):
        assert not granted(made, path) & WRITE
    assert not granted(made, workspace) & (Fs.MAKE_CHAR | Fs.MAKE_BLOCK | Fs.IOCTL_DEV)


@pytest.mark.parametrize("in_room", [False, True])
def test_read_only_permits_three_devices_to_be_written_and_nothing_else(*, in_room: bool) -> None:
    made = restriction(READ_ONLY, NEWEST, in_room=in_room)
    writing = {name: Fs(access) & WRITE for name, access in made.rules if access & WRITE}
    assert set(writing) == PLAIN_DEVICES
    assert {*writing.values()} == {Fs.WRITE_FILE | Fs.TRUNCATE}
    assert Fs(made.fs) & WRITE == WRITE


def test_in_a_room_the_mounts_deny_and_its_own_devices_are_there(tmp_path: Path) -> None:
    confinement = Confinement(
        name="workspace", writable=(tmp_path,), private_tmp=True, denied=(tmp_path / "x",)
    )
    made = restriction(confinement, NEWEST, in_room=True, tmp=(PurePath("/tmp"),))
    assert not Fs(made.fs) & READ
    assert granted(made, PurePath("/dev/shm/x")) & Fs.MAKE_REG
    assert granted(made, PurePath("/dev/pts/0")) & Fs.IOCTL_DEV
    assert not granted(made, PurePath("/dev/sda"))
    outside = restriction(confinement, NEWEST, in_room=False)
    assert Fs(outside.fs) & READ == READ
    assert not granted(outside, PurePath("/dev/pts/0")) & WRITE


def test_open_handles_no_files_unless_some_are_denied(tmp_path: Path) -> None:
    confinement = Confinement(
        name="open", writable=None, network=Network.INHERIT, own_signals=False
    )
    made = restricted(confinement)
    assert (made.fs, made.net, made.scope, made.rules) == (0, 0, 0, ())
    denying = restricted(replace(confinement, denied=(tmp_path,)))
    assert Fs(denying.fs) == READ
    assert not any(access & WRITE for _, access in denying.rules)


@pytest.mark.parametrize(
    ("network", "in_room", "net"),
    [
        (Network.DENY, False, Net.BIND_TCP | Net.CONNECT_TCP),
        (Network.DENY, True, Net(0)),
        (Network.INHERIT, False, Net(0)),
        (Network.INHERIT, True, Net(0)),
    ],
)
def test_the_network_is_handled_where_it_is_denied_and_shared(
    network: Network, net: Net, *, in_room: bool
) -> None:
    made = restriction(replace(READ_ONLY, network=network), NEWEST, in_room=in_room)
    assert made.net == net
    assert made.scope == Scope.SIGNAL | Scope.ABSTRACT_UNIX_SOCKET


@pytest.mark.parametrize("abi", range(12))
def test_nothing_is_handled_or_granted_that_a_kernel_does_not_know(
    abi: int, tmp_path: Path
) -> None:
    known: Rights = rights(abi)
    confinement = Confinement(
        name="x", writable=(tmp_path,), denied=(tmp_path / "x",), private_tmp=True
    )
    for in_room in (False, True):
        made = restriction(confinement, known, in_room=in_room, tmp=(tmp_path,))
        assert made.fs & ~known.fs == 0
        assert made.net & ~known.net == 0
        assert made.scope & ~known.scope == 0
        assert all(access & ~made.fs == 0 for _, access in made.rules)


@pytest.mark.parametrize(
    ("abi", "right"),
    [
        (1, Fs.MAKE_SYM), (2, Fs.REFER), (3, Fs.TRUNCATE), (4, Net.CONNECT_TCP),
        (5, Fs.IOCTL_DEV), (6, Scope.SIGNAL), (9, Fs.RESOLVE_UNIX), (10, Net.CONNECT_SEND_UDP),
    ],
)  # fmt: skip
def test_a_right_is_known_from_its_abi_on(abi: int, right: Fs | Net | Scope) -> None:
    def has(known: Rights) -> bool:
        return any(right is each for each in (*known.fs, *known.net, *known.scope))

    assert [has(rights(each)) for each in range(13)] == [each >= abi for each in range(13)]


def test_equal_restrictions_have_equal_keys_and_others_others(tmp_path: Path) -> None:
    confinement = Confinement(name="workspace", writable=(tmp_path,))
    made = restriction(confinement, NEWEST, in_room=False)
    assert restriction(confinement, NEWEST, in_room=False) == made
    others = [
        restriction(confinement, NEWEST, in_room=True),
        restriction(confinement, NEWEST, in_room=False, changed=(1,)),
        restriction(confinement, NEWEST, in_room=False, tmp=(tmp_path / "x",)),
        restriction(confinement, rights(1), in_room=False),
        restriction(replace(confinement, network=Network.INHERIT), NEWEST, in_room=False),
    ]
    assert len({made.key, *(each.key for each in others)}) == 6


def test_folders_that_lead_to_what_is_denied_are_watched(tmp_path: Path) -> None:
    root = Path(os.path.realpath(tmp_path))
    (root / "a").mkdir()
    listed = Listed(Confinement(name="x", denied=(root / "a/b/c", root / "d")))
    assert listed.has_changed()
    assert not listed.has_changed()
    for path in (root / "beside", root / "a/beside", root / "a/b", root / "a/b/beside"):
        path.mkdir()
        os.utime(path.parent, ns=(1, path.stat().st_ino))  # a clock is too coarse for a test
        assert listed.has_changed(), path
        assert not listed.has_changed()
    (root / "beside/inside").mkdir()
    assert not listed.has_changed()
