"""Commands that print the environment, or the variables of the shell."""

import re

from nacre.model.expression import expression
from nacre.policy.credentials.destinations import is_dropped
from nacre.policy.credentials.secret_names import secret_name
from nacre.policy.guards.guard import Hit
from nacre.syntax.script import Command, Script

__all__ = (
    "any_environment_tool",
    "bare_set",
    "dumps_environment",
    "expands_drive",
    "lists_drive",
    "lists_names",
    "lists_processes",
    "lists_variables",
)

_DRIVE = expression(r"\$env:[a-z_]\w*", re.IGNORECASE)
_ASSIGNMENT = expression(r"[A-Za-z_]\w*=")
_ENV_VALUED = frozenset(["-u", "--unset", "-C", "--chdir", "-P", "-a", "--argv0"])
_LOOKUPS = frozenset({"--help", "--version"})
_BSD_OPTIONS = expression(r"[A-Za-z]+")
_PS_VALUED = frozenset("CGOUopqstugk")
_PS_VALUED_LONG = frozenset(
    {"--user", "--User", "--group", "--Group", "--pid", "--ppid", "--sid", "--sort", "--format"}
    | {"--tty", "--quick-pid", "--cols", "--columns", "--width", "--lines", "--rows"}
)


def _texts(command: Command) -> list[str]:
    return [word.templates[0] for word in command.words[1:]]


def dumps_environment(command: Command, script: Script) -> Hit | None:
    """Find `env` without a program, and `printenv` of everything or of a secret."""
    texts = _texts(command)
    if not _LOOKUPS.isdisjoint(texts) or is_dropped(command, script):
        return None
    if "env" in command.names and not _env_runs(texts):
        return Hit(command.span, "env")
    if "printenv" in command.names:
        named = [text for text in texts if not text.startswith("-")]
        if not named:
            return Hit(command.span, "printenv")
        for name in named:
            if secret_name(name):
                return Hit(command.span, name)
    return None


def _env_runs(texts: list[str]) -> bool:
    """Whether it runs a program, or has nothing to print but what it is given."""
    words = iter(texts)
    for text in words:
        if text in {"-i", "-", "--ignore-environment", "-S", "--split-string"}:
            return True
        if text in _ENV_VALUED:
            next(words, None)
        elif text.startswith(("-S", "--split-string=")) or not (
            text.startswith("-") or _ASSIGNMENT.match(text)
        ):
            return True
    return False


def any_environment_tool(command: Command, script: Script) -> Hit | None:
    """Find every `env` and `printenv`, whatever it is given, unless a path makes it a launcher."""
    written = command.words[0].templates[0]
    if "/" in written:
        return dumps_environment(command, script)
    return Hit(command.span, written)


def bare_set(command: Command, script: Script) -> Hit | None:
    """Find `set` without arguments, wherever what it prints goes."""
    del script
    return Hit(command.span, "set") if len(command.words) == 1 else None


def lists_variables(command: Command, script: Script) -> Hit | None:
    """Find `set`, `export`, `declare` and their like where they print instead of setting."""
    name = command.names[0]
    texts = _texts(command)
    if is_dropped(command, script):
        return None
    if command.assignments and command.words[0].span.start == command.span.start:
        # `declare a=(b)`: what it assigns is no word.
        return None
    operands = [text for text in texts if text[:1] not in {"-", "+"}]
    if name == "set":
        return None if texts else Hit(command.span, name)
    letters = "".join(text[1:] for text in texts if text.startswith("-"))
    if not operands:
        # Functions and arrays are no environment.
        return None if set(letters) & set("fFaA") else Hit(command.span, name)
    if "p" in letters:
        for operand in operands:
            if secret_name(operand):
                return Hit(command.span, operand)
    return None


def lists_names(command: Command, script: Script) -> Hit | None:
    """Find `compgen -e`, `compgen -v` and their long forms."""
    del script
    texts = _texts(command)
    for text, following in zip(texts, (*texts[1:], ""), strict=False):
        if re.fullmatch(r"-[a-zA-Z]*[ev]", text):
            return Hit(command.span, text)
        if text == "-A" and following in {"export", "variable"}:
            return Hit(command.span, following)
    return None


def lists_processes(command: Command, script: Script) -> Hit | None:
    """Find `ps` with the option that shows each process's environment: `e` without a dash."""
    del script
    skip = False
    for word in command.words[1:]:
        text = word.templates[0]
        if skip:
            skip = False
        elif text.startswith("-"):
            skip = text in _PS_VALUED_LONG or (not text.startswith("--") and text[-1] in _PS_VALUED)
        elif _BSD_OPTIONS.fullmatch(text):
            if "e" in text:
                return Hit(command.span, text)
            skip = text[-1] in _PS_VALUED
    return None


def lists_drive(command: Command, script: Script) -> Hit | None:
    """Find the environment read as PowerShell's drive: `Get-ChildItem env:`."""
    del script
    for word in command.words[1:]:
        if word.templates[0].lower().startswith("env:"):
            return Hit(command.span, word.templates[0])
    return None


def expands_drive(command: Command, script: Script) -> Hit | None:
    """Find PowerShell's `$env:NAME` in a word of a command."""
    del script
    for word in command.words:
        if found := _DRIVE.search(word.source):
            return Hit(command.span, found[0])
    return None
