"""The private folder for temporary files: made when needed, removed in the end, by someone."""

import signal
import stat
import subprocess
import sys
import tempfile
from collections.abc import Callable, Generator
from dataclasses import replace
from pathlib import Path, PurePath

import pytest

from nacre import Bash
from nacre.errors import SandboxError
from nacre.model.confinement import Confinement
from nacre.model.launch import Hold, Launch
from nacre.sandbox.surroundings import Dressing, Surroundings
from nacre.sandbox.trees import remove_tree
from processes import descriptors

Make = Callable[..., Surroundings]

# Deeper than a path can be, and than Python recurses.
_DEEPER = "p=$(printf 'd/%.0s' {1..1500}); for i in 1 2 3; do mkdir -p $p && cd $p || exit; done;"


@pytest.fixture
def make(state: Path, workspace: Path) -> Generator[Make]:
    made: list[Surroundings] = []

    def one(folder: Path = state, *, keep: bool = False) -> Surroundings:
        made.append(Surroundings(folder, workspace, keep=keep))
        return made[-1]

    yield one
    for each in made:
        each.close()


def left(state: Path) -> list[str]:
    """What is left of folders and their locks."""
    folders = (state / "tmp", state / "locks")
    return [path.name for folder in folders if folder.exists() for path in folder.iterdir()]


def test_nothing_is_made_before_it_is_needed(make: Make, state: Path) -> None:
    make().close()
    assert not state.exists()


def test_it_is_private_the_same_each_time_and_gone_after_closing(make: Make, state: Path) -> None:
    before = descriptors()
    surroundings = make()
    tmp = surroundings.tmp()
    assert surroundings.tmp() == tmp
    assert tmp.is_relative_to(state)
    for folder in (tmp, tmp.parent, state):
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    (tmp / "file").touch()
    surroundings.close()
    surroundings.close()
    assert left(state) == []
    assert descriptors() == before


def test_two_at_once_have_one_each(make: Make, state: Path) -> None:
    one, other = make(), make()
    assert one.tmp() != other.tmp()
    other.close()
    assert one.tmp().is_dir()
    assert len(left(state)) == 2


def test_whatever_modes_were_left_it_is_removed(make: Make, state: Path) -> None:
    surroundings = make()
    tmp = surroundings.tmp()
    for name in ("a/b/c", "d"):
        (tmp / name).mkdir(parents=True)
        (tmp / name / "file").touch()
        (tmp / name / "file").chmod(0)
    for name in ("a/b/c", "a/b", "a", "d"):
        (tmp / name).chmod(0)
    surroundings.close()
    assert left(state) == []


def test_removing_follows_no_link(make: Make, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir(mode=0o500)
    surroundings = make()
    (surroundings.tmp() / "link").symlink_to(outside)
    surroundings.close()
    assert stat.S_IMODE(outside.stat().st_mode) == 0o500


_HOST = """
import sys
import tempfile
from pathlib import Path
from nacre.sandbox.surroundings import Surroundings
tmp = Surroundings(Path(sys.argv[1]), Path("/w"), keep=sys.argv[2] == "keep").tmp()
(tmp / "file").touch()
print(tmp, flush=True)
sys.stdin.read()
"""


def host(state: Path, how: str) -> tuple[subprocess.Popen[str], Path]:
    words = [sys.executable, "-c", _HOST, str(state), how]
    process = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    return process, Path(process.stdout.readline().strip())


def end(process: subprocess.Popen[str]) -> None:
    process.send_signal(signal.SIGKILL)
    process.wait()
    for stream in (process.stdin, process.stdout):
        assert stream is not None
        stream.close()


def test_what_a_killed_host_left_is_removed_by_the_next_and_nothing_else(
    make: Make, state: Path
) -> None:
    killed, abandoned = host(state, "remove")
    keeper, kept = host(state, "keep")
    living, used = host(state, "remove")
    try:
        end(killed)
        end(keeper)
        assert (abandoned / "file").exists()
        own = make().tmp()
        assert not abandoned.exists()
        assert (kept / "file").exists()
        assert (used / "file").exists()
        assert sorted(left(state)) == sorted([own.name, used.name, kept.name] * 2)
    finally:
        end(living)


def test_what_is_kept_stays_for_the_next_in_the_same_workspace(make: Make, state: Path) -> None:
    first, second = make(keep=True), make(keep=True)
    tmp = first.tmp()
    assert second.tmp() == tmp
    (tmp / "file").touch()
    first.close()
    second.close()
    make().tmp()
    third = make(keep=True)
    assert third.tmp() == tmp
    assert (tmp / "file").exists()
    other = Surroundings(state, Path("/another/workspace"), keep=True)
    assert other.tmp() != tmp
    other.close()


def test_a_state_directory_that_cannot_be_written_costs_no_run(
    make: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").touch()
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "elsewhere"))
    surroundings = make(tmp_path / "file/state", keep=True)
    tmp = surroundings.tmp()
    assert tmp.parent == tmp_path / "elsewhere"
    assert stat.S_IMODE(tmp.stat().st_mode) == 0o700
    surroundings.close()
    assert not tmp.exists()


def test_where_nothing_can_be_made_it_is_said(
    make: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "file"))
    with pytest.raises(SandboxError, match="set NACRE_STATE or TMPDIR to a folder"):
        make(tmp_path / "file/state").tmp()


def test_a_writable_folder_must_be_one(make: Make, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    surroundings = make()
    surroundings.require_folders(Confinement(name="x", writable=(tmp_path,)))
    surroundings.require_folders(Confinement(name="x", writable=None))
    for path in (tmp_path / "file", tmp_path / "absent"):
        with pytest.raises(SandboxError, match="there is no such folder; make it first") as caught:
            surroundings.require_folders(Confinement(name="x", writable=(tmp_path, path)))
        assert repr(str(path)) in str(caught.value)


def test_the_same_paths_are_watched_by_the_same_eyes(make: Make, tmp_path: Path) -> None:
    surroundings = make()
    workspace = Confinement(name="x", writable=(tmp_path,))
    assert surroundings.protected(Confinement(name="x", writable=())) is None
    assert surroundings.protected(Confinement(name="x", writable=None)) is None
    eyes = surroundings.protected(workspace)
    assert eyes is not None
    assert surroundings.protected(replace(workspace, name="y")) is eyes
    assert surroundings.protected(replace(workspace, protected=(tmp_path / "p",))) is not eyes


def test_a_launch_is_led_to_its_own_folder_and_to_no_desktop() -> None:
    environ = {"TMPDIR": "/tmp", "XDG_RUNTIME_DIR": "/run/user/0", "A": "b"}
    launch = Launch(executable="/bin/bash", argv=("bash",), cwd=PurePath("/"), environ=environ)
    hold = Hold(most_tasks=3)
    dressing = Dressing(PurePath("/private"))
    held = dressing.confined(launch, hold)
    assert held.hold == hold
    assert held.environ == {"A": "b", **dict.fromkeys(("TMPDIR", "TMP", "TEMP"), "/private")}
    assert dressing.confined(launch, hold).environ is held.environ
    other = replace(launch, environ={**environ, "A": "c"})
    assert dressing.confined(other, hold).environ["A"] == "c"
    assert Dressing(None).confined(launch, hold).environ == {"TMPDIR": "/tmp", "A": "b"}
    assert launch.environ == environ


def test_what_a_script_left_is_removed_however_deep_it_is(tmp_path: Path) -> None:
    """With files that deny their owner."""
    folder = tmp_path / "left"
    folder.mkdir()
    script = (
        "ln -s / link; echo kept > ../kept; ln ../kept hard;"
        f"{_DEEPER} mkdir -p closed/inner && chmod 000 closed"
    )
    subprocess.run(["bash", "-c", script], cwd=folder, check=True)
    remove_tree(folder)
    assert [path.name for path in tmp_path.iterdir()] == ["kept"]


def test_a_deep_folder_of_a_dead_host_stops_no_other(workspace: Path, state: Path) -> None:
    deep = f"cd /tmp; {_DEEPER} echo deep"
    for script, said in ((deep, "deep"), ("echo next", "next")):
        with Bash(workspace=workspace, state=state) as tool:
            assert tool.call_sync("Bash", {"command": script}).text == said
