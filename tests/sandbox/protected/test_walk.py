"""Finding repositories without walking at every call."""

from collections.abc import Callable
from pathlib import Path

import pytest

from nacre.sandbox.protected.walk import Walk

FOREVER = 10.0


def until_complete(walk: Walk) -> None:
    while not walk.complete:
        walk.advance(FOREVER)


def test_every_git_name_and_git_directory_is_found_and_links_are_not_followed(
    tmp_path: Path,
) -> None:
    for name in ("a/.git", "a/b/c/.git", "a/.git/modules/m/objects", "a/.git/objects/x/.git"):
        Path(tmp_path, name).mkdir(parents=True)
    Path(tmp_path, "f").mkdir()
    Path(tmp_path, "f/.git").write_text("gitdir: ../a/.git")
    for name in ("HEAD", "refs"):
        Path(tmp_path, "a/.git/modules/m", name).touch()
    Path(tmp_path, "link").symlink_to(tmp_path)
    walk = Walk([str(tmp_path)])
    until_complete(walk)
    found = [str(Path(path).relative_to(tmp_path)) for path in walk.found()]
    assert found == ["a/.git", "f/.git", "a/.git/modules/m", "a/b/c/.git"]
    assert walk.found() == []


def test_a_thread_finds_what_there_was_no_time_for(tmp_path: Path) -> None:
    for number in range(80):
        Path(tmp_path, f"{number}/x").mkdir(parents=True)
    Path(tmp_path, "79/x/.git").mkdir()
    walk = Walk([str(tmp_path)])
    walk.advance(0)
    assert not walk.complete
    thread = walk._thread
    assert thread is not None
    thread.join(20)
    assert walk.complete
    assert walk.found() == [str(tmp_path / "79/x/.git")]


def test_a_closed_walk_stops(tmp_path: Path) -> None:
    for number in range(500):
        Path(tmp_path, str(number)).mkdir()
    walk = Walk([str(tmp_path)])
    walk.advance(0)
    walk.close()
    assert walk._thread is None
    walk.advance(0)
    assert walk._thread is None


@pytest.mark.parametrize("place", ["new", "a/new", "a/b/c/d/new"])
def test_new_repositories_are_seen_by_the_change_of_the_folder_they_are_in(
    tmp_path: Path, place: str
) -> None:
    Path(tmp_path, "a/b/c/d").mkdir(parents=True)
    walk = Walk([str(tmp_path)])
    until_complete(walk)
    walk.look_again(FOREVER)
    assert walk.found() == []
    Path(tmp_path, place, ".git").mkdir(parents=True)
    walk.look_again(FOREVER)
    assert walk.found() == [str(tmp_path / place / ".git")]


def never(changed_ns: int) -> bool:
    return changed_ns < 0


def test_a_look_costs_the_same_however_many_files_there_are(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from nacre.sandbox.protected import walk as module

    looks: list[str] = []
    real: Callable[[str], object] = module.lstat

    def counted(path: str) -> object:
        looks.append(path)
        return real(path)

    monkeypatch.setattr(module, "is_young", never)
    for number in range(200):
        Path(tmp_path, f"{number}").mkdir()
        Path(tmp_path, f"{number}/file").touch()
    walk = Walk([str(tmp_path)])
    until_complete(walk)
    monkeypatch.setattr(module, "lstat", counted)
    walk.look_again(0)
    assert len(looks) <= 25
    walk.close()
