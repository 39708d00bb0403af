"""The lines of an output that could tell of a denial."""

from bisect import bisect_right
from itertools import accumulate

from nacre.model.expression import expression
from nacre.sandbox.violations.complaint import Said

__all__ = ("said", "telling")

_HEAD, _TAIL = 16 << 10, 64 << 10
_LONGEST = 2000
# Of the lines with a hint, so many from either end; around each, what a traceback needs.
_FIRST, _LAST = 50, 100
_BEFORE, _AFTER = 12, 1

_HINTS = (
    "denied", "not permitted", "read-only", "readonly", "eacces", "erofs", "eperm", "enoent",
    "errno", "os error", "no such file", "cross-device", "busy", "unable to open", "enetunreach",
    "failure writing", "insufficient permission", "resolve", "unreachable", "refused", "resolution",
    "name or service", "eai_", "unknownhost", "unknown host", "socket", "connect", "no such process",
    "new privileges", "namespace", "sandbox", "superuser", "too large", "limit exceeded", "memory",
    "bad_alloc", "temporarily unavailable", "thread", "too many open", "emfile", "administrative",
    "from versions: none", "no matching distribution", "nosuchfile", "could not create", "(re)create", "cannot create",
    "writing to the directory", "lookup", "dns", "accessdenied", "effective uid", "enomem", "ptrace", "invalid argument",
)  # fmt: skip
_COLOUR = expression(r"\x1b\[[0-9;?]*[ -/]*[@-~]")
# What pytest, npm and curl's progress put in front of an error.
_PREFIX = expression(r"(?:E {2,}|npm (?:error|ERR!) ?|> |[\d\s:.-]+(?=curl: ))?\s*")


def telling(output: str) -> str:
    """The start and the end of an output, or nothing if no denial could be told there."""
    if len(output) > _HEAD + _TAIL:
        output = f"{output[:_HEAD]}\n{output[-_TAIL:]}"
    lowered = output.lower()
    return output if any(hint in lowered for hint in _HINTS) else ""


def said(output: str) -> tuple[Said, ...]:
    """The lines that could tell of a denial, each with the few around it that explain it."""
    if "\x1b" in output:
        output = _COLOUR.sub("", output)
    lines = output.replace("\r", "\n").split("\n")
    found = _hinted(lines)
    if len(found) > _FIRST + _LAST:
        found = [*found[:_FIRST], *found[-_LAST:]]
    chosen = set(found)
    around = {near for each in found for near in range(each - _BEFORE, each + _AFTER + 1)}
    return tuple(
        Said(number, text, number in chosen)
        for number in sorted(around)
        if 0 <= number < len(lines) and (text := _PREFIX.sub("", lines[number][:_LONGEST], count=1))
    )


def _hinted(lines: list[str]) -> list[int]:
    """The numbers of the lines with a hint in them, found without looking at each line."""
    text = "\n".join(lines).lower()
    # A lower-case text may be longer than the text was.
    ends = list(accumulate(len(line) + 1 for line in text.split("\n")))
    found: set[int] = set()
    for hint in _HINTS:
        at = text.find(hint)
        while at >= 0:
            number = bisect_right(ends, at)
            found.add(number)
            at = text.find(hint, ends[number])
    return sorted(found)
