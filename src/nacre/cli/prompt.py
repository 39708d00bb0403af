"""Ask the person at the terminal about a script that rules leave to them."""

import os
import sys
import termios
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager
from dataclasses import replace

from nacre.cli.terminal import coloured
from nacre.cli.verdicts import told
from nacre.model.approval import Answer, Consent, Question
from nacre.model.expression import expression
from nacre.process.waits import readable
from nacre.render.underline import one_line, visible

__all__ = ("Prompt",)

# More is shown when it is asked for.
_MOST_LINES = 20
_MOST_CHARACTERS = 2_000
_MOST_TYPED = 4_096
_DESCRIPTION = 300
_LEAST_WIDTH, _USUAL_WIDTH = 40, 80
_ONCE = frozenset({"y", "yes"})
_ALWAYS = frozenset({"a", "always"})
_SHOW = frozenset({"s", "show"})
_BY = "the terminal"
_COLOUR = expression(r"\x1b\[\d*m")
# Nothing that an agent wrote begins a line, so that none of it can be taken for a question.
_MARGIN, _GOES_ON = "  ", "  … "


class Prompt:
    """An approver that asks on standard error and reads standard input.

    `making_way` keeps others off the terminal while it does. What was typed before the
    question was seen answers nothing.
    """

    def __init__(self, making_way: Callable[[], AbstractContextManager[None]]) -> None:
        self._making_way = making_way

    async def __call__(self, question: Question) -> Answer:
        """Ask until there is an answer; an end of input is a no, and so is any other word."""
        with self._making_way():
            consent = await _consent(question)
        return Answer(consent=consent, by=_BY)


async def _consent(question: Question) -> Consent:
    whole = _is_short(question.script)
    _write(coloured("nacre: may this run?", "yellow", sys.stderr))
    _show(_introduction(question, whole=whole))
    while True:
        typed = await _typed(_choices(question, whole=whole))
        if typed is None:
            _write("")
            return Consent.NO
        if typed in _SHOW:
            whole = True
            _show(_script(question.script))
        elif typed in _ALWAYS and not (question.grants and whole):
            why = "no plain command that could be remembered" if whole else "not shown whole yet"
            _show([f"always cannot be said of this: it is {why}"])
        elif typed in _ALWAYS:
            return Consent.ALWAYS
        else:
            return Consent.ONCE if typed in _ONCE else Consent.NO


def _introduction(question: Question, *, whole: bool) -> Iterator[str]:
    script = question.script
    if whole:
        yield from _script(script)
    else:
        yield f"a script of {_count(script):,} lines and {len(script):,} characters"
    # What to do instead is for agents.
    yield from told(replace(question.verdict, suggestion=""), script, sys.stderr)
    yield f"in {_flat(str(question.cwd))}, held to: {_flat(question.held)}"
    if question.description:
        yield f"the agent says: {one_line(question.description, _DESCRIPTION)}"
    for rule in question.grants:
        yield f"always would allow {_flat(rule)} here, until `nacre grants revoke`"


def _script(script: str) -> Iterator[str]:
    margin = len(str(_count(script)))
    for number, line in enumerate(visible(script).split("\n"), start=1):
        yield f"{number:{margin}} | {line}"


def _count(script: str) -> int:
    return script.count("\n") + 1


def _is_short(script: str) -> bool:
    return _count(script) <= _MOST_LINES and len(script) <= _MOST_CHARACTERS


def _flat(text: str) -> str:
    return visible(text.replace("\n", "\\n"))


def _choices(question: Question, *, whole: bool) -> str:
    offered = ["[y]es once"]
    if question.grants and whole:
        offered.append("[a]lways")
    if not whole:
        offered.append("[s]how the whole script")
    return f"{', '.join(offered)}, [N]o? "


async def _typed(choices: str) -> str | None:
    """What is typed once the choices are there, up to the end of a line; None if nothing can be."""
    stdin = sys.stdin.fileno()
    try:
        termios.tcflush(stdin, termios.TCIFLUSH)
        _write(choices, end="")
        await readable(stdin)
        typed = os.read(stdin, _MOST_TYPED)  # a terminal gives whole lines
    except (OSError, termios.error):
        return None
    return typed.decode("utf-8", "replace").strip().lower() if typed else None


def _show(lines: Iterable[str]) -> None:
    width = _width()
    for line in lines:
        for piece in _wrapped(f"{_MARGIN}{line}", width):
            _write(piece)


def _wrapped(line: str, width: int) -> Iterator[str]:
    """A line in pieces that fit, so that the terminal breaks none of them."""
    plain = _COLOUR.sub("", line)
    if _columns(plain) <= width:
        yield line
        return
    piece, taken = "", 0
    for character in plain:
        if taken + _columns(character) > width:
            yield piece
            piece, taken = _GOES_ON, len(_GOES_ON) + 1
        piece, taken = piece + character, taken + _columns(character)
    yield piece


def _columns(text: str) -> int:
    """How many columns a text takes at most."""
    return len(text) if text.isascii() else sum(1 if each.isascii() else 2 for each in text)


def _width() -> int:
    try:
        width = os.get_terminal_size(sys.stderr.fileno()).columns
    except OSError:
        width = 0
    return max(_LEAST_WIDTH, width or _USUAL_WIDTH)


def _write(line: str, end: str = "\n") -> None:
    sys.stderr.write(f"{line}{end}")
    sys.stderr.flush()
