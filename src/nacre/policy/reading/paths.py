"""Path templates: where a word of a command leads, as far as it is known.

A path template is a word's template (`nacre.syntax.word`) taken for a path. It
starts with `/`, with `HOME` or `CWD`, or with a mark for something unknown;
`located` makes one of any word. Nothing is looked up: links are not followed.
"""

from nacre.syntax.script import Command, Surroundings
from nacre.syntax.word import CWD, HOME, QUERY, STAR, UNKNOWN, Word

__all__ = ("could_be", "located", "normal", "places", "settled")

_UNKNOWN = frozenset(UNKNOWN)
_STARTS = frozenset({"/", HOME, CWD, *UNKNOWN})


def normal(path: str) -> str:
    """A path without `//`, `.`, `..` and a slash at its end, as far as that can be said.

    `..` stays where what comes before it is not known: after `HOME`, `CWD`, an
    unknown part, or at the start of a relative path.
    """
    if "/" not in path and path not in {".", ""}:
        return path
    rooted = path.startswith("/")
    kept: list[str] = []
    for part in path.split("/"):
        if part in {"", "."}:
            continue
        if part != "..":
            kept.append(part)
        elif kept and kept[-1] != ".." and not _holds_unknown(kept[-1]):
            kept.pop()
        elif kept or not rooted:
            kept.append(part)
    joined = "/".join(kept)
    if rooted:
        return f"/{joined}"
    return joined or "."


def located(template: str, cwd: str) -> str:
    """The path a command running in `cwd` takes a word for, made normal.

    A word that starts with something unknown could be absolute: it stays as it is.
    """
    if template[:1] in _STARTS:
        return normal(template)
    return normal(f"{cwd}/{template}")


def places(word: Word, command: Command) -> tuple[str, ...]:
    """Every path a word of a command could be."""
    return tuple(located(each, command.cwd) for each in word.templates)


def settled(path: str, surroundings: Surroundings) -> str:
    """A path with `HOME` and `CWD` at its start replaced by what they are, if that is known."""
    if path.startswith(HOME) and surroundings.home:
        return normal(surroundings.home + path[1:])
    if path.startswith(CWD) and surroundings.cwd:
        return normal(surroundings.cwd + path[1:])
    return path


def could_be(template: str, text: str) -> bool:
    """Whether the globs of a template could stand for a text; what is unknown stands for nothing.

    As in bash, `*` and `?` match no slash and no dot at the start of a name.
    """
    if template == text:
        return True
    if STAR not in template and QUERY not in template:
        return False
    names, wanted = template.split("/"), text.split("/")
    return len(names) == len(wanted) and all(map(_name_could_be, names, wanted))


def _name_could_be(template: str, text: str) -> bool:
    if text[:1] == "." and template[:1] != ".":
        return False
    at = within = 0
    star = resume = -1
    while within < len(text):
        sign = template[at] if at < len(template) else ""
        if sign == STAR:
            star, resume = at, within
            at += 1
        elif sign in {QUERY, text[within]}:
            at += 1
            within += 1
        elif star >= 0:
            resume += 1
            at, within = star + 1, resume
        else:
            return False
    return not template[at:].strip(STAR)


def _holds_unknown(part: str) -> bool:
    return part[0] in {HOME, CWD} or not _UNKNOWN.isdisjoint(part)
