"""A verdict as a person reads it, and as a program does."""

import shutil
import sys
from collections.abc import Iterator
from typing import TextIO

from nacre.cli.terminal import coloured
from nacre.model.verdict import Decision, Verdict
from nacre.render.underline import characters, one_line, underlined, visible

__all__ = ("fields", "told")

_COLOURS = {Decision.ALLOW: "green", Decision.ASK: "yellow", Decision.DENY: "red"}
_WIDTHS = (40, 100, 160)  # the least, the usual if there is no terminal, and the most
_PART_CHARACTERS = 200


def fields(verdict: Verdict) -> dict[str, object]:
    """What a verdict says, by name."""
    return {
        "decision": verdict.decision.name.lower(),
        "reason": verdict.reason,
        "rule": verdict.rule,
        "part": verdict.part,
        "span": verdict.span,
        "suggestion": verdict.suggestion,
    }


def told(verdict: Verdict, script: str, stream: TextIO | None = None) -> Iterator[str]:
    """Lines that say what was decided, about which part, and what to do instead.

    They are for standard output, unless another stream is given.
    """
    out, colour = stream or sys.stdout, _COLOURS[verdict.decision]
    decision = coloured(verdict.decision.name.lower(), colour, out)
    yield f"{decision}: {visible(verdict.reason)}" if verdict.reason else decision
    if verdict.span is not None:
        start, end = (characters(script, offset) for offset in verdict.span)
        for line in underlined(script, start, end, _width(out)):
            mark = line.lstrip(" |").startswith("^")
            yield coloured(line, colour, out) if mark else line
    elif verdict.part:
        yield f"part: {one_line(verdict.part, _PART_CHARACTERS)}"
    if verdict.rule:
        yield f"rule: {visible(verdict.rule)}"
    if verdict.suggestion:
        yield f"instead: {visible(verdict.suggestion)}"


def _width(stream: TextIO) -> int:
    least, usual, most = _WIDTHS
    if not stream.isatty():
        return usual
    return max(least, min(shutil.get_terminal_size().columns, most))
