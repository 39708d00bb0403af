"""Which git directory outside a workspace is writable with it, and which only claims to be."""

import os
import subprocess
from pathlib import Path

import pytest

from nacre.sandbox.worktree import git_folders

_GIT = {
    "PATH": os.environ["PATH"],
    "GIT_CONFIG_GLOBAL": "/dev/null",
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_AUTHOR_NAME": "A",
    "GIT_AUTHOR_EMAIL": "a@example.org",
    "GIT_COMMITTER_NAME": "A",
    "GIT_COMMITTER_EMAIL": "a@example.org",
}


def git(folder: Path, *words: str) -> None:
    command = ["git", "-c", "protocol.file.allow=always", *words]
    subprocess.run(command, cwd=folder, env=_GIT, check=True, capture_output=True)


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A repository `plain`, its worktree `linked`, and `super` with the submodule `sub`."""
    place = Path(os.path.realpath(tmp_path_factory.mktemp("place")))
    for name in ("plain", "super"):
        (place / name).mkdir()
        git(place / name, "init", "-q")
        git(place / name, "commit", "-q", "--allow-empty", "-m", "one")
    git(place / "plain", "worktree", "add", "-q", "../linked")
    git(place / "super", "submodule", "add", "-q", str(place / "plain"), "sub")
    return place


def test_a_plain_repository_has_nothing_outside(place: Path) -> None:
    assert git_folders(place / "plain") == ()
    assert git_folders(place) == ()
    assert git_folders(place / "nowhere") == ()


def test_a_linked_worktree_writes_the_repository_it_belongs_to(place: Path) -> None:
    assert git_folders(place / "linked") == (place / "plain/.git",)


def test_a_worktree_is_found_by_a_link_to_it_as_well(place: Path, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(place / "linked")
    assert git_folders(tmp_path / "link") == (place / "plain/.git",)


def test_a_submodule_writes_its_own_git_directory_and_not_that_of_all(place: Path) -> None:
    assert git_folders(place / "super/sub") == (place / "super/.git/modules/sub",)


@pytest.mark.parametrize(
    "target", ["plain/.git", "plain/.git/worktrees/linked", "super/.git/modules/sub", "super/.git"]
)
@pytest.mark.parametrize("relative", [False, True])
def test_a_planted_pointer_without_a_pointer_back_grants_nothing(
    place: Path, target: str, *, relative: bool
) -> None:
    liar = place / "liar"
    liar.mkdir(exist_ok=True)
    (liar / ".git").write_text(f"gitdir: {'..' if relative else place}/{target}\n")
    assert git_folders(liar) == ()


def test_a_repository_that_the_planter_made_up_grants_nothing(tmp_path: Path) -> None:
    """All of it lies in the workspace but for the common folder, which knows nothing of it."""
    victim, liar = tmp_path / "victim", tmp_path / "liar"
    for folder in (victim / "worktrees", victim / "objects", victim / "refs", liar / "own"):
        folder.mkdir(parents=True)
    (victim / "HEAD").write_text("ref: refs/heads/main\n")
    (liar / "own/HEAD").write_text("ref: refs/heads/main\n")
    (liar / "own/commondir").write_text(f"{victim}\n")
    (liar / "own/gitdir").write_text(f"{liar}/.git\n")
    (liar / ".git").write_text("gitdir: own\n")
    assert git_folders(liar) == ()


def test_a_worktree_whose_pointer_back_leads_elsewhere_grants_nothing(tmp_path: Path) -> None:
    (tmp_path / "plain").mkdir()
    git(tmp_path / "plain", "init", "-q")
    git(tmp_path / "plain", "commit", "-q", "--allow-empty", "-m", "one")
    git(tmp_path / "plain", "worktree", "add", "-q", "../linked")
    linked = tmp_path / "linked"
    assert git_folders(linked)
    back = tmp_path / "plain/.git/worktrees/linked/gitdir"
    for text in (f"{tmp_path}/other/.git\n", f"{tmp_path}/plain/.git\n", "\n", ""):
        back.write_text(text)
        assert git_folders(linked) == ()
    back.unlink()
    assert git_folders(linked) == ()


def test_a_submodule_whose_worktree_is_elsewhere_grants_nothing(place: Path) -> None:
    config = place / "super/.git/modules/sub/config"
    before = config.read_text()
    assert "worktree = ../../../sub" in before
    try:
        for text in (
            before.replace("../../../sub", "../../../other"),
            before.replace("worktree =", "worktreE2 ="),
            "[core\n",
            "",
        ):
            config.write_text(text)
            assert git_folders(place / "super/sub") == ()
    finally:
        config.write_text(before)


def test_a_fifo_as_the_pointer_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / ".git")
    assert git_folders(tmp_path) == ()


def test_a_fifo_as_the_pointer_back_is_not_waited_for(tmp_path: Path) -> None:
    own = tmp_path / "common/worktrees/here"
    own.mkdir(parents=True)
    (own / "HEAD").write_text("ref: refs/heads/main\n")
    (own / "commondir").write_text("../..\n")
    os.mkfifo(own / "gitdir")
    (tmp_path / "here").mkdir()
    (tmp_path / "here/.git").write_text(f"gitdir: {own}\n")
    assert git_folders(tmp_path / "here") == ()
