"""The plain way to do the same: a process started by the standard library."""

import subprocess  # noqa: TID251 (what nacre is measured against)
import sys
import time
from collections.abc import Mapping, Sequence

__all__ = ("BASH", "PYTHON", "seconds_of")

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
