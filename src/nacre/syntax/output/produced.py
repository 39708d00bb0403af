"""The text a command is known to print, so that what it is piped into can be read."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import product
from math import prod

from nacre.syntax.output.printing import echoed, printed
from nacre.syntax.script import Command
from nacre.syntax.word import HOLE, SET, Word, known, shown
from nacre.syntax.wrappers.find import found_paths
from nacre.syntax.wrappers.inner import joined

__all__ = ("prints",)

_MOST_TEXTS = 16
_LONGEST = 1 << 20

Printer = Callable[[Command, Word | None], Sequence[str] | None]


def prints(name: str, command: Command, stdin: Word | None) -> Word | None:
    """What a command of this name prints, if that is known."""
    printer = _PRINTERS.get(name)
    texts = printer(command, stdin) if printer else _filtered(name, command, stdin)
    texts = [each for each in texts or () if len(each) <= _LONGEST]
    if not texts:
        return None
    made = dict.fromkeys(texts)
    expansions = tuple(each for word in command.words for each in word.expansions)
    if stdin:
        expansions += stdin.expansions
    return Word(
        source=shown(texts[0]), span=command.span, templates=tuple(made), expansions=expansions
    )


def _choices(words: Sequence[Word]) -> Iterator[tuple[str, ...]]:
    """Every way to give a command its words, within reason."""
    choices = [word.templates for word in words]
    if prod(map(len, choices)) > _MOST_TEXTS:
        choices = [each if len(each) == 1 else (HOLE,) for each in choices]
    return product(*choices)


def _echo(command: Command, stdin: Word | None) -> Sequence[str]:
    del stdin
    return [echoed(each) for each in _choices(command.words[1:])]


def _printf(command: Command, stdin: Word | None) -> Sequence[str]:
    del stdin
    found = (printed(each) for each in _choices(command.words[1:]))
    return [each for each in found if each is not None]


def _cat(command: Command, stdin: Word | None) -> Sequence[str] | None:
    files = [word for word in command.words[1:] if not (word.value or "").startswith("-")]
    files += [word for word in command.words[1:] if word.value == "-"]
    if stdin is None:
        return None
    if not files:
        return stdin.templates
    if any(word.value in {"-", "/dev/stdin"} for word in files):
        others = any(word.value not in {"-", "/dev/stdin"} for word in files)
        return [f"{HOLE}{each}{HOLE}" if others else each for each in stdin.templates]
    return None


def _find(command: Command, stdin: Word | None) -> Sequence[str] | None:
    del stdin
    paths = found_paths(command.words[1:])
    return None if paths is None else [paths]


def _filtered(name: str, command: Command, stdin: Word | None) -> Sequence[str] | None:
    if stdin is None:
        return None
    from nacre.syntax.output.filters import FILTERS

    run = FILTERS.get(name)
    if run is None:
        return None
    arguments = [word.templates[0] for word in command.words[1:]]
    return [each for text in stdin.templates for each in run(arguments, text)]


def _pwd(command: Command, stdin: Word | None) -> Sequence[str]:
    del stdin
    return [f"{command.cwd}\n"]


def _same_path(command: Command, stdin: Word | None) -> Sequence[str] | None:
    """Programs that print the path they are given, perhaps made absolute."""
    del stdin
    paths = [word for word in command.words[1:] if word.templates[0][:1] != "-"]
    return [f"{each}\n" for each in paths[0].templates] if paths else None


def _which(command: Command, stdin: Word | None) -> Sequence[str] | None:
    """Where a program is: somewhere, under its name."""
    del stdin
    names = [word.value for word in command.words[1:] if word.value and word.value[0] != "-"]
    return [f"{HOLE}/{name}\n" for name in names] or None


def _command(command: Command, stdin: Word | None) -> Sequence[str] | None:
    first = command.words[1].value if len(command.words) > 1 else None
    return _which(command, stdin) if first in {"-v", "-pv", "-vp"} else None


def _type(command: Command, stdin: Word | None) -> Sequence[str] | None:
    options = {word.value for word in command.words[1:]}
    return _which(command, stdin) if options & {"-p", "-P"} else None


def _basename(command: Command, stdin: Word | None) -> Sequence[str]:
    del stdin
    paths = (each for word in command.words[1:2] for each in word.templates)
    return [f"{path.rstrip('/').rpartition('/')[2]}\n" for path in paths]


def _dirname(command: Command, stdin: Word | None) -> Sequence[str]:
    del stdin
    paths = (each for word in command.words[1:2] for each in word.templates)
    return [f"{_folder(path)}\n" for path in paths]


def _folder(path: str) -> str:
    before, slash, _ = path.rstrip("/").rpartition("/")
    if slash:
        return before or "/"
    return HOLE if not known(path) else "."


def _mktemp(command: Command, stdin: Word | None) -> Sequence[str]:
    del command, stdin
    return [f"{SET}\n"]


def _yes(command: Command, stdin: Word | None) -> Sequence[str]:
    del stdin
    return [f"{each}\n" for each in joined(command.words[1:])] if command.words[1:] else ["y\n"]


_PRINTERS: Mapping[str, Printer] = {
    "echo": _echo,
    "printf": _printf,
    "cat": _cat,
    "find": _find,
    "pwd": _pwd,
    "realpath": _same_path,
    "readlink": _same_path,
    "which": _which,
    "command": _command,
    "type": _type,
    "basename": _basename,
    "dirname": _dirname,
    "mktemp": _mktemp,
    "yes": _yes,
}
