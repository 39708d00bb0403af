"""A guard that does not mind how a command's name is spelled: `ENV`, `Cat .env`."""

from dataclasses import replace

from nacre.policy.guards.guard import Guard, Hit
from nacre.syntax.script import Command, Script

__all__ = ("in_any_case",)


def in_any_case(guard: Guard) -> Guard:
    """The same guard, asked about a command by its name in small letters."""
    names = frozenset(name.lower() for name in guard.names)

    def find(command: Command, script: Script) -> Hit | None:
        command = _small(command)
        if names and names.isdisjoint(command.names):
            return None
        return guard.find(command, script)

    return replace(guard, find=find, names=frozenset())


def _small(command: Command) -> Command:
    if all(name == name.lower() for name in command.names):
        return command
    name, *rest = command.words
    small = name._replace(templates=tuple(each.lower() for each in name.templates))
    return replace(command, words=(small, *rest))
