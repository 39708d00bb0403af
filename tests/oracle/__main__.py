"""Looks for scripts of which the reading does not know what they run.

    python -m oracle [--seed N] [--scripts N] [--workers N] [--show N]

Exits 1 if there is one, after printing it as small as it can be made.
"""

import argparse
import os
import re
import sys
from collections.abc import Iterable

from oracle.campaign import Finding, Report, cases, fuzz, plants, tried
from oracle.judge import FAILURES, Answer
from oracle.namespace import Namespace, lack

_PLAIN = re.compile(r"[\"'\\]")
_WORD = re.compile(r"\w+")


def main() -> int:
    """Run the cases and the fuzz, print figures, and say whether all is well."""
    parser = argparse.ArgumentParser(prog="oracle", description=__doc__)
    parser.add_argument("--seed", type=int, default=1, help="the same scripts for the same number")
    parser.add_argument("--scripts", type=int, default=20_000, help="how many to generate")
    parser.add_argument("--planted", type=int, default=2_000, help="how many real ones to alter")
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--show", type=int, default=20, help="how many to show of each answer")
    parser.add_argument("--also", action="append", default=[], help="show these answers, too")
    options = parser.parse_args()
    if reason := lack():
        _say(f"cannot be done here: {reason}")
        return 2
    shown = [*FAILURES, *(Answer[name.upper()] for name in options.also)]
    misreads = 0
    for title, samples in (
        ("shared cases", cases()),
        (f"fuzz, seed {options.seed}", fuzz(options.seed, options.scripts)),
        ("real scripts with commands put in", plants(options.seed, options.planted)),
    ):
        report = tried(samples, workers=options.workers)
        _say(f"{title}:", *report.lines())
        misreads += sum(report.answers[answer] for answer in FAILURES)
        for answer in shown:
            _show(report, answer, options.show)
    _say(f"{misreads} silent misreads")
    return int(misreads > 0)


def _say(*lines: str) -> None:
    sys.stdout.writelines(f"{line}\n" for line in lines)
    sys.stdout.flush()


def _show(report: Report, answer: Answer, most: int) -> None:
    """Print the smallest scripts that got an answer, each once."""
    found = [finding for finding in report.findings if finding.answer is answer]
    found.sort(key=lambda finding: len(finding.script))
    if found:
        _say("", f"{answer.value}:")
    for finding in _smallest(found, most):
        _say(f"  {finding.name:10} {finding.script!r}")


def _smallest(findings: Iterable[Finding], most: int) -> Iterable[Finding]:
    seen: set[str] = set()
    with Namespace() as place:
        for finding in findings:
            small = finding.shrunk(place)
            key = _WORD.sub("w", _PLAIN.sub("", small.script))
            if key not in seen:
                seen.add(key)
                yield small
            if len(seen) >= most:
                return


if __name__ == "__main__":
    sys.exit(main())
