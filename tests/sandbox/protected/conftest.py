"""Real repositories to attack, and what looks at them."""

import os
import subprocess
from collections.abc import Callable, Generator
from pathlib import Path

import pytest

from nacre.sandbox.protected import ProtectedPaths, paths

Shell = Callable[..., str]


@pytest.fixture(autouse=True)
def patience(monkeypatch: pytest.MonkeyPatch) -> None:
    """Time to look at everything, on a host that has little."""
    monkeypatch.setattr(paths, "_FIRST_WALK_SECONDS", 10.0)
    monkeypatch.setattr(paths, "_LEAST_LOOK_SECONDS", 10.0)
    monkeypatch.setattr(paths, "_MOST_LOOK_SECONDS", 10.0)


def bash(script: str, folder: Path, home: Path) -> str:
    """Run a script in a folder, as anybody could; git asks no settings but its own."""
    variables = {
        "PATH": os.environ["PATH"],
        "HOME": str(home),
        "GIT_CONFIG_GLOBAL": "/dev/null",
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_AUTHOR_NAME": "A",
        "GIT_AUTHOR_EMAIL": "a@example.org",
        "GIT_COMMITTER_NAME": "A",
        "GIT_COMMITTER_EMAIL": "a@example.org",
        "GIT_CONFIG_COUNT": "2",
        "GIT_CONFIG_KEY_0": "protocol.file.allow",
        "GIT_CONFIG_VALUE_0": "always",
        "GIT_CONFIG_KEY_1": "init.defaultBranch",
        "GIT_CONFIG_VALUE_1": "main",
        "OUT": str(home),
    }
    words = ["bash", "-ec", script]
    done = subprocess.run(
        words, cwd=folder, env=variables, capture_output=True, check=False, timeout=30
    )
    assert done.returncode == 0, f"{script}\n{done.stderr.decode(errors='replace')}"
    return done.stdout.decode(errors="replace")


@pytest.fixture
def shell(workspace: Path) -> Shell:
    """Runs a script in the workspace, or another folder."""

    def run(script: str, folder: Path = workspace) -> str:
        return bash(script, folder, workspace.parent)

    return run


@pytest.fixture(scope="session")
def worked_in(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a workspace that has commits, and a repository they were pushed to."""
    home = tmp_path_factory.mktemp("worked")
    commit = "git commit -q --allow-empty -m x"
    bash(
        f"git init -q --bare up; git init -q workspace; cd workspace; {commit}; echo x > f;"
        f" git add .; {commit}; git push -q ../up main",
        home,
        home,
    )
    return home


@pytest.fixture
def protect(workspace: Path, tmp_path: Path) -> Generator[Callable[..., ProtectedPaths]]:
    """Protects the workspace, and what else is named."""
    made: list[ProtectedPaths] = []

    def make(*roots: Path, extra: tuple[Path, ...] = ()) -> ProtectedPaths:
        made.append(ProtectedPaths(roots or (workspace,), extra, tmp_path / "aside"))
        return made[-1]

    yield make
    for one in made:
        one.close()
