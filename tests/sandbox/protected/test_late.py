"""Repositories that are found late, and where else they lead."""

import os
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from nacre.sandbox.protected import ProtectedPaths, walk
from nacre.sandbox.protected import paths as module
from nacre.sandbox.protected.disk import YOUNG_NS

Shell = Callable[..., str]
Protect = Callable[..., ProtectedPaths]


def grow_old(*files: Path) -> None:
    """Wait until the clock can tell a change of these from what they are."""
    while time.time_ns() < max(os.lstat(file).st_ctime_ns for file in files) + 2 * YOUNG_NS:
        pass


def find_everything(paths: ProtectedPaths) -> None:
    paths._walk.look_again(10)
    while not paths._walk.complete:
        paths._walk.advance(10)


@pytest.fixture
def late(monkeypatch: pytest.MonkeyPatch) -> None:
    """No time for a first walk."""
    monkeypatch.setattr(module, "_FIRST_WALK_SECONDS", -1.0)
    monkeypatch.setattr(module, "_LEAST_LOOK_SECONDS", -1.0)
    monkeypatch.setattr(module, "_SHARE_OF_RUN", 0.0)
    monkeypatch.setattr(walk, "_NEWS_SECONDS", -1.0)


def test_a_quick_script_cannot_hide_a_repository_near_the_top_among_many_folders(
    workspace: Path, protect: Protect, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_LEAST_LOOK_SECONDS", -1.0)
    monkeypatch.setattr(module, "_SHARE_OF_RUN", 0.0)
    monkeypatch.setattr(walk, "_NEWS_SECONDS", 10.0)
    for number in range(60):
        Path(workspace, f"{number}/x").mkdir(parents=True)
    grow_old(*workspace.rglob("*"))
    paths = protect()
    find_everything(paths)
    paths.begin(mounted=False)
    hook = Path(workspace, "new/a/b/.git/hooks/pre-commit")
    hook.parent.mkdir(parents=True)
    hook.touch()
    assert [item.path for item in paths.end()] == [hook]


@pytest.mark.usefixtures("late")
def test_a_repository_found_during_a_run_keeps_what_was_there_before(
    shell: Shell, workspace: Path, protect: Protect
) -> None:
    shell("git init -q a/b/c; cd a/b/c; echo mine > .git/hooks/pre-push; git config alias.x y")
    shell("git init -q d; git -C d config alias.x y; ln -s ../real .git; mv .git d/link")
    grow_old(*workspace.rglob("*"))
    paths = protect()
    paths.begin(mounted=False)
    assert not paths._places.git
    shell("echo evil > a/b/c/.git/hooks/pre-commit; git -C d config core.pager evil")
    find_everything(paths)
    found = {str(item.path.relative_to(workspace)): item.what for item in paths.end()}
    assert found.pop("a/b/c/.git/hooks/pre-commit") == "created"
    # Its configuration was not seen before the run, so nothing in it is taken for granted.
    assert set(found) == {"d/.git/config"}
    assert shell("cat a/b/c/.git/hooks/pre-push; git -C a/b/c config alias.x") == "mine\ny\n"
    assert "pager" not in Path(workspace, "d/.git/config").read_text()


@pytest.mark.usefixtures("late")
def test_a_repository_that_the_user_made_between_runs_is_left_alone(
    shell: Shell, workspace: Path, protect: Protect
) -> None:
    paths = protect()
    paths.begin(mounted=False)
    assert paths.end() == ()
    grow_old(workspace)
    shell("git init -q mine; echo x > mine/.git/hooks/pre-commit; git -C mine config alias.x y")
    grow_old(*workspace.rglob("*"))
    paths.begin(mounted=False)
    find_everything(paths)
    assert paths.end() == ()
    assert Path(workspace, "mine/.git/hooks/pre-commit").exists()


@pytest.mark.usefixtures("late")
def test_a_repository_that_a_script_made_and_that_is_found_after_it_is_cleaned(
    shell: Shell, workspace: Path, protect: Protect
) -> None:
    paths = protect()
    paths.begin(mounted=False)
    shell("git init -q x; echo evil > x/.git/hooks/pre-commit; git -C x config core.pager evil")
    assert paths.end() == ()
    find_everything(paths)
    paths.begin(mounted=False)
    assert {item.path.name for item in paths.end()} == {"pre-commit", "config"}
    assert not Path(workspace, "x/.git/hooks/pre-commit").exists()


def test_files_that_a_configuration_includes_are_protected_key_by_key(
    shell: Shell, workspace: Path, protect: Protect
) -> None:
    shell(
        "git init -q .; git config include.path ../.shared; printf '[include]\\npath=more\\n' > .shared"
    )
    shell(
        "echo '[alias]' > more; rm -f .git/x; git init -q l; mv l/.git/config l/c; ln -s ../c l/.git/config"
    )
    paths = protect()
    paths.begin(mounted=False)
    shell("for f in .shared more l/c; do git config -f $f core.pager evil; done")
    shell("git config -f more user.name X")
    assert {str(item.path.relative_to(workspace)) for item in paths.end()} == {
        ".shared",
        "more",
        "l/c",
    }
    assert shell("git config user.name") == "X\n"
    assert "pager" not in shell("cat .shared more l/c")


def test_a_script_cannot_have_any_folder_taken_for_hooks(
    shell: Shell, workspace: Path, protect: Protect
) -> None:
    shell("git init -q .; mkdir src")
    paths = protect()
    paths.begin(mounted=False)
    shell("git init -q x; git -C x config core.hooksPath ../src; echo work > src/file")
    shell("git init -q y; rm -r y/.git/hooks; ln -s ../../src y/.git/hooks")
    assert {item.path.name for item in paths.end()} == {"config", "hooks"}
    assert Path(workspace, "src/file").exists()
    paths.begin(mounted=False)
    shell("echo more > src/file")
    assert paths.end() == ()


def test_a_pointer_of_a_script_does_not_make_us_watch_places_outside(
    shell: Shell, tmp_path: Path, protect: Protect
) -> None:
    shell("git init -q ../other")
    paths = protect()
    paths.begin(mounted=False)
    shell(f"mkdir w; echo 'gitdir: {tmp_path}/other/.git' > w/.git")
    paths.check()
    shell("git -C ../other config alias.x y")
    paths.end()
    assert shell("git -C ../other config alias.x") == "y\n"
