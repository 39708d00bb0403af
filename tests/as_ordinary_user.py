"""Run the tests of processes, files and sandboxes once more as an ordinary user, when we are root.

Root is held to fewer limits than anybody else: it may raise hard limits, write
to any folder and start any number of processes. What holds for root alone holds
for nobody.
"""

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

USER = 61234
ROOT = Path(__file__).parents[1]
TESTS = (
    # Of the edges, what touches files, holds shells, or keeps people apart.
    "adapters/test_files.py",
    "adapters/test_inspect_ai.py",
    "adapters/test_inspect_ai_self_check.py",
    "adapters/test_pydantic_ai_workspace.py",
    "attacks",
    "capture",
    "cli/test_jobs.py",
    "cli/test_run.py",
    "config",
    # Of the dialects, what depends on who runs it: sandboxes, jobs and folders.
    "conformance/agentrail/test_agentrail_memo.py",
    "conformance/codegen/test_codegen_background.py",
    "conformance/phoenix/test_phoenix_background.py",
    "conformance/phoenix/test_phoenix_restricted.py",
    "conformance/wayland/test_wayland_environment.py",
    "conformance/wayland/test_wayland_sandbox.py",
    "conformance/yoi/test_yoi_output.py",
    "contract",
    "engine",
    "process",
    "sandbox",
    "server/test_clients.py",
    "server/test_http.py::test_a_script_of_one_client_finds_nothing_of_anothers",
    "soak/test_host_killed.py",
    "twins",
)
# After the others: some start as many processes as one user may. What is left out does not depend
# on who runs it.
CONTAINERS = (
    "containers/test_attacks.py",
    "containers/test_confinement.py",
    "containers/test_contract.py",
    "containers/test_doctor.py",
    "containers/test_failures.py",
    "containers/test_guide.py",
    "containers/test_load.py",
)
# Which event loop calls does not depend on who runs it.
LOOP = ["-k", "not trio"]
# Not root's own Python: its home is closed to others.
PYTHON = "/usr/bin/python3"
_REQUIRED = os.environ.get("NACRE_REQUIRE", "").split(",")
REQUIRED = "user-tests" in _REQUIRED
_PLACES = ("/srv", "/opt")
# What the host must have for the ordinary user as well.
FOR_USER = [
    "ordinary-user",
    *(each for each in _REQUIRED if each in {"bubblewrap", "rootless-podman"}),
]


def main() -> int:
    if os.getuid() != 0:
        return _say("these tests were run as an ordinary user: nothing to repeat")
    if not _usable(PYTHON):
        return _say(
            f"skipped: {PYTHON} cannot make a virtual environment with Python 3.11", missing=True
        )
    with tempfile.TemporaryDirectory(prefix="nacre-user-", dir=_place()) as name:
        folder = Path(name)
        folder.chmod(0o755)
        _install(folder)
        home = folder / "home"
        home.mkdir()
        os.chown(home, USER, USER)
        codes = [_run(folder, parts) for parts in (TESTS, CONTAINERS)]
    return max(codes)


def _run(folder: Path, parts: Sequence[str]) -> int:
    """Run some of the tests, as the ordinary user."""
    home = folder / "home"
    return subprocess.run(
        [folder / "venv/bin/python", "-m", "pytest", "-q", "-p", "no:cacheprovider", *LOOP,
         "--basetemp", home / Path(parts[0]).stem, *(f"tests/{part}" for part in parts)],
        check=False,
        cwd=folder / "project",
        user=USER,
        group=USER,
        extra_groups=[],
        env={
            "PATH": "/usr/local/bin:/usr/bin:/bin",
            "HOME": str(home),
            "LANG": "C.UTF-8",
            "HYPOTHESIS_STORAGE_DIRECTORY": str(home / "hypothesis"),
            "PYTHONDONTWRITEBYTECODE": "1",
            "NACRE_REQUIRE": ",".join(FOR_USER),
        },
    ).returncode  # fmt: skip


def _usable(python: str) -> bool:
    code = "import sys, ensurepip; sys.exit(sys.version_info < (3, 11))"
    return (
        Path(python).exists() and subprocess.run([python, "-c", code], check=False).returncode == 0
    )


def _place() -> str | None:
    """Where no private folder for temporary files hides what mounts must hold, if there is one."""
    return next((place for place in _PLACES if os.access(place, os.W_OK | os.X_OK)), None)


def _install(folder: Path) -> None:
    """Install a copy of the project, as a user would have it, and its tests beside it."""
    project = folder / "project"
    project.mkdir()
    for part in ("src", "tests", "docs"):
        shutil.copytree(ROOT / part, project / part, ignore=shutil.ignore_patterns("__pycache__"))
    for file in ("pyproject.toml", "constraints.txt", "README.md", "LICENSE"):
        shutil.copy(ROOT / file, project / file)
    subprocess.run([PYTHON, "-m", "venv", folder / "venv"], check=True)
    subprocess.run(
        [folder / "venv/bin/python", "-m", "pip", "install", "--quiet",
         "--disable-pip-version-check", "-c", project / "constraints.txt", f"{project}[all]",
         "pytest", "pytest-timeout", "pytest-randomly", "hypothesis", "trio", "trustme"],
        check=True,
    )  # fmt: skip
    shutil.rmtree(project / "src")  # the installed package is tested, not the tree


def _say(sentence: str, *, missing: bool = False) -> int:
    sys.stdout.write(f"{sentence}\n")
    return int(missing and REQUIRED)


if __name__ == "__main__":
    sys.exit(main())
