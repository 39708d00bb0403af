"""Scripts as lists of commands, for tests to compare with."""

from nacre.syntax.read import read
from nacre.syntax.script import Command
from nacre.syntax.word import shown

__all__ = ("commands", "named", "told")


def told(command: Command) -> str:
    """A command's words after expansion; a word of several values has them between bars."""
    return " ".join(
        "|".join(shown(each) or "''" for each in word.templates) for word in command.words
    )


def commands(text: str) -> list[str]:
    """The commands of a script that have words, in the order they were found."""
    return [told(command) for command in read(text).commands if command.words]


def named(text: str) -> set[str]:
    """What the commands of a script are called."""
    return {name for command in read(text).commands for name in command.names}
