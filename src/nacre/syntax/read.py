"""Text to script: every simple command that could run, as far as it can be known.

The tree is walked once, in the order bash would run it, with a `State` that holds
what each variable could be. Where bash might take one of several ways, all are
taken and their states joined.
"""

from nacre.model.expression import expression
from nacre.syntax.budget import Budget, OverBudgetError
from nacre.syntax.guess import guess
from nacre.syntax.parser.parse import parse
from nacre.syntax.script import Command, Script, Surroundings
from nacre.syntax.walk import Walk

__all__ = ("read",)

_SURROGATE = expression("[\ud800-\udfff]")
_CARRIAGE = "; it has carriage returns, which bash takes for letters"
_NUL = "it holds a NUL character, which bash cannot be given"
_NO_CHARACTER = "it holds what is no character, which bash cannot be given"


def read(text: str, surroundings: Surroundings | None = None) -> Script:
    """Find the commands of a script; never raises, and never takes long."""
    flaw = _impossible(text)
    # Python holds a byte that is no UTF-8 as a surrogate, and gives bash that byte.
    clean = _SURROGATE.sub("\ufffd", text.replace("\0", "\n"))
    walk = Walk(clean, budget := Budget())
    parsed = parse(clean, budget)
    over_budget, error = parsed.over_budget, flaw or parsed.error
    try:
        walk.script(parsed.tree)
    except (OverBudgetError, RecursionError) as failure:
        over_budget, error = True, error or str(failure)
    except Exception as failure:  # noqa: BLE001 (a fault in the reading must not let it through)
        over_budget, error = True, error or f"its reading failed: {failure!r}"
    if not error:
        error, over_budget = walk.flaw, over_budget or walk.over_budget
    if error and "\r" in text:
        error += _CARRIAGE
    # What was not walked to its end is searched from its start.
    start = 0 if walk.flaw or over_budget else parsed.end
    guessed = _guessed(clean, start) if error else ()
    return Script(
        text=text,
        commands=(*walk.commands, *guessed),
        unreadable=error,
        over_budget=over_budget,
        surroundings=surroundings or Surroundings(),
    )


def _guessed(text: str, start: int) -> tuple[Command, ...]:
    """What the rest of a text looks like, and what its commands would run."""
    found = guess(text, start)
    inner = Walk(text, Budget())
    try:
        for command in found:
            inner.look_through(command)
    except (OverBudgetError, RecursionError):
        pass
    seen = {command.span: command for command in inner.commands}
    return (*inner.commands, *(each for each in found if each.span not in seen))


def _impossible(text: str) -> str:
    if "\0" in text:
        return _NUL
    try:
        text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        return _NO_CHARACTER
    return ""
