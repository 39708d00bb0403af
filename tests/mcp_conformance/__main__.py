"""Tries the MCP server on the conformance suite of the protocol's makers.

    python -m mcp_conformance [--markdown]

Exits 1 if a scenario fails that is for a server of tools, and 2 if the suite cannot be had.
"""

import argparse
import os
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path

from mcp_conformance.judge import Report
from mcp_conformance.listening import listening
from mcp_conformance.npm import ROOT, UnavailableError
from mcp_conformance.scenarios import VERSIONS, Subject
from mcp_conformance.suite import PACKAGE, VERSION, Suite

_PROGRAMS = {
    Subject.SERVER: ("-m", "nacre", "mcp", "--http", "127.0.0.1:0"),
    Subject.FIXTURES: ("-m", "mcp_conformance.serve"),
}


def main() -> int:
    """Try every scenario on both servers, print a table, and say whether all is well."""
    parser = argparse.ArgumentParser(prog="mcp_conformance", description=__doc__)
    parser.add_argument("--markdown", action="store_true", help="print the page for docs/")
    options = parser.parse_args()
    began = time.monotonic()
    try:
        suite = Suite()
    except UnavailableError as error:
        sys.stderr.write(f"cannot be done here: {error}\n")
        return 2
    report = _tried(suite)
    faults = report.faults()
    lines = _page(report) if options.markdown else _lines(report)
    sys.stdout.writelines(f"{line}\n" for line in lines)
    sys.stderr.writelines(f"FAILED {fault}\n" for fault in faults)
    seconds = time.monotonic() - began
    sys.stderr.write(f"{PACKAGE} {VERSION}: {len(faults)} faults, {seconds:.0f} s\n")
    return int(bool(faults))


def _tried(suite: Suite) -> Report:
    report = Report(suite.scenarios())
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="conformance-")))
        for subject, words in _PROGRAMS.items():
            home = folder / subject.name
            (home / "workspace").mkdir(parents=True)
            variables = {
                **{name: value for name, value in os.environ.items() if "NACRE" not in name},
                "HOME": str(home),
                "NACRE_STATE": str(home / "state"),
                "PYTHONPATH": str(ROOT / "tests"),
            }
            program = [sys.executable, *words]
            url = stack.enter_context(listening(program, home / "workspace", variables))
            for version in VERSIONS:
                seen = suite.run(version, url, home / version)
                report.add(version, subject, seen)
    return report


def _lines(report: Report) -> Iterator[str]:
    yield from _columns([*report.rows()])
    yield from ("", "Not for this server:")
    yield from (f"  {reason}: {names}" for reason, names in report.reasons())
    yield from ("", "Checks that were left out of the others:")
    yield from (f"  {line}" for line in report.left_out())


def _columns(rows: Sequence[Sequence[str]]) -> Iterator[str]:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for name, *cells, last in rows:
        middle = (cell.rjust(width) for cell, width in zip(cells, widths[1:], strict=False))
        yield "  ".join((name.ljust(widths[0]), *middle, last)).rstrip()


_OPENING = f"""\
# The MCP conformance suite

What `{PACKAGE}` {VERSION} says of `nacre mcp --http`, for three versions of
the protocol: two with a handshake, and one without. A number is how many checks of a scenario passed; `-` is
for a version that does not have it. `make conformance` tries it again;
`PYTHONPATH=tests .venv/bin/python -m mcp_conformance --markdown` prints this page.

Some scenarios call tools and read resources of the suite's own. These are tried on the same server with such
fixtures beside its own tools, and show what stands around a handler: transport, gate, eras, sealed questions.
All others are tried on the program as it is. The suite knows HTTP only.
"""


def _page(report: Report) -> Iterator[str]:
    yield _OPENING
    header, *rows = report.rows()
    yield f"| {' | '.join(header)} |"
    yield f"|---|{'--:|' * len(VERSIONS)}---|"
    yield from (f"| {' | '.join(row)} |" for row in rows)
    yield from ("", "## Not for this server", "", "| reason | scenarios |", "|---|---|")
    yield from (f"| {reason} | {names} |" for reason, names in report.reasons())
    yield from ("", "Left out of the others, check by check:", "")
    yield from (f"- {line}" for line in report.left_out())


if __name__ == "__main__":
    sys.exit(main())
