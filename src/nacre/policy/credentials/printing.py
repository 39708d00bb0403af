"""The value of a variable that holds a secret, printed."""

from collections.abc import Callable, Iterator

from nacre.model.expression import expression
from nacre.policy.credentials.destinations import is_dropped, is_kept, is_taken
from nacre.policy.credentials.known_programs import TEXT_TOOLS, named
from nacre.policy.credentials.provenance import Provenance
from nacre.policy.credentials.secret_files import SecretFiles
from nacre.policy.credentials.secret_names import NamePredicate
from nacre.policy.guards.guard import Hit
from nacre.syntax.script import Command, Place, Script
from nacre.syntax.word import UNKNOWN, Word

__all__ = ("PRINTERS", "prints_indirectly", "prints_secret")

Find = Callable[[Command, Script], Hit | None]

PRINTERS = named("""
    echo printf print logger wall write yes cowsay figlet toilet banner say notify-send expr
""")
_SHOW_INPUT = TEXT_TOOLS | {"tee", "sed", "awk", "gawk", "grep", "egrep", "rg", "wall", "logger"}
_RUN_TEXT = named("bash sh dash zsh ksh eval python python3 node perl ruby php")
_MARK = expression(f"[{UNKNOWN}]")
_PRINTS = expression(r"\b(?:echo|printf?|puts?|p|console\.log|say)\b[^;|&\n]*$")
_NEAR = 200
_LISTED_NAMES = expression(r"\$\{!\w+[*@]\}")


def prints_secret(
    is_secret: NamePredicate, files: SecretFiles, *, everywhere: bool = False
) -> Find:
    """Find the printing of variables with secret names, or of others that were given their value.

    What nobody sees of it is let be, unless it is looked for `everywhere`.
    """
    provenance = Provenance(is_secret)

    def find(command: Command, script: Script) -> Hit | None:
        if not command.redirections and not any(word.expansions for word in command.words):
            return None
        for word in _printed(command):
            if not word.expansions or not word.opaque:
                continue
            for name, operator in word.expansions:
                if not operator.startswith("!") and provenance.holds_secret(name, script):
                    seen = everywhere or not _unseen(command, script, files)
                    return Hit(command.span, name) if seen else None
        return None

    return find


def _unseen(command: Command, script: Script, files: SecretFiles) -> bool:
    return is_kept(command, files) or is_dropped(command, script) or is_taken(command, script)


def prints_indirectly(is_secret: NamePredicate, *, everywhere: bool) -> Find:
    """Find `${!name}` where it could show a secret, and `${!PREFIX*}`; or wherever they are."""

    def find(command: Command, script: Script) -> Hit | None:
        for word in _expanded(command):
            for name, operator in word.expansions:
                if operator == "!" and (everywhere or _shows(word, command, is_secret)):
                    return Hit(command.span, f"${{!{name}}}")
                if operator in {"!*", "!@"}:
                    return Hit(command.span, f"${{!{name}{operator[1:]}}}")
        if Place.LOOP in command.places and (names := script.once(_listed_names)):
            for word in _printed(command):
                if word.expansions and word.opaque:
                    return Hit(command.span, names)
        return None

    return find


def _listed_names(script: Script) -> str:
    """The names of variables that a loop may have been given: `for v in ${!PREFIX*}`."""
    found = _LISTED_NAMES.search(script.text)
    return found[0] if found else ""


def _printed(command: Command) -> Iterator[Word]:
    """What a command prints of what it is given."""
    names = command.names
    if not PRINTERS.isdisjoint(names) and not _stores(command):
        yield from command.words[1:]
    elif not _RUN_TEXT.isdisjoint(names):
        for word in command.words[1:]:
            if word.expansions and any(map(_prints_unknown, word.templates)):
                yield word
    if command.redirections and not _SHOW_INPUT.isdisjoint(names):
        for each in command.redirections:
            if each.body:
                yield each.body
            elif each.operator == "<<<" and each.target:
                yield each.target


def _prints_unknown(code: str) -> bool:
    """Whether code has something unknown in what it prints."""
    return any(
        _PRINTS.search(code, max(0, found.start() - _NEAR), found.start())
        for found in _MARK.finditer(code)
    )


def _stores(command: Command) -> bool:
    """Whether it is `printf -v name`."""
    return len(command.words) > 1 and command.words[1].templates[0].startswith("-v")


def _expanded(command: Command) -> Iterator[Word]:
    for word in command.words:
        if word.expansions:
            yield word
    for assigned in command.assignments:
        yield from assigned.words
    for each in command.redirections:
        if each.body:
            yield each.body
        if each.target:
            yield each.target


def _shows(word: Word, command: Command, is_secret: NamePredicate) -> bool:
    """Whether an indirect expansion is printed, and nothing says that it is harmless."""
    if not any(word is each for each in _printed(command)):
        return False
    # Where the name is known, it is an expansion of its own.
    direct = [name for name, operator in word.expansions if not operator]
    known = [name for name, operator in word.expansions if operator == "!"]
    if len(direct) < len(known):
        return True
    return any(is_secret(name) for name in (*direct, *known))
