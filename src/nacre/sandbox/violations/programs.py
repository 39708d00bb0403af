"""Programs by what their output can be taken for."""

from nacre.syntax.script import Command

__all__ = ("acts", "is_quiet", "is_text", "speaks")

_TEXT_WORDS = """
    echo printf cat head tail grep egrep fgrep rg ag sed awk gawk mawk less more jq yq sort uniq
    cut tr nl column fold fmt xxd od base64 strings zcat bat tac rev diff cmp comm wc tee paste
"""
_TEXT = frozenset(_TEXT_WORDS.split())

_QUIET_WORDS = """
    date ls stat file touch mkdir rmdir rm cp mv ln chmod chown chgrp mktemp truncate dd split
    readlink realpath basename dirname seq yes tar zip unzip gzip gunzip du df find xargs id
    whoami uname hostname env md5sum sha256sum curl wget source .
"""
_QUIET = _TEXT | frozenset(_QUIET_WORDS.split())

_SHELLS_OWN_WORDS = """
    cd test [ [[ true false : exit set export unset local declare read shift wait sleep ulimit
    kill trap type command builtin return pwd pushd popd umask shopt let eval exec
"""
_SHELLS_OWN = frozenset(_SHELLS_OWN_WORDS.split())
_IDLE = frozenset({"exit", "return", "true", "false", ":", "test", "[", "[[", "set"})

_TEXT_GIT = frozenset({"log", "show", "diff", "grep", "blame", "cat-file"})
_QUIET_GIT = _TEXT_GIT | {"status", "commit", "add", "config", "branch", "tag", "rev-parse"}


def is_text(command: Command) -> bool:
    """Whether what it prints is text, its errors about the files it is given apart."""
    if "git" in command.names:
        return _subcommand(command) in _TEXT_GIT
    return not command.words or _all_in(command, _TEXT)


def is_quiet(command: Command) -> bool:
    """Whether it starts no program that the script does not name."""
    if "git" in command.names:
        return _subcommand(command) in _QUIET_GIT
    return not command.words or _all_in(command, _QUIET | _SHELLS_OWN)


def speaks(command: Command) -> bool:
    """Whether it could print an error that starts with no program's name."""
    return not is_text(command) and not _all_in(command, _SHELLS_OWN)


def acts(command: Command) -> bool:
    """Whether it does something that could fail, other than print a text."""
    return not is_text(command) and not _all_in(command, _IDLE)


def _all_in(command: Command, names: frozenset[str]) -> bool:
    return bool(command.names) and names.issuperset(command.names)


def _subcommand(command: Command) -> str:
    plain = (word.templates[0] for word in command.words[1:])
    return next((word for word in plain if not word.startswith(("-", "/", "~", "."))), "")
