"""Start-up files, settings, and what the caller adds."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from nacre.config.files import PROJECT_FILES
from nacre.sandbox.protected import ProtectedPaths, Reverted
from nacre.sandbox.protected.names import SETTINGS

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


def test_the_settings_that_are_protected_are_those_that_are_read() -> None:
    assert set(SETTINGS) == set(PROJECT_FILES)


NAMES = (
    ".bashrc",
    ".zshenv",
    ".mcp.json",
    ".gitconfig",
    ".vscode/tasks.json",
    ".claude/settings.json",
    ".claude/commands/x.md",
    ".cursor/rules/x.mdc",
    "nacre.toml",
    "agentrail.yaml",
)
HOW = {
    "write": "echo evil > {0}",
    "link": "echo evil > e; ln -s $PWD/e {0}",
    "fifo": "mkfifo {0}",
    "folder": "mkdir {0}; touch {0}/x; chmod 0 {0}",
    "mode": "echo mine > {0}; chmod 4777 {0}",
}


@pytest.mark.parametrize("how", HOW)
@pytest.mark.parametrize("before", ["there", "absent"])
def test_start_up_files_and_settings_stay_as_they_were(
    how: str, before: str, shell: Shell, workspace: Path, protect: Protect
) -> None:
    make = f"mkdir -p {' '.join(os.path.dirname(name) or '.' for name in NAMES)}; "
    if before == "there":
        shell(make + "".join(f"echo mine > {name};" for name in NAMES))
    listed = sorted(workspace.rglob("*"))
    found = run(
        protect(),
        shell,
        f"{make} rm -f {' '.join(NAMES)}; " + "; ".join(HOW[how].format(name) for name in NAMES),
    )
    if before == "there":
        assert {str(item.path.relative_to(workspace)) for item in found} == set(NAMES)
    assert all(item.kept is not None for item in found) or how == "fifo"
    Path(workspace, "e").unlink(missing_ok=True)
    assert sorted(workspace.rglob("*")) == listed
    for name in NAMES if before == "there" else ():
        assert Path(workspace, name).read_text() == "mine\n"
        assert not Path(workspace, name).stat().st_mode & 0o4022


def test_the_folder_of_settings_may_not_be_exchanged(
    shell: Shell, workspace: Path, protect: Protect
) -> None:
    shell("mkdir .claude; echo mine > .claude/settings.json")
    paths = protect()
    run(paths, shell, "mv .claude x; mkdir y; echo evil > y/settings.json; ln -s y .claude")
    assert Path(workspace, ".claude/settings.json").read_text() == "mine\n"
    assert not Path(workspace, ".claude").is_symlink()
    run(paths, shell, "rm -r .claude")
    assert Path(workspace, ".claude/settings.json").read_text() == "mine\n"
    assert run(paths, shell, "mkdir .claude/worktrees; echo x > .claude/notes.md") == ()


def test_what_the_caller_adds_is_protected(shell: Shell, workspace: Path, protect: Protect) -> None:
    shell("mkdir -p memo/sub deep/down/memo; echo mine > memo/sub/x")
    extra = (workspace / "memo", workspace / "absent", workspace / "deep/down/memo")
    paths = protect(extra=extra)
    mounts = paths.mounts()
    assert mounts.read_only == (workspace / "deep/down/memo", workspace / "memo")
    assert mounts.pinned == (workspace / "deep", workspace / "deep/down")
    found = run(
        paths, shell, "echo evil > memo/sub/x; touch memo/new; mkdir absent; touch absent/x"
    )
    assert said(found, workspace) == {
        "memo/sub/x: changed",
        "memo/new: created",
        "absent: created",
    }
    assert Path(workspace, "memo/sub/x").read_text() == "mine\n"
