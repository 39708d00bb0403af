"""Variables and files that a command may set and write under any rule that covers its words."""

from collections.abc import Iterator

from nacre.model.expression import expression
from nacre.syntax.script import Command, Redirection
from nacre.syntax.word import UNKNOWN, Word, shown

__all__ = ("redirection_gap", "setting_gap", "steering_name")

# They change how output looks, or a mode that programs have anyway; none names
# a program, a library, a file or a server.
_SAFE_VARIABLES = frozenset(
    {
        "CI",
        "CLICOLOR",
        "CLICOLOR_FORCE",
        "COLORTERM",
        "COLUMNS",
        "DEBIAN_FRONTEND",
        "FORCE_COLOR",
        "LANG",
        "LINES",
        "NODE_ENV",
        "NO_COLOR",
        "PYTHONDONTWRITEBYTECODE",
        "PYTHONHASHSEED",
        "PYTHONUNBUFFERED",
        "RUST_BACKTRACE",
        "RUST_LOG",
        "TERM",
        "TZ",
    }
)
_LOCALE = expression(r"LC_[A-Z]+")

# Variables that decide which program runs, or what it runs in turn.
_STEERING = expression(
    r"PATH|IFS|ENV|BASH_\w+|SHELLOPTS|BASHOPTS|PROMPT_COMMAND|PS[0-4]|CDPATH|SHELL|HOME|\w*PAGER|"
    r"\w*EDITOR|VISUAL|BROWSER|LD_\w+|DYLD_\w+|GIT_\w+|SSH_\w+|NODE_\w+|PYTHON\w+|PERL\w+|RUBY\w+|"
    r"_?JAVA_\w+|LESS\w*|MAN\w+|\w*_COMMAND|\w*ASKPASS|npm_\w+|GO\w+|CARGO\w*|RUSTC?_\w+|GCONV_PATH|"
    r"\w*PROXY|\w*_proxy|XDG_\w+|TMPDIR|EXECIGNORE|GLOBIGNORE|INPUTRC"
)
_STREAMS = frozenset({"/dev/null", "/dev/stdin", "/dev/stdout", "/dev/stderr"})
_NETWORK = ("/dev/tcp/", "/dev/udp/")
_UNKNOWN = expression(f"[{UNKNOWN}]")


def steering_name(name: str) -> bool:
    """Whether a variable of this name decides which programs run."""
    return _STEERING.fullmatch(name) is not None


def setting_gap(command: Command) -> str:
    """What a command sets that no rule for its words covers; nothing if it is safe."""
    for name in _set(command):
        if name not in _SAFE_VARIABLES and not _LOCALE.fullmatch(name):
            return f"it sets {name}"
    return ""


def _set(command: Command) -> Iterator[str]:
    yield from (assigned.name for assigned in command.assignments)
    for word in _words(command):
        for name, operator in word.expansions:
            if operator in {"=", ":="}:
                yield name


def _words(command: Command) -> Iterator[Word]:
    yield from command.words
    for assigned in command.assignments:
        yield from assigned.words
    for redirection in command.redirections:
        yield from (each for each in (redirection.target, redirection.body) if each)


def redirection_gap(command: Command) -> str:
    """What a command writes to or reads from that no rule for its words covers."""
    for redirection in command.redirections:
        target = redirection.target
        if target is None or redirection.body is not None:
            continue
        if redirection.writes and target.value not in _STREAMS:
            return f"it writes to {shown(target.templates[0])}"
        if _could_be_network(redirection, target):
            return f"it opens {shown(target.templates[0])}"
    return ""


def _could_be_network(redirection: Redirection, target: Word) -> bool:
    if not redirection.reads:
        return False
    return any(
        known.startswith(_NETWORK) or (bool(unknown) and _could_begin(known))
        for known, *unknown in (_UNKNOWN.split(each, maxsplit=1) for each in target.templates)
    )


def _could_begin(known: str) -> bool:
    return any(each.startswith(known) for each in _NETWORK)
