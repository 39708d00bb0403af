"""The words that make a room: which mounts, and in which order."""

import os
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path, PurePath
from typing import NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nacre.model.confinement import Confinement, Network
from nacre.sandbox import bubblewrap as module
from nacre.sandbox.bubblewrap import find_bwrap, own_python, room
from nacre.sandbox.protected.paths import Mounts

BWRAP = "/usr/bin/bwrap"
WORKSPACE = Confinement(name="workspace", writable=(PurePath("/w"),), private_tmp=True)
TMP = Path("/state/tmp/1")


class Mount(NamedTuple):
    """One mount of a room, as its words say it."""

    how: str
    source: str
    target: str


def mounts(words: tuple[str, ...]) -> list[Mount]:
    """What is mounted, in order; a tmpfs has no source but its mode."""
    found: list[Mount] = []
    perms = ""
    rest: Iterator[str] = iter(words)
    for word in rest:
        match word:
            case "--perms":
                perms = next(rest)
            case "--tmpfs" | "--dev" | "--proc":
                found.append(Mount(word, perms, next(rest)))
                perms = ""
            case "--bind" | "--ro-bind" | "--ro-bind-try" | "--dev-bind":
                found.append(Mount(word, next(rest), next(rest)))
            case _:
                pass
    return found


def seen(words: tuple[str, ...], path: str) -> Mount:
    """The mount that a path lies on in the room: the last above it."""
    return [each for each in mounts(words) if PurePath(path).is_relative_to(each.target)][-1]


def test_the_host_is_there_to_be_read_and_the_rest_is_the_rooms_own() -> None:
    words = room(BWRAP, WORKSPACE, tmp=TMP).argv
    assert words[0] == BWRAP
    assert words[-3:] == ("--chdir", "/", "--")
    assert mounts(words)[0] == Mount("--ro-bind", "/", "/")
    assert seen(words, "/etc/passwd").how == "--ro-bind"
    assert seen(words, "/w/x") == Mount("--bind", "/w", "/w")
    assert seen(words, "/run/user/0/bus") == Mount("--tmpfs", "", "/run")
    assert seen(words, "/dev/shm/x") == Mount("--tmpfs", "", "/dev/shm")
    assert seen(words, "/dev/sda").how == "--dev"
    assert seen(words, "/proc/1").how == "--proc"
    for path in ("/tmp/x", "/var/tmp/x"):
        assert seen(words, path).source == str(TMP)


def test_memory_for_files_has_an_end() -> None:
    words = room(BWRAP, WORKSPACE, tmp=TMP).argv
    for name in ("/run", "/dev/shm"):
        at = words.index(name)
        assert words[at - 3 : at] == ("--size", str(1 << 30), "--tmpfs")


@pytest.mark.parametrize("network", list(Network))
def test_namespaces_are_all_there(network: Network) -> None:
    words = room(BWRAP, replace(WORKSPACE, network=network), tmp=TMP).argv
    assert {
        "--unshare-user", "--unshare-pid", "--unshare-ipc", "--unshare-uts", "--disable-userns",
        "--new-session", "--die-with-parent",
    } <= {*words}  # fmt: skip
    assert words[words.index("--cap-drop") + 1] == "ALL"
    assert ("--unshare-net" in words) is (network is Network.DENY)
    assert ("/run/systemd/resolve" in words) is (network is Network.INHERIT)
    assert not {"--unsetenv", "--setenv", "--clearenv", "--share-net"} & {*words}


def test_a_deeper_mount_lies_over_the_one_above_it(tmp_path: Path) -> None:
    memo, config = tmp_path / "memo", tmp_path / ".git/hooks"
    config.mkdir(parents=True)
    memo.touch()
    confinement = replace(WORKSPACE, writable=(memo / "inner", tmp_path), protected=(memo,))
    pinned = Mounts(read_only=(config,), pinned=(tmp_path / ".git",))
    words = room(BWRAP, confinement, tmp=TMP, mounts=pinned).argv
    assert seen(words, f"{tmp_path}/file").how == "--bind"
    assert seen(words, f"{tmp_path}/.git/index") == Mount("--bind", *[f"{tmp_path}/.git"] * 2)
    assert seen(words, f"{config}/pre-commit").how == "--ro-bind"
    assert seen(words, f"{memo}/x").how == "--ro-bind"
    assert seen(words, f"{memo}/inner/x").how == "--bind"


def test_what_is_protected_in_a_writable_root_of_the_same_name_is_read_only(
    tmp_path: Path,
) -> None:
    confinement = replace(WORKSPACE, writable=(tmp_path,), protected=(tmp_path,))
    assert seen(room(BWRAP, confinement, tmp=TMP).argv, f"{tmp_path}/x").how == "--ro-bind"


def test_what_is_denied_is_hidden_over_everything_else(tmp_path: Path) -> None:
    folder, file = tmp_path / "keys", tmp_path / "file"
    folder.mkdir()
    file.touch()
    confinement = replace(
        WORKSPACE,
        writable=(tmp_path, folder / "deeper"),
        denied=(folder, file, tmp_path / "absent", PurePath("/etc/shadow-nobody-has")),
    )
    words = room(BWRAP, confinement, tmp=TMP).argv
    assert seen(words, f"{folder}/deeper/x") == Mount("--tmpfs", "0000", str(folder))
    assert seen(words, str(file)) == Mount("--ro-bind", "/dev/null", str(file))
    assert str(tmp_path / "absent") not in words
    last = [each.target for each in mounts(words)][-2:]
    assert last == [str(folder), str(file)]


def test_a_missing_protected_path_is_not_made_by_a_mount(tmp_path: Path) -> None:
    confinement = replace(WORKSPACE, protected=(tmp_path / "absent",))
    assert str(tmp_path / "absent") not in room(BWRAP, confinement, tmp=TMP).argv


def test_open_has_the_hosts_files_and_devices_and_its_own_processes() -> None:
    confinement = Confinement(name="open", writable=None, network=Network.INHERIT)
    words = room(BWRAP, confinement, tmp=None).argv
    assert mounts(words)[0] == Mount("--dev-bind", "/", "/")
    assert [each.target for each in mounts(words)[1:] if each.how != "--ro-bind"] == ["/proc"]


def test_without_a_private_tmp_the_hosts_is_there_to_be_read() -> None:
    words = room(BWRAP, Confinement(name="read-only"), tmp=None).argv
    assert seen(words, "/tmp/x") == Mount("--ro-bind", "/", "/")
    assert seen(words, "/run/x").how == "--tmpfs"
    assert {each.how for each in mounts(words)} & {"--bind", "--dev-bind"} == set()


def test_our_own_python_is_shown_where_the_room_would_hide_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert PurePath(os.path.realpath(sys.executable)).parent in own_python()
    assert PurePath(module.__file__).parents[2] in own_python()
    venv = PurePath("/tmp/a/venv")
    monkeypatch.setattr(sys, "prefix", str(venv))
    words = room(BWRAP, WORKSPACE, tmp=TMP).argv
    assert seen(words, f"{venv}/bin/python") == Mount("--ro-bind", str(venv), str(venv))
    assert seen(words, "/tmp/a/other").source == str(TMP)
    # With the host's own /tmp there is nothing to be shown; in /run there always is.
    assert str(venv) not in room(BWRAP, Confinement(name="read-only"), tmp=None).argv
    monkeypatch.setattr(sys, "prefix", "/run/venv")
    assert "/run/venv" in room(BWRAP, Confinement(name="read-only"), tmp=None).argv
    assert tmp_path not in own_python()


def test_a_visible_folder_is_shown_and_not_writable() -> None:
    confinement = replace(WORKSPACE, visible=(PurePath("/tmp/cwd"), PurePath("/srv/cwd")))
    words = room(BWRAP, confinement, tmp=TMP).argv
    assert seen(words, "/tmp/cwd/x") == Mount("--ro-bind", "/tmp/cwd", "/tmp/cwd")
    assert seen(words, "/srv/cwd/x") == Mount("--ro-bind", "/", "/")
    both = replace(confinement, writable=(PurePath("/tmp/cwd/w"),))
    assert seen(room(BWRAP, both, tmp=TMP).argv, "/tmp/cwd/w/x").how == "--bind"


_PATHS = st.lists(st.sampled_from("abc"), min_size=1, max_size=4).map(
    lambda names: Path("/", *names)
)


@given(st.sets(_PATHS, max_size=4), st.sets(_PATHS, max_size=4))
def test_the_longest_path_decides(writable: set[Path], read_only: set[Path]) -> None:
    confinement = replace(WORKSPACE, writable=tuple(writable))
    held = Mounts(read_only=tuple(read_only), pinned=())
    words = room(BWRAP, confinement, tmp=TMP, mounts=held).argv
    for path in writable | read_only:
        how = "--ro-bind" if path in read_only else "--bind"
        assert seen(words, str(path)) == Mount(how, str(path), str(path))


@pytest.fixture
def programs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """No bubblewrap in the usual places, and folders for PATH."""
    monkeypatch.setattr(module, "_USUAL", ())
    return Path(os.path.realpath(tmp_path))


def make(folder: Path, mode: int = 0o755) -> str:
    folder.mkdir(parents=True, exist_ok=True)
    program = folder / "bwrap"
    program.touch()
    program.chmod(mode)
    return str(program)


def test_the_usual_place_comes_first(programs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    usual, other = make(programs / "usual"), make(programs / "other")
    monkeypatch.setenv("PATH", str(programs / "other"))
    assert find_bwrap(()) == other
    monkeypatch.setattr(module, "_USUAL", (usual,))
    assert find_bwrap(()) == usual
    assert find_bwrap((programs / "usual",)) == other


def test_no_program_is_taken_from_an_untrusted_folder(
    programs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    workspace = programs / "workspace"
    make(workspace / "bin")
    (programs / "link").symlink_to(workspace / "bin")
    (programs / "links").mkdir()
    (programs / "links/bwrap").symlink_to(workspace / "bin/bwrap")
    monkeypatch.setenv("PATH", f"{workspace}/bin:{programs}/link:{programs}/links")
    assert find_bwrap((workspace,)) is None
    assert find_bwrap(()) == f"{workspace}/bin/bwrap"
    trusted = make(programs / "trusted")
    monkeypatch.setenv("PATH", f"{workspace}/bin:{programs}/links:{programs}/trusted")
    assert find_bwrap((programs / "x", workspace)) == trusted


@pytest.mark.parametrize("entry", ["", ".", "bin", "./bin", "../x/bin"])
def test_no_program_is_found_by_a_relative_entry(
    programs: Path, monkeypatch: pytest.MonkeyPatch, entry: str
) -> None:
    for folder in (programs / "x", programs / "x/bin"):
        make(folder)
    monkeypatch.chdir(programs / "x")
    monkeypatch.setenv("PATH", entry)
    assert find_bwrap(()) is None


def test_what_is_no_program_is_passed_over(programs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (programs / "folder/bwrap").mkdir(parents=True)
    (programs / "fifo").mkdir()
    os.mkfifo(programs / "fifo/bwrap", 0o755)
    (programs / "dangling").mkdir()
    (programs / "dangling/bwrap").symlink_to("nothing")
    make(programs / "plain", 0o644)
    names = ("folder", "fifo", "dangling", "plain", "absent")
    monkeypatch.setenv("PATH", ":".join(str(programs / name) for name in names))
    assert find_bwrap(()) is None
    monkeypatch.delenv("PATH")
    assert find_bwrap(()) is None
