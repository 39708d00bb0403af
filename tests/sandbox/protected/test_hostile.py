"""Several runs at once, and what is left to hurt whoever looks."""

import mmap
import os
import socket
import stat
import tempfile
import threading
from collections.abc import Callable
from contextlib import suppress
from itertools import count
from pathlib import Path

import pytest

from nacre.sandbox.protected import ProtectedPaths, Reverted
from nacre.sandbox.protected.disk import is_young, opened

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


# ── several runs at once


def test_the_state_before_the_first_of_several_runs_counts(
    shell: Shell, workspace: Path, protect: Protect
) -> None:
    shell("git init -q .")
    paths = protect()
    paths.begin(mounted=False)
    shell("git config core.pager evil")
    paths.begin(mounted=False)
    assert said(paths.end(), workspace) == {".git/config: key core.pager set"}
    shell("echo x > .bashrc")
    assert said(paths.check(), workspace) == {".bashrc: created"}
    assert paths.check() == ()
    shell("echo x > .bashrc")
    assert said(paths.end(), workspace) == {".bashrc: created"}


def test_runs_of_many_threads_leave_nothing(
    shell: Shell, workspace: Path, protect: Protect
) -> None:
    shell("git init -q .")
    paths = protect()

    def attack(number: int) -> None:
        for _ in range(20):
            paths.begin(mounted=False)
            Path(workspace, f".git/hooks/hook-{number}").write_text("x")
            paths.end()

    threads = [threading.Thread(target=attack, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all(name.endswith(".sample") for name in os.listdir(workspace / ".git/hooks"))


def test_a_change_within_one_tick_of_the_clock_is_seen(workspace: Path, protect: Protect) -> None:
    hook = workspace / ".bashrc"
    paths = protect()
    for number in range(50):
        hook.write_text(f"{number:4}")
        paths.begin(mounted=False)
        times = hook.stat()
        hook.write_text("evil")
        os.utime(hook, ns=(times.st_atime_ns, times.st_mtime_ns))
        assert [item.what for item in paths.end()] == ["changed"]
        assert hook.read_text() == f"{number:4}"


# ── what a script may leave to hurt whoever looks


def test_thousands_of_hooks_are_removed_and_the_old_one_is_back(
    shell: Shell, workspace: Path, protect: Protect
) -> None:
    shell(f"git init -q .; {HOOK.format('.git/hooks/zz')}")
    paths = protect()
    found = run(paths, shell, "cd .git/hooks; rm zz; seq 2000 | xargs touch")
    left = {name for name in os.listdir(workspace / ".git/hooks") if not name.endswith(".sample")}
    assert left == {"zz"}
    assert len(found) < 300


@pytest.mark.needs("ordinary-user")
def test_folders_that_were_locked_are_opened_again(
    shell: Shell, workspace: Path, protect: Protect
) -> None:
    shell("git init -q .")
    paths = protect()
    found = run(paths, shell, "echo x > .git/hooks/pre-commit; chmod 0 .git/hooks .git/config")
    assert ".git/hooks/pre-commit: created" in said(found, workspace)
    shell("git status; test ! -e .git/hooks/pre-commit")


@pytest.mark.needs("ordinary-user")
@pytest.mark.parametrize("mode", ["0", "500", "111", "600"])
def test_what_was_planted_in_a_locked_folder_is_removed(
    shell: Shell, workspace: Path, protect: Protect, mode: str
) -> None:
    folders = (".claude/commands", ".config/git", ".git/hooks", "a/.git/hooks", "b/c/.git/hooks")
    planted = [*(f"{folder}/config" for folder in folders), ".mcp.json"]
    locked = [*folders[:-1], *(str(Path(folder).parent) for folder in folders), "b/c", "b", "."]
    paths = protect()
    found = run(
        paths,
        shell,
        f"mkdir -p {' '.join(folders)}; touch {{.,a,b/c}}/.git/HEAD;"
        f" for f in {' '.join(planted)}; do echo x > $f; done; chmod {mode} {' '.join(locked)}",
    )
    shell("chmod -R u+rwx .")
    assert len(found) >= len(planted)
    assert [name for name in planted if (workspace / name).exists()] == []


@pytest.mark.needs("ordinary-user")
def test_a_folder_that_was_locked_before_stays_as_it_is(
    shell: Shell, workspace: Path, protect: Protect
) -> None:
    shell("mkdir -p .claude/commands; echo mine > .claude/commands/x.md; chmod 0 .claude")
    while is_young(workspace.joinpath(".claude").stat().st_ctime_ns):
        pass  # what is young may be a script's
    assert run(protect(), shell, "touch other") == ()
    assert workspace.joinpath(".claude").stat().st_mode & 0o777 == 0
    shell("chmod 700 .claude; grep mine .claude/commands/x.md")


def test_nothing_outside_is_written_through_a_link(
    shell: Shell, tmp_path: Path, protect: Protect
) -> None:
    victim = tmp_path / "victim"
    shell(f"git init -q a/b; git init -q {victim}; git -C {victim} config core.pager less")
    shell(HOOK.format(f"{victim}/.git/hooks/pre-commit"))
    before = {path: path.lstat().st_ctime_ns for path in victim.rglob("*")}
    paths = protect()
    paths.begin(mounted=False)
    shell(
        f"mv a x; ln -s {victim.parent} a; ln -s {victim} a2; mkdir -p c d; ln -s {victim}/.git c/.git;"
        f" echo 'gitdir: {victim}/.git' > d/.git; git init -q e; rm -r e/.git/hooks;"
        f" ln -s {victim}/.git/hooks e/.git/hooks; rm e/.git/config; ln -s {victim}/.git/config e/.git/config"
    )
    paths.end()
    assert {path: path.lstat().st_ctime_ns for path in victim.rglob("*")} == before


def test_sockets_and_devices_where_git_should_be_do_not_hang(
    workspace: Path, protect: Protect
) -> None:
    paths = protect()
    paths.begin(mounted=False)
    with socket.socket(socket.AF_UNIX) as listener:
        here = os.open(workspace, os.O_PATH)
        listener.bind(f"/proc/self/fd/{here}/.bashrc")
        os.close(here)
    os.mkfifo(workspace / ".git")
    os.mkfifo(workspace / "nacre.toml")
    assert said(paths.end(), workspace) == {
        ".bashrc: created",
        ".git: created",
        "nacre.toml: created",
    }
    assert os.listdir(workspace) == []
    assert paths.mounts().read_only == ()


def test_a_run_leaves_no_file_of_ours(shell: Shell, workspace: Path, protect: Protect) -> None:
    shell("git init -q .")
    before = {path: stat.S_IFMT(path.lstat().st_mode) for path in workspace.rglob("*")}
    paths = protect()
    paths.mounts()
    assert run(paths, shell, "true") == ()
    run(paths, shell, "git config core.pager evil; rm .git/hooks/*; echo x > .profile")
    after = {path: stat.S_IFMT(path.lstat().st_mode) for path in workspace.rglob("*")}
    assert {path for path in after if path not in before} == set()
    assert paths.end() == ()


def test_a_mapping_that_changes_a_file_without_its_times_is_noticed(
    workspace: Path, protect: Protect
) -> None:
    target = workspace / ".bashrc"
    target.write_text("mine")
    paths = protect()
    paths.begin(mounted=False)
    with target.open("r+b") as file, mmap.mmap(file.fileno(), 0) as mapped:
        mapped[:] = b"mine"
        assert paths.check() == ()
        mapped[:] = b"evil"
        assert [item.what for item in paths.end()] == ["changed"]
    assert target.read_text() == "mine"


def test_what_is_deep_and_on_another_file_system_than_aside_is_removed_too(
    workspace: Path,
) -> None:
    with tempfile.TemporaryDirectory(dir="/dev/shm") as other:
        paths = ProtectedPaths([workspace], [], Path(other, "aside"))
        paths.begin(mounted=False)
        fd = os.open(workspace, os.O_PATH)
        for name in [".vscode", *["d"] * 1100]:
            os.mkdir(name, dir_fd=fd)
            step = os.open(name, os.O_PATH, dir_fd=fd)
            os.close(fd)
            fd = step
        os.close(fd)
        (workspace / ".bashrc").write_text("evil")
        found = paths.end()
        assert sorted(item.path.name for item in found) == [".bashrc", ".vscode"]
        assert all(item.kept is not None for item in found)
        assert os.listdir(workspace) == []
        paths.close()


def test_a_script_that_changes_everything_while_we_look_neither_hangs_nor_breaks_us(
    shell: Shell, workspace: Path, tmp_path: Path, protect: Protect
) -> None:
    victim = tmp_path / "victim"
    shell(f"git init -q .; git init -q a/b; git init -q {victim}")
    before = {path: path.lstat().st_ctime_ns for path in victim.rglob("*")}
    paths = protect()
    over = threading.Event()
    names = [".git/hooks", ".git/config", ".git", "a/b/.git", "a/b", ".claude", ".bashrc"]

    def attack(number: int) -> None:
        parent, name = os.path.split(workspace / names[number % len(names)])
        fresh = workspace / f"new{number}"
        # Not through links: what they lead to is not a script's to change.
        with suppress(OSError), opened(parent) as fd:
            if number % 3 == 0:
                fresh.symlink_to(victim / ".git")
            elif number % 3 == 1:
                os.mkfifo(fresh)
            else:
                fresh.mkdir()
                (fresh / "config").write_text("[core]\npager=evil")
            with suppress(OSError):
                os.rename(name, workspace / f"old{number}", src_dir_fd=fd)
            os.rename(fresh, name, dst_dir_fd=fd)

    def attack_on() -> None:
        for number in count():
            attack(number)
            if over.is_set():
                return

    thread = threading.Thread(target=attack_on)
    thread.start()
    try:
        for _ in range(30):
            paths.begin(mounted=False)
            paths.mounts()
            paths.end()
    finally:
        over.set()
        thread.join()
    assert {path: path.lstat().st_ctime_ns for path in victim.rglob("*")} == before
