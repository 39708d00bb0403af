"""The pack `footguns`: programs that change who one is, or the machine itself.

`FOOTGUNS` knows a program by its name in any folder, and what comes to the same.
`DOCUMENTED_FOOTGUNS` is one document's list: bare names, whatever they are given.
`mount` is refused even where it would only list what is mounted: `findmnt` does that.
"""

import re
from collections.abc import Callable

from nacre.model.expression import expression
from nacre.policy.guards.guard import Guard, Hit
from nacre.policy.reading.flags import Grammar, arguments
from nacre.syntax.script import Command, Script

__all__ = ("DOCUMENTED_FOOTGUNS", "FOOTGUNS", "makes_filesystem", "only_asks")

_PRIVILEGE = frozenset({"su", "sudo"})
_MORE_PRIVILEGE = frozenset({"doas", "pkexec", "run0"})
_POWER = frozenset({"halt", "poweroff", "reboot", "shutdown"})
_MOUNTS = frozenset({"chroot", "mount", "umount"})
_NAMES = _PRIVILEGE | _POWER | _MOUNTS
_MKFS = expression(r"mkfs(?:\.\w+)?", re.ASCII)
_LOOKUPS = frozenset({"--help", "--version"})

_SYSTEMCTL = Grammar(
    valued=frozenset(
        {"H", "M", "n", "o", "p", "s", "t", "host", "lines", "machine", "message", "output"}
        | {"property", "root", "signal", "state", "type", "when"}
    )
)
_POWER_VERBS = frozenset({"halt", "kexec", "poweroff", "reboot", "soft-reboot"})
_POWER_TARGETS = frozenset(f"{verb}.target" for verb in (*_POWER_VERBS, "shutdown"))
_RUNLEVELS = frozenset({"0", "6"})


def only_asks(command: Command) -> bool:
    """Whether a command is only asked what it is: `sudo --version`."""
    return len(command.words) == 2 and command.words[1].value in _LOOKUPS  # noqa: PLR2004


def makes_filesystem(command: Command, script: Script) -> Hit | None:
    """Find `mkfs` and its variants by name."""
    del script
    for name in command.names:
        if name.startswith("mkfs") and _MKFS.fullmatch(name) and not only_asks(command):
            return Hit(command.span, name)
    return None


def _runs(names: frozenset[str]) -> Callable[[Command, Script], Hit | None]:
    def find(command: Command, script: Script) -> Hit | None:
        del script
        if only_asks(command):
            return None
        name = next((each for each in command.names if each in names), None)
        return Hit(command.span, name) if name else None

    return find


def _tells_systemd(command: Command, script: Script) -> Hit | None:
    del script
    for at, word in enumerate(arguments(command.words[1:], _SYSTEMCTL).operands):
        told = (_POWER_TARGETS if at else _POWER_VERBS).intersection(word.values)
        if told:
            return Hit(command.span, min(told))
        if not at and {"start", "isolate"}.isdisjoint(word.values):
            return None
    return None


def _changes_runlevel(command: Command, script: Script) -> Hit | None:
    del script
    for word in command.words[1:]:
        if not _RUNLEVELS.isdisjoint(word.values):
            return Hit(command.span, word.source)
    return None


def _on_list(command: Command, script: Script) -> Hit | None:
    del script
    for name in command.words[0].values if command.words else ():
        if name in _NAMES or (name.startswith("mkfs") and _MKFS.fullmatch(name)):
            return Hit(command.span, name)
    return None


_POWER_INSTEAD = "Leave the machine running; ask the user if it really must be restarted."

FOOTGUNS = (
    Guard(
        name="privilege",
        reason="The script would run something as another user.",
        suggestion="Run it as yourself; if it needs root, ask the user to do it.",
        find=_runs(_PRIVILEGE | _MORE_PRIVILEGE),
        names=_PRIVILEGE | _MORE_PRIVILEGE,
        examples=("sudo ls", "true && /usr/bin/sudo -n true"),
        counterexamples=("echo use sudo", "sudo --version", "command -v sudo"),
    ),
    Guard(
        name="power",
        reason="The script would stop or restart the machine.",
        suggestion=_POWER_INSTEAD,
        find=_runs(_POWER),
        names=_POWER,
        examples=("reboot", "nohup shutdown -h now &"),
        counterexamples=("npm run halt", "git log --grep=shutdown"),
    ),
    Guard(
        name="systemd",
        reason="The script would stop or restart the machine.",
        suggestion=_POWER_INSTEAD,
        find=_tells_systemd,
        names=frozenset({"loginctl", "systemctl"}),
        examples=("systemctl -i poweroff", "systemctl isolate reboot.target"),
        counterexamples=("systemctl restart nginx", "systemctl status reboot.target"),
    ),
    Guard(
        name="runlevel",
        reason="The script would stop or restart the machine.",
        suggestion=_POWER_INSTEAD,
        find=_changes_runlevel,
        names=frozenset({"init", "telinit"}),
        examples=("init 0", "telinit 6"),
        counterexamples=("git init 0", "init --help"),
    ),
    Guard(
        name="mount",
        reason="The script would change what is mounted, or where the root is.",
        suggestion="Use findmnt or /proc/mounts to look; ask the user to mount anything.",
        find=_runs(_MOUNTS),
        names=_MOUNTS,
        examples=("mount /dev/sdb1 /mnt", "chroot /tmp/jail /bin/sh"),
        counterexamples=("man mount", "docker run --mount type=bind img"),
    ),
    Guard(
        name="mkfs",
        reason="The script would make a file system, and so delete what is there.",
        suggestion="Ask the user to format anything.",
        find=makes_filesystem,
        examples=("mkfs -t ext4 /dev/sdb", "mkfs.ext4 disk.img"),
        counterexamples=("mkfs.", "man mkfs.ext4"),
    ),
)

DOCUMENTED_FOOTGUNS = (
    Guard(
        name="list",
        reason="The command is on the list of those that are refused.",
        suggestion="Do without it; if it is needed, ask the user.",
        find=_on_list,
        examples=("sudo ls", "(mkfs.ext4 /dev/sda)"),
        counterexamples=("/usr/bin/sudo ls", "echo 'sudo ls'", "mkfs."),
    ),
)
