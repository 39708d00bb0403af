"""The plain way to do the same: a process started by the standard library."""

import os
import subprocess  # noqa: TID251 (what nacre is measured against)
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from nacre.sandbox.bubblewrap import room
from nacre.sandbox.presets import preset

__all__ = ("BASH", "PYTHON", "in_bwrap", "seconds_of")

BASH = ("bash", "-c")
PYTHON = (sys.executable, "-c")


def seconds_of(argv: Sequence[str], environ: Mapping[str, str] | None = None) -> float:
    """How long a process takes, from its start until its output is read.

    Raises:
        subprocess.CalledProcessError: If it fails.
    """
    began = time.perf_counter()
    subprocess.run(argv, capture_output=True, check=True, env=environ)
    return time.perf_counter() - began


def in_bwrap(bwrap: str, folder: Path) -> tuple[str, ...]:
    """The words that put one command into a bubblewrap of its own, as a room of nacre's is made."""
    tmp = folder / "tmp"
    tmp.mkdir()
    confinement = preset("workspace", folder, home=os.path.expanduser("~"))
    return room(bwrap, confinement, tmp=tmp).argv
