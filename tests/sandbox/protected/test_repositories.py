"""What a script does to repositories, and what is left of it after the run."""

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


# ── attacks on a plain repository: script, what the host runs, what is said

RUNS_A_PROGRAM = {
    "a hook": (
        HOOK.format(".git/hooks/pre-commit"),
        COMMIT,
        {".git/hooks/pre-commit: created"},
    ),
    "a hook over a sample": (
        "mv .git/hooks/pre-commit.sample .git/hooks/pre-commit; "
        + HOOK.format(".git/hooks/pre-commit"),
        COMMIT,
        {".git/hooks/pre-commit: created"},
    ),
    "a hook that is a link": (
        HOOK.format("x") + "; ln -s ../../x .git/hooks/pre-commit",
        COMMIT,
        {".git/hooks/pre-commit: created"},
    ),
    "hooks replaced by a link": (
        "mkdir h; " + HOOK.format("h/pre-commit") + "; rm -r .git/hooks; ln -s ../h .git/hooks",
        COMMIT,
        {".git/hooks: replaced"},
    ),
    "fsmonitor": (
        "git config core.fsmonitor 'touch $OUT/ran;'; sed -i s,.OUT,$OUT, .git/config",
        "git status",
        {".git/config: key core.fsmonitor set"},
    ),
    "hooksPath": (
        "mkdir h; " + HOOK.format("h/pre-commit") + "; git config core.hooksPath h",
        COMMIT,
        {".git/config: key core.hookspath set"},
    ),
    "an include": (
        'printf "[core]\\n\\tfsmonitor = touch $OUT/ran;\\n" > inc; git config include.path ../inc',
        "git status",
        {".git/config: key include.path set"},
    ),
    "an alias that hides a change": (
        "git config alias.st '!touch $OUT/ran'",
        "git st",
        {".git/config: key alias.st set"},
    ),
    "a configuration of the worktree": (
        (
            "git config extensions.worktreeConfig true; "
            'printf "[core]\\n\\tfsmonitor = touch $OUT/ran;\\n" > .git/config.worktree'
        ),
        "git status",
        {".git/config.worktree: key core.fsmonitor set"},
    ),
    "another common folder": (
        "cp -r .git evil; "
        + HOOK.format("evil/hooks/pre-commit")
        + "; echo ../evil > .git/commondir",
        COMMIT,
        {".git/commondir: created", "evil/hooks/pre-commit: created"},
    ),
    "the repository renamed aside": (
        "mv .git x; cp -r x .git; " + HOOK.format(".git/hooks/pre-commit"),
        COMMIT,
        {".git: renamed to 'x'"},
    ),
    "the repository renamed after it was changed": (
        HOOK.format(".git/hooks/pre-commit") + "; mv .git x; cp -r x .git",
        COMMIT,
        {".git: renamed to 'x'", "x/hooks/pre-commit: created"},
    ),
    "the repository replaced by a pointer": (
        "mv .git evil; " + HOOK.format("evil/hooks/pre-commit") + "; echo 'gitdir: evil' > .git",
        COMMIT,
        {".git: renamed to 'evil'", "evil/hooks/pre-commit: created"},
    ),
    "the repository replaced by a link": (
        "mv .git evil; " + HOOK.format("evil/hooks/pre-commit") + "; ln -s evil .git",
        COMMIT,
        {".git: renamed to 'evil'", "evil/hooks/pre-commit: created"},
    ),
}


@pytest.mark.parametrize("attack", RUNS_A_PROGRAM)
def test_what_would_run_at_the_next_git_command_is_gone(
    attack: str, shell: Shell, workspace: Path, protect: Protect
) -> None:
    script, host, words = RUNS_A_PROGRAM[attack]
    shell("git init -q .")
    paths = protect()
    paths.begin(mounted=False)
    shell(script)
    shell(f"{host} || true")
    assert Path(workspace.parent, "ran").exists(), "the attack has no effect to begin with"
    Path(workspace.parent, "ran").unlink()
    assert said(paths.end(), workspace) == words
    shell(f"{host} || true")
    assert not Path(workspace.parent, "ran").exists()
    paths.begin(mounted=False)
    assert paths.end() == ()


def test_a_repository_that_was_renamed_is_brought_back_with_all_its_history(
    shell: Shell, workspace: Path, protect: Protect
) -> None:
    shell(f"git init -q .; {COMMIT}")
    before = shell("git rev-parse HEAD")
    paths = protect()
    assert said(run(paths, shell, "mv .git aside; git init -q ."), workspace) == {
        ".git: renamed to 'aside'"
    }
    assert shell("git rev-parse HEAD; ls") == before
    assert said(run(paths, shell, "mv .git aside"), workspace) == {".git: renamed to 'aside'"}
    assert shell("git rev-parse HEAD; ls") == before


def test_good_changes_of_a_config_stay_when_a_bad_one_goes(
    shell: Shell, workspace: Path, protect: Protect
) -> None:
    shell("git init -q .; git config alias.st status; git config user.name Before")
    before = Path(workspace, ".git/config").read_text()
    found = run(
        protect(),
        shell,
        "git remote add origin https://example.org/x; git config core.sshCommand evil;"
        " git config alias.st evil; git config user.name After; git config --unset alias.st",
    )
    assert said(found, workspace) == {
        ".git/config: key core.sshcommand set",
        ".git/config: key alias.st removed",
    }
    assert shell("git config user.name; git config remote.origin.url; git config alias.st") == (
        "After\nhttps://example.org/x\nstatus\n"
    )
    assert "sshCommand" not in Path(workspace, ".git/config").read_text()
    assert Path(workspace, ".git/config").read_text().startswith(before.split("[user]")[0])
    kept = found[0].kept
    assert kept is not None
    assert "evil" in kept.read_text()


@pytest.mark.parametrize(
    "script",
    [
        "echo '[core' >> .git/config",
        "rm .git/config",
        "rm .git/config; mkfifo .git/config",
        "rm .git/config; ln -s /etc/passwd .git/config",
        "rm .git/config; mkdir .git/config; touch .git/config/x",
        "chmod 0 .git/config",
        "head -c 3000000 /dev/zero > .git/config",
        "truncate -s 1T .git/config",
        "chmod 0 .git; true",
    ],
)
def test_a_config_that_is_ruined_is_restored_whole(
    script: str, shell: Shell, workspace: Path, protect: Protect
) -> None:
    shell("git init -q .")
    config = Path(workspace, ".git/config")
    before = config.read_bytes(), config.stat().st_mode
    paths = protect()
    run(paths, shell, script)
    assert (config.read_bytes(), config.stat().st_mode) == before
    shell("git status")


# ── nested and new repositories

ODD = [
    "a/b/c/d/e/f",
    "d[1]*?",
    "nl\nx",
    "back\\slash",
    os.fsdecode(b"no\xfftext"),
    " ",
    "-x",
    "a/.git-not/b",
    "node_modules/x",
]


@pytest.mark.parametrize("place", ODD, ids=ascii)
def test_nested_repositories_are_protected_whatever_their_names(
    place: str, workspace: Path, protect: Protect
) -> None:
    folder = workspace / place
    Path(folder, ".git/hooks").mkdir(parents=True)
    Path(folder, ".git/HEAD").write_text("ref\n")
    config = Path(folder, ".git/config")
    config.write_text("[core]\n")
    paths = protect()
    paths.begin(mounted=False)
    with config.open("a") as file:
        file.write("# evil\n")
    Path(folder, ".git/hooks/pre-commit").write_text("x")
    found = paths.end()
    assert [item.what for item in found] == ["comments changed", "created"]
    assert config.read_text() == "[core]\n"
    assert not os.listdir(Path(folder, ".git/hooks"))


@pytest.mark.parametrize("place", ["new", "a/b/new"])
def test_a_new_repository_stays_but_runs_nothing(
    place: str, shell: Shell, workspace: Path, protect: Protect
) -> None:
    shell("mkdir -p a/b")
    paths = protect()
    assert run(paths, shell, "true") == ()
    found = run(
        paths,
        shell,
        f"git init -q {place}; cd {place}; {HOOK.format('.git/hooks/pre-commit')};"
        f" git config core.fsmonitor evil; git config user.name X",
    )
    assert said(found, workspace) == {
        f"{place}/.git/hooks/pre-commit: created",
        f"{place}/.git/config: key core.fsmonitor set",
    }
    assert shell(f"cd {place}; {COMMIT}; git config user.name") == "X\n"
    assert run(paths, shell, f"cd {place}; {COMMIT}") == ()


def test_what_the_user_does_between_runs_is_accepted(
    shell: Shell, workspace: Path, protect: Protect
) -> None:
    shell("git init -q .")
    paths = protect()
    assert run(paths, shell, "true") == ()
    shell(f"{HOOK.format('.git/hooks/pre-commit')}; git config alias.x y; echo x > .bashrc")
    assert run(paths, shell, "true") == ()
    assert Path(workspace, ".git/hooks/pre-commit").exists()
    assert said(run(paths, shell, "rm .git/hooks/pre-commit .bashrc"), workspace) == {
        ".git/hooks/pre-commit: removed",
        ".bashrc: removed",
    }
    assert os.access(Path(workspace, ".git/hooks/pre-commit"), os.X_OK)


def test_hooks_behind_a_link_or_a_setting_are_protected(
    shell: Shell, workspace: Path, protect: Protect
) -> None:
    shell("git init -q .; mkdir h; rm -r .git/hooks; ln -s ../h .git/hooks")
    shell("git init -q other; mkdir -p other/.husky/_; git -C other config core.hooksPath .husky/_")
    paths = protect()
    assert Path(workspace, "h") in paths.mounts().read_only
    found = run(paths, shell, "echo evil > h/pre-commit; echo evil > other/.husky/_/pre-commit")
    assert {item.path.relative_to(workspace).parts[0] for item in found} == {"h", "other"}
    assert not Path(workspace, "h/pre-commit").exists()
    assert not Path(workspace, "other/.husky/_/pre-commit").exists()


def test_a_poisoned_submodule_goes_and_an_ordinary_one_stays(
    shell: Shell, workspace: Path, protect: Protect
) -> None:
    shell("git init -q .")
    paths = protect()
    bad = "printf '[submodule \"x\"]\\n\\tpath=x\\n\\turl=x\\n\\tupdate=!touch y\\n' >> .gitmodules"
    good = "printf '[submodule \"g\"]\\n\\tpath=g\\n\\turl=g\\n\\tupdate=merge\\n' >> .gitmodules"
    assert said(run(paths, shell, bad), workspace) == {".gitmodules: key submodule.x.update set"}
    assert not Path(workspace, ".gitmodules").exists()
    assert run(paths, shell, good) == ()
    assert len(run(paths, shell, bad)) == 1
    assert shell("git config -f .gitmodules --list --name-only | sort") == (
        "submodule.g.path\nsubmodule.g.update\nsubmodule.g.url\n"
    )


# ── mounts


def test_mounts_are_the_hooks_and_settings_that_exist_with_git_pinned(
    shell: Shell, workspace: Path, protect: Protect
) -> None:
    shell("git init -q .; git init -q a/b; echo x > .bashrc; mkdir -p .claude/commands .vscode")
    mounts = protect().mounts()
    assert mounts.read_only == tuple(
        workspace / name for name in (".bashrc", ".claude/commands", ".git/hooks", ".vscode")
    )
    assert mounts.pinned == (workspace / ".claude", workspace / ".git")


def test_what_a_mount_held_is_not_compared_so_that_the_user_may_edit(
    shell: Shell, workspace: Path, protect: Protect
) -> None:
    shell("git init -q .; mkdir .vscode; echo x > .vscode/settings.json")
    paths = protect()
    paths.mounts()
    paths.begin(mounted=True)
    shell("echo edited > .vscode/settings.json; git config core.pager evil; echo x > .bashrc")
    assert said(paths.end(), workspace) == {
        ".git/config: key core.pager set",
        ".bashrc: created",
    }
    assert Path(workspace, ".vscode/settings.json").read_text() == "edited\n"


def test_a_mount_counts_for_nothing_when_its_folder_was_exchanged(
    shell: Shell, workspace: Path, protect: Protect
) -> None:
    shell("git init -q a/b")
    paths = protect()
    paths.mounts()
    paths.begin(mounted=True)
    shell(f"mv a x; mkdir a; cp -r x/b a/b; {HOOK.format('a/b/.git/hooks/pre-commit')}")
    assert said(paths.end(), workspace) == {"a/b/.git/hooks/pre-commit: created"}
