"""A command line, and what it did to come to its end: `witness.py OUTPUT WORDS...`.

The output gets, as JSON, the exit code, the modules that were imported, every path that was opened
or listed, and how many bytes were read.
"""

import json
import os
import sys
from pathlib import Path

touched: list[str] = []


def _notice(event: str, arguments: tuple[object, ...]) -> None:
    if event in {"open", "os.listdir", "os.scandir"}:
        path = arguments[0]
        touched.append(os.fsdecode(path) if isinstance(path, str | bytes) else "")


def _read() -> int:
    counts = Path("/proc/self/io").read_text("ascii").split()
    return int(counts[counts.index("rchar:") + 1])


if __name__ == "__main__":
    output, words = sys.argv[1], sys.argv[2:]
    before = set(sys.modules)
    sys.addaudithook(_notice)
    from nacre.cli.main import main

    sys.argv = ["nacre", *words]
    code: object = None
    try:
        main()
    except SystemExit as over:
        code = over.code
    told = {
        "code": code,
        "modules": sorted(set(sys.modules) - before),
        "touched": list(touched),
        "read": _read(),
    }
    Path(output).write_text(json.dumps(told), "utf-8")
