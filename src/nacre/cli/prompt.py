"""Ask the person at the terminal about a script that rules leave to them."""

import os
import sys
import termios
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager

import anyio

from nacre.cli.terminal import coloured
from nacre.render.underline import visible
from nacre.cli.verdicts import told
from nacre.model.approval import Answer, Consent, Question

__all__ = ("Prompt", "somebody_is_there")

# More is shown when it is asked for.
_MOST_LINES = 20
_MOST_CHARACTERS = 4_000
_MOST_TYPED = 4_096
_ONCE = frozenset({"y", "yes"})
_ALWAYS = frozenset({"a", "always"})
_SHOW = frozenset({"s", "show"})
_BY = "the terminal"


def somebody_is_there() -> bool:
    """Whether a person can be asked: they see standard error, and type standard input."""
    return sys.stdin.isatty() and sys.stderr.isatty()


class Prompt:
    """An approver that asks on standard error and reads standard input.

    `making_way` keeps others off the terminal while it does. What was typed before the
    question was seen answers nothing.
    """

    def __init__(self, making_way: Callable[[], AbstractContextManager[None]]) -> None:
        self._making_way = making_way

    async def __call__(self, question: Question) -> Answer:
        """Ask until there is an answer; an end of input is a no."""
        with self._making_way():
            whole = _is_short(question.script)
            _write(_introduction(question, whole=whole))
            while True:
                _write([_choices(question, whole=whole)], end="")
                typed = await _line()
                if typed is None:
                    _write([""])
                    return Answer(consent=Consent.NO, by=_BY)
                if typed in _SHOW:
                    whole = True
                    _write(_script(question.script))
                elif typed in _ONCE:
                    return Answer(consent=Consent.ONCE, by=_BY)
                elif typed in _ALWAYS and question.grants and whole:
                    return Answer(consent=Consent.ALWAYS, by=_BY)
                elif typed not in _ALWAYS:
                    return Answer(consent=Consent.NO, by=_BY)


def _introduction(question: Question, *, whole: bool) -> Iterator[str]:
    yield coloured("nacre: may this run?", "yellow", sys.stderr)
    yield from (_script(question.script) if whole else ())
    yield from (f"  {line}" for line in told(question.verdict, question.script, sys.stderr))
    yield f"  in {visible(str(question.cwd))}, held to: {visible(question.held)}"
    if question.description:
        yield f"  the agent says: {visible(question.description)}"
    for rule in question.grants:
        yield f"  always would allow {rule} here, until `nacre grants revoke`"


def _script(script: str) -> Iterator[str]:
    yield from (f"    {line}" for line in visible(script).split("\n"))


def _is_short(script: str) -> bool:
    return script.count("\n") < _MOST_LINES and len(script) <= _MOST_CHARACTERS


def _choices(question: Question, *, whole: bool) -> str:
    offered = ["[y]es once"]
    if question.grants and whole:
        offered.append("[a]lways")
    if not whole:
        offered.append("[s]how the whole script")
    return f"{', '.join(offered)}, [N]o? "


async def _line() -> str | None:
    """What is typed from now on, up to the end of a line; None if nothing more can be."""
    stdin = sys.stdin.fileno()
    termios.tcflush(stdin, termios.TCIFLUSH)
    await anyio.wait_readable(stdin)
    try:
        typed = os.read(stdin, _MOST_TYPED)  # a terminal gives whole lines
    except OSError:
        return None
    return typed.decode("utf-8", "replace").strip().lower() if typed else None


def _write(lines: Iterator[str] | list[str], end: str = "\n") -> None:
    sys.stderr.write("\n".join(lines) + end)
    sys.stderr.flush()
