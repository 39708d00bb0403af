"""Brace expansion: `{a,b}` and `{1..3}`, before anything else is expanded."""

from nacre.model.expression import expression
from nacre.syntax.ansi import number
from nacre.syntax.tree import Parameter, Part, Text

__all__ = ("expand_braces",)

_MOST_WORDS = 64
_MOST_GROUPS = 24
_SIGNS = frozenset("{},")
_PIECES = expression(r"[{},]|[^{},]+")
_RANGE = expression(r"(-?[0-9]+|[A-Za-z])\.\.(-?[0-9]+|[A-Za-z])(?:\.\.-?[0-9]+)?")
# One member of a word: a part, or one of the three signs.
_Atom = Part | str


def expand_braces(parts: tuple[Part, ...]) -> list[tuple[Part, ...]]:
    """Every word that braces make of one; the word itself if there are none."""
    text = "".join(part.value for part in parts if isinstance(part, Text) and not part.quoted)
    if "{" not in text or "}" not in text or not ("," in text or ".." in text):
        return [parts]
    if text.count("{") > _MOST_GROUPS:
        return [(Parameter("", "?"),)]
    atoms: list[_Atom] = []
    for part in parts:
        if isinstance(part, Text) and not part.quoted:
            atoms += [
                piece if piece in _SIGNS else Text(piece) for piece in _PIECES.findall(part.value)
            ]
        else:
            atoms.append(part)
    expanded = _expand(atoms, _MOST_WORDS)
    return [tuple(_part(atom) for atom in each) for each in expanded[:_MOST_WORDS]]


def _part(atom: _Atom) -> Part:
    return Text(atom) if isinstance(atom, str) else atom


def _expand(atoms: list[_Atom], most: int) -> list[list[_Atom]]:
    """Expand the first group, then what follows it."""
    for start, atom in enumerate(atoms):
        if atom != "{":
            continue
        group = _group(atoms, start)
        if group is None:
            continue
        end, members = group
        tails = _expand(atoms[end + 1 :], most)
        heads = [inner for member in members for inner in _expand(member, most)][:most]
        return [atoms[:start] + head + tail for head in heads for tail in tails][:most]
    return [atoms]


def _group(atoms: list[_Atom], start: int) -> tuple[int, list[list[_Atom]]] | None:
    """Where the group that opens here ends, and its members; none if it is no group."""
    level, members = 0, [list[_Atom]()]
    for index in range(start, len(atoms)):
        atom = atoms[index]
        if atom == "{":
            level += 1
        elif atom == "}":
            level -= 1
            if not level:
                if len(members) > 1:
                    return index, members
                counted = _counted(members[0])
                return (index, counted) if counted else None
        if atom == "," and level == 1:
            members.append([])
        elif level > 1 or index > start:
            members[-1].append(atom)
    return None


def _counted(member: list[_Atom]) -> list[list[_Atom]] | None:
    """`1..3` or `a..c`: the first few of its words."""
    match member:
        case [Text(value=value, quoted=False)] if found := _RANGE.fullmatch(value):
            first, last = found[1], found[2]
        case _:
            return None
    ends = (number(first), number(last))
    if ends[0] is not None and ends[1] is not None:
        low, high = min(ends[0], ends[1]), max(ends[0], ends[1])
        return [[Text(str(each))] for each in range(low, min(high, low + _MOST_WORDS - 1) + 1)]
    if len(first) == len(last) == 1 and first.isalpha() and last.isalpha():
        low, high = sorted((ord(first), ord(last)))
        return [[Text(chr(each))] for each in range(low, high + 1)]
    return None
