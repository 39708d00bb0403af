"""What it costs to start: the import, and a whole `nacre run`."""

import os
import sys
from collections.abc import Mapping
from statistics import median

from nacre.cli.benchmarks.baseline import PYTHON, seconds_of
from nacre.cli.benchmarks.row import Row, Scale, at_most
from nacre.cli.benchmarks.subject import temporary_folder

__all__ = ("compiling", "measure")

_MOST_MILLISECONDS = 100.0
_MOST_OF_RUN = 150.0
_BARE, _IMPORT, _USE, _RUN = "python -c pass", "import nacre", "from nacre import Bash", "run"
_COMMANDS: Mapping[str, tuple[str, ...]] = {
    _BARE: (*PYTHON, "pass"),
    _IMPORT: (*PYTHON, "import nacre"),
    _USE: (*PYTHON, "from nacre import Bash"),
    _RUN: (sys.executable, "-m", "nacre", "run", "--", "true"),
}


async def measure(scale: Scale) -> list[Row]:
    """Start fresh processes of each kind, in turn."""
    runs = scale.of(10, quick=2)
    with temporary_folder() as folder:
        environ = compiling(folder)
        for argv in _COMMANDS.values():
            seconds_of(argv, environ)
        took = {name: list[float]() for name in _COMMANDS}
        for _ in range(runs):
            for name, argv in _COMMANDS.items():
                took[name].append(seconds_of(argv, environ))
    bare, imported, used, run = (median(times) * 1e3 for times in took.values())
    return [
        at_most(
            "import",
            imported - bare,
            _MOST_MILLISECONDS,
            "ms",
            work=f"`{_IMPORT}` in a fresh process, median of {runs}, minus `{_BARE}`",
            note=f"{imported:.1f} ms to {bare:.1f} ms",
        ),
        at_most(
            "import Bash",
            used - bare,
            _MOST_MILLISECONDS,
            "ms",
            work=f"`{_USE}`, which the first use needs, minus `{_BARE}`",
            note=f"{used:.1f} ms to {bare:.1f} ms",
        ),
        at_most(
            "nacre run",
            run,
            _MOST_OF_RUN,
            "ms",
            work=f"`nacre run -- true`, the whole command, median of {runs}",
            note=f"{bare:.1f} ms of it is the interpreter's own start",
        ),
    ]


def compiling(folder: str) -> dict[str, str]:
    """Variables for a start from bytecode, as pip leaves it, wherever this checkout is.

    The first start of each kind compiles into the folder; it is not counted.
    """
    environ = {**os.environ, "NACRE_STATE": f"{folder}/state"}
    environ.pop("PYTHONDONTWRITEBYTECODE", None)
    return environ | {"PYTHONPYCACHEPREFIX": f"{folder}/bytecode"}
