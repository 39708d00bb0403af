"""Whether a sed or awk program only reads and prints.

Both can run commands and write files from inside their program. What is not
plainly harmless counts as reaching further.
"""

import re

from nacre.model.expression import expression

__all__ = ("awk_only_prints", "sed_only_prints")

_SED_ADDRESS = expression(r"\d+(?:~\d+)?|\$|[+~]\d+")
_SED_BETWEEN = expression(r"[\s;{}]*(?:#[^\n]*\n?[\s;{}]*)*")
_SED_FLAGS = expression(r"[gpiImM0-9]*[ \t]*(?=[;\n}#]|$)")
_SED_LETTER = expression(r"[dDpPnNgGhHxqQl=Fz][ \t]*\d*[ \t]*(?=[;\n}#]|$)")
_SED_LABEL = expression(r"[btT:][ \t]*[^\s;}]*")
_SED_LINE = expression(r"[aicrR](?:[^\\\n]|\\.)*", re.DOTALL)
_SED_PARTS = {"s": 2, "y": 2}

_AWK_TEXT = expression(r'"(?:[^"\\\n]|\\.)*"|#[^\n]*', re.DOTALL)
_AWK_REGEX = expression(r"/(?:[^/\\\[\n]|\\.|\[\^?\]?[^]/\n]*\])+/")
_AWK_REACH = expression(r"@|\bsystem\b|(?<!\|)\|(?!\|)|\bprintf?\b[^;{}\n]*>")
_BEFORE_REGEX = frozenset("(,{}[;!~&|?:=<>\n")


def sed_only_prints(program: str) -> bool:
    """Whether a sed program has no `e`, `w` or `W`, and no part that is not understood."""
    at = _SED_BETWEEN.match(program)
    position = at.end() if at else 0
    while position < len(program):
        after = _after_sed_command(program, _after_sed_addresses(program, position))
        if after is None:
            return False
        between = _SED_BETWEEN.match(program, after)
        position = between.end() if between else after
    return True


def _after_sed_addresses(program: str, at: int) -> int | None:
    while at < len(program):
        if program[at] in " \t,!":
            at += 1
        elif found := _SED_ADDRESS.match(program, at):
            at = found.end()
        elif program[at] in "/\\":
            start = at + 1 if program[at] == "\\" else at
            end = _after_sed_regex(program, start + 1, program[start : start + 1])
            if end is None:
                return None
            at = end
            while program[at : at + 1] in {"I", "M"}:
                at += 1
        else:
            break
    return at


def _after_sed_command(program: str, at: int | None) -> int | None:
    """Where a command ends that only prints; nothing if it might do more."""
    if at is None or at >= len(program):
        return at
    letter = program[at]
    if letter in "{}#;\n":
        return at if letter == "#" else at + 1
    if letter in _SED_PARTS:
        end = _after_sed_parts(program, at)
        flags = _SED_FLAGS.match(program, end) if end is not None else None
        return flags.end() if flags else None
    for form in (_SED_LETTER, _SED_LABEL, _SED_LINE):
        if found := form.match(program, at):
            return found.end()
    return None


def _after_sed_parts(program: str, at: int) -> int | None:
    """Where the second part of `s/a/b/` or `y/a/b/` ends."""
    border = program[at + 1 : at + 2]
    if not border or border in "\\\n":
        return None
    end = _after_sed_regex(program, at + 2, border)
    while end is not None and end < len(program):
        if program[end] == border:
            return end + 1
        end += 2 if program[end] == "\\" else 1
    return None


def _after_sed_regex(program: str, at: int, border: str) -> int | None:
    while at < len(program):
        sign = program[at]
        if sign == border:
            return at + 1
        if sign == "[":
            # A border inside brackets ends the regex for some seds and not for others.
            close = program.find("]", at + (3 if program[at + 1 : at + 2] == "^" else 2))
            if close < 0 or border in program[at:close]:
                return None
            at = close + 1
        else:
            at += 2 if sign == "\\" else 1
    return None


def awk_only_prints(program: str) -> bool:
    """Whether an awk program runs nothing and writes to nothing but its output."""
    return not _AWK_REACH.search(_awk_without_literals(program))


def _awk_without_literals(program: str) -> str:
    kept: list[str] = []
    at, before = 0, "\n"
    while at < len(program):
        sign = program[at]
        form = _AWK_TEXT if sign in '"#' else _AWK_REGEX
        literal = None
        if sign in '"#' or (sign == "/" and before in _BEFORE_REGEX):
            literal = form.match(program, at)
            if literal is None:
                return "@"
        if literal:
            at, before = literal.end(), '"'
            kept.append(" " if sign == "#" else '""')
        else:
            kept.append(sign)
            before = before if sign in " \t" else sign
            at += 1
    return "".join(kept)
