"""What builtins change in the shell that runs them."""

from collections.abc import Callable

from nacre.model.expression import expression
from nacre.syntax.ansi import number
from nacre.syntax.script import Command
from nacre.syntax.state import MOST_ELEMENTS, State
from nacre.syntax.word import CWD, FIELDS, HOLE, HOME, Word

__all__ = ("affect", "changes_shell")

_DECLARED = expression(r"([A-Za-z_][A-Za-z0-9_]*)(\+?=)?")
_RUN_OTHERS = frozenset({"eval", "command", "builtin", "trap", "exec", "alias", "shopt"})
_MOST_FOLDERS = 4
_MARKED_ROOTS = (HOME, CWD, HOLE)


def affect(command: Command, state: State) -> None:
    """Change a state as a command would, if it is a builtin that does."""
    name = command.words[0].value
    effect = _EFFECTS.get(name) if name is not None else _forget
    if effect:
        effect(command.words[1:], state)


def changes_shell(name: str) -> bool:
    """Whether a command of this name changes the shell that runs it, or runs one that does."""
    return name in _EFFECTS or name in _RUN_OTHERS


def _forget(words: tuple[Word, ...], state: State) -> None:
    """Whatever it was, it may have changed anything."""
    del words
    state.forget()


def _declare(words: tuple[Word, ...], state: State) -> None:
    reference = any("n" in (word.value or "") for word in words if word.source.startswith("-"))
    if reference:
        state.change_anytime()
    for word in words:
        for template in word.templates:
            found = _DECLARED.match(template)
            if found is None or not (found[2] or found.end() == len(template)):
                continue
            if reference or found[2] == "+=":
                state.assign(found[1], (HOLE,))
            elif found[2]:
                values = [
                    each[found.end() :] for each in word.templates if each.startswith(found[0])
                ]
                state.assign(found[1], tuple(each.replace(FIELDS, HOLE) for each in values))


def _read(words: tuple[Word, ...], state: State) -> None:
    """Every word could be the name of a variable that is read."""
    for word in words:
        for value in word.values:
            if value.isidentifier():
                state.assign(value, (HOLE,))
    if any(word.opaque for word in words):
        state.forget()
    state.assign("REPLY", (HOLE,))
    state.assign("MAPFILE", (HOLE,))


def _print_into(words: tuple[Word, ...], state: State) -> None:
    if words and words[0].value is not None and words[0].value.startswith("-v"):
        name = words[0].value[2:] or (words[1].value if len(words) > 1 else None)
        if name and name.isidentifier():
            state.assign(name, (HOLE,))
        else:
            state.forget()


def _unset(words: tuple[Word, ...], state: State) -> None:
    for word in words:
        for value in word.values:
            if value.isidentifier():
                state.assign(value, (" \t\n",) if value == "IFS" else ("",))
                state.functions.pop(value, None)


def _set(words: tuple[Word, ...], state: State) -> None:
    """`set -- a b` gives the shell new arguments; so does `set a b`."""
    values = [word.value for word in words]
    if "--" in values:
        given = words[values.index("--") + 1 :]
    elif words and not words[0].source.startswith(("-", "+")):
        given = words
    else:
        return
    known = all(FIELDS not in each for word in given for each in word.templates)
    known = known and len(given) <= MOST_ELEMENTS
    state.arguments = tuple(word.templates for word in given) if known else None


def _shift(words: tuple[Word, ...], state: State) -> None:
    count = number(words[0].value or "") if words else 1
    if state.arguments is not None and count is not None and count >= 0:
        state.arguments = state.arguments[count:]
    else:
        state.arguments = None


def _change_directory(words: tuple[Word, ...], state: State) -> None:
    targets = [
        word for word in words if not (word.value or "").startswith("-") or word.value == "-"
    ]
    if not targets:
        state.cwd = (HOME,)
    elif targets[0].value == "-" or len(targets) > 1:
        state.cwd = (HOLE,)
    else:
        folders = {_below(here, each): None for here in state.cwd for each in targets[0].templates}
        state.cwd = tuple(folders) if len(folders) <= _MOST_FOLDERS else (HOLE,)


def _below(folder: str, target: str) -> str:
    """Where `cd target` leads from a folder."""
    target = target.replace(FIELDS, HOLE)
    if target.startswith(("/", *_MARKED_ROOTS)):
        return target
    return f"{folder.rstrip('/')}/{target}" if target not in {"", "."} else folder


def _lose_directory(words: tuple[Word, ...], state: State) -> None:
    del words
    state.cwd = (HOLE,)


_Effect = Callable[[tuple[Word, ...], State], None]
_EFFECTS: dict[str, _Effect] = {
    "export": _declare,
    "declare": _declare,
    "typeset": _declare,
    "local": _declare,
    "readonly": _declare,
    "read": _read,
    "mapfile": _read,
    "readarray": _read,
    "getopts": _read,
    "let": _forget,
    "printf": _print_into,
    "unset": _unset,
    "set": _set,
    "shift": _shift,
    "cd": _change_directory,
    "pushd": _change_directory,
    "popd": _lose_directory,
    "source": _forget,
    ".": _forget,
}
