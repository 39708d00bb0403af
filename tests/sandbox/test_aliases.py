"""The second names that bind mounts give to a path."""

import json
import subprocess
import sys
from pathlib import Path, PurePath

import pytest

from nacre.sandbox import aliases as module
from nacre.sandbox.aliases import aliases


@pytest.fixture
def mounts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A table of mounts in the place of this host's."""
    table = tmp_path / "mountinfo"
    monkeypatch.setattr(module, "_MOUNTS", str(table))
    return table


def row(device: str, root: str, point: str) -> str:
    return f"36 35 {device} {root} {point} rw,noatime master:1 - ext4 /dev/root rw\n"


def named(*paths: str) -> list[str]:
    return [str(path) for path in aliases(map(PurePath, paths))]


def test_without_mounts_a_path_has_its_own_name_alone(mounts: Path) -> None:
    assert named("/a/b", "/a", "/a/b") == ["/a/b", "/a"]
    mounts.write_text(row("8:1", "/", "/"))
    assert named("/a/b") == ["/a/b"]
    assert named() == []


def test_a_part_of_what_is_denied_is_denied_where_it_is_shown(mounts: Path) -> None:
    mounts.write_text(row("8:1", "/", "/") + row("8:1", "/a/b/c", "/x"))
    assert named("/a/b") == ["/a/b", "/x"]
    assert named("/a/other") == ["/a/other"]


def test_another_file_system_is_no_alias(mounts: Path) -> None:
    mounts.write_text(row("8:1", "/", "/") + row("8:2", "/a/b", "/x"))
    assert named("/a/b") == ["/a/b"]


def test_a_part_that_is_shown_inside_what_is_denied_needs_no_second_name(mounts: Path) -> None:
    mounts.write_text(row("8:1", "/", "/") + row("8:1", "/a/b", "/a/x"))
    assert named("/a") == ["/a"]


def test_of_two_mounts_in_one_place_the_later_is_seen(mounts: Path) -> None:
    shown = row("8:2", "/part", "/y")
    mounts.write_text(row("8:1", "/", "/") + row("8:1", "/", "/m") + row("8:2", "/", "/m") + shown)
    assert named("/m") == ["/m", "/y"]
    mounts.write_text(row("8:1", "/", "/") + row("8:2", "/", "/m") + row("8:1", "/z", "/m") + shown)
    assert "/y" not in named("/m")


def test_the_name_of_a_mount_is_read_with_its_escapes(mounts: Path, tmp_path: Path) -> None:
    odd = tmp_path / "a b\tc\nd\\e"
    odd.mkdir()
    escaped = str(odd)
    for character, escape in (("\\", "\\134"), (" ", "\\040"), ("\t", "\\011"), ("\n", "\\012")):
        escaped = escaped.replace(character, escape)
    mounts.write_text(row("8:1", "/", "/") + row("8:1", "/secret/part", escaped))
    assert named("/secret") == ["/secret", str(odd)]


def test_a_table_that_cannot_be_read_costs_aliases_only(mounts: Path) -> None:
    assert not mounts.exists()
    assert named("/a") == ["/a"]


_MOUNTING = """
import ctypes, json, os, sys
from pathlib import PurePath
libc = ctypes.CDLL(None, use_errno=True)
def check(result):
    if result:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
if os.getuid():
    check(libc.unshare(0x10000000))
check(libc.unshare(0x20000))
check(libc.mount(None, b"/", None, 0x44000, None))
place = sys.argv[1]
for source, target in json.loads(sys.argv[2]):
    check(libc.mount(f"{place}/{source}".encode(), f"{place}/{target}".encode(), None, 0x1000, None))
sys.path.insert(0, sys.argv[3])
from nacre.sandbox.aliases import aliases
wanted = [PurePath(place, name) for name in json.loads(sys.argv[4])]
print(json.dumps([os.path.relpath(found, place) for found in aliases(wanted)]))
"""


@pytest.mark.needs("namespace")
@pytest.mark.parametrize(
    ("binds", "denied", "found"),
    [
        ([("home", "second")], ["home/keys"], ["home/keys", "second/keys"]),
        ([("home", "second")], ["second/keys"], ["second/keys", "home/keys"]),
        ([("home/keys", "second")], ["home/keys"], ["home/keys", "second"]),
        ([("home/keys/inner", "second")], ["home/keys"], ["home/keys", "second"]),
        ([("home", "second"), ("third", "second")], ["home/keys"], ["home/keys"]),
        ([("home/file", "file")], ["home"], ["home", "file"]),
        ([("home/file", "file")], ["home/file"], ["home/file", "file"]),
    ],
)
def test_a_real_bind_mount_is_found(
    tmp_path: Path, binds: list[tuple[str, str]], denied: list[str], found: list[str]
) -> None:
    for folder in ("home/keys/inner", "second", "third"):
        (tmp_path / folder).mkdir(parents=True)
    for file in ("home/file", "file"):
        (tmp_path / file).touch()
    source = str(Path(module.__file__).parents[2])
    words = [str(tmp_path.resolve()), json.dumps(binds), source, json.dumps(denied)]
    done = subprocess.run(
        [sys.executable, "-c", _MOUNTING, *words], capture_output=True, check=False
    )
    assert done.returncode == 0, done.stderr.decode()
    assert json.loads(done.stdout) == found
