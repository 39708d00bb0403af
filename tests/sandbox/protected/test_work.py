"""Ordinary work with git in every kind of repository."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from nacre.sandbox.protected import ProtectedPaths, Reverted

Shell = Callable[..., str]
Protect = Callable[..., ProtectedPaths]

HOOK = "printf '#!/bin/sh\\ntouch $OUT/ran\\n' > {0}; chmod +x {0}"
COMMIT = "git commit -q --allow-empty -m x"


def run(paths: ProtectedPaths, shell: Shell, script: str) -> tuple[Reverted, ...]:
    paths.begin(mounted=False)
    shell(script)
    return paths.end()


def said(reverted: tuple[Reverted, ...], workspace: Path) -> set[str]:
    return {f"{os.path.relpath(item.path, workspace)}: {item.what}" for item in reverted}


SUBMODULE = "git init -q ../lib; git -C ../lib commit -q --allow-empty -m x"
WORK = {
    "add and commit": "echo $RANDOM > f; git add .; git commit -qm x; git status",
    "branch": "git branch b; git branch -m b c; git branch -D c",
    "tracking": "git remote add o ../up; git push -qu o main; git checkout -qb x --track o/main",
    "rebase": "git checkout -qb x HEAD~1; echo y > g; git add .; git commit -qm y; git rebase -q main",
    "stash": "echo z > f; git stash -q; git stash pop -q",
    "worktree": "git worktree add -q ../tree -b w; git -C ../tree status; git worktree list",
    "worktree inside": "git worktree add -q .trees/w -b w; git -C .trees/w commit -q --allow-empty -m x;"
    " git worktree move .trees/w .trees/v; git -C .trees/v status; git worktree remove .trees/v",
    "submodule": f"{SUBMODULE}; git submodule --quiet add ../lib sub/lib; git commit -qm s",
    "submodule deinit": f"{SUBMODULE}; git submodule --quiet add ../lib lib; git commit -qm s;"
    " git submodule --quiet deinit -f lib; git rm -qf lib",
    "sparse": "git sparse-checkout set x; git sparse-checkout disable",
    "remote": "git remote add o x; git remote rename o p; git remote remove p",
    "init again": "git init -q .",
    "clone": "git clone -q ../up up; git -C up commit -q --allow-empty -m x",
    "bare clone": "git clone -q --bare ../up up.git",
    "gc": "git gc -q",
    "identity": "git config user.name B; git config user.email b@example.org",
    "tag and merge": "git tag t; git checkout -qb m HEAD~1; git merge -q main; git checkout -q main",
    "removal": "rm -rf .git",
}


@pytest.mark.parametrize("work", WORK)
def test_ordinary_work_is_left_alone(
    work: str, worked_in: Path, shell: Shell, workspace: Path, protect: Protect
) -> None:
    shell(f"cp -a {worked_in}/. ..")
    paths = protect()
    assert run(paths, shell, WORK[work]) == ()
    assert run(paths, shell, "git status || true") == ()
    assert not Path(workspace.parent, "aside").exists()


@pytest.mark.parametrize("work", ["add and commit", "branch", "stash", "tag and merge", "identity"])
def test_ordinary_work_in_a_linked_worktree_is_left_alone(
    work: str, worked_in: Path, shell: Shell, tmp_path: Path, protect: Protect
) -> None:
    main, tree = tmp_path / "main", tmp_path / "tree"
    shell(f"cp -a {worked_in}/workspace {main}; cd {main}; git checkout -q --detach")
    shell("git worktree add -q ../tree main", main)
    paths = protect(tree, main)
    paths.begin(mounted=False)
    shell(WORK[work], tree)
    assert paths.end() == ()


def test_a_linked_worktree_is_protected_where_its_repository_is(
    shell: Shell, tmp_path: Path, protect: Protect
) -> None:
    main, tree = tmp_path / "main", tmp_path / "tree"
    main.mkdir()
    shell(f"git init -q .; {COMMIT}; git worktree add -q ../tree -b w", main)
    paths = protect(tree)
    paths.begin(mounted=False)
    shell(
        f"{HOOK.format('../main/.git/hooks/pre-commit')}; git config core.pager evil;"
        " echo ../x > ../main/.git/worktrees/tree/commondir; rm .git; echo 'gitdir: evil' > .git",
        tree,
    )
    assert said(paths.end(), tmp_path) == {
        "main/.git/hooks/pre-commit: created",
        "main/.git/config: key core.pager set",
        "main/.git/worktrees/tree/commondir: changed",
        "tree/.git: changed",
    }
    shell(COMMIT, tree)


def test_submodules_are_protected(shell: Shell, workspace: Path, protect: Protect) -> None:
    shell(f"git init -q .; {SUBMODULE}; git submodule --quiet add ../lib a/lib; git commit -qm s")
    paths = protect()
    found = run(
        paths,
        shell,
        f"{HOOK.format('.git/modules/a/lib/hooks/pre-commit')}; git -C a/lib config core.pager evil;"
        " git -C a/lib config core.worktree /; echo 'gitdir: /x' > a/lib/.git",
    )
    assert said(found, workspace) == {
        ".git/modules/a/lib/hooks/pre-commit: created",
        ".git/modules/a/lib/config: key core.pager set",
        ".git/modules/a/lib/config: key core.worktree set",
        "a/lib/.git: changed",
    }
    shell("git -C a/lib status; git submodule status")


def test_bare_repositories_with_worktrees_are_protected(
    shell: Shell, workspace: Path, protect: Protect
) -> None:
    shell(
        "git init -q --bare .; git worktree add -q --detach tree $(git commit-tree -m x $(git mktree </dev/null))"
    )
    paths = protect()
    assert run(paths, shell, f"cd tree; {COMMIT}; git branch x") == ()
    found = run(paths, shell, f"{HOOK.format('hooks/pre-commit')}; git config core.pager evil")
    assert said(found, workspace) == {"hooks/pre-commit: created", "config: key core.pager set"}
