"""The pack `dangerous`: what can end a machine in one line."""

from collections.abc import Iterator
from itertools import islice

from nacre.model.expression import expression
from nacre.policy.guards.footguns import makes_filesystem, only_asks
from nacre.policy.guards.guard import Guard, Hit
from nacre.policy.guards.removal import removes
from nacre.policy.guards.stakes import Stake, stakes
from nacre.policy.reading.flags import Arguments, Grammar, arguments
from nacre.policy.reading.paths import located
from nacre.syntax.script import Command, Place, Script, Via, ViaKind
from nacre.syntax.tree import Span
from nacre.syntax.word import MARKS, Word

__all__ = ("DANGEROUS",)

_ROOT = frozenset({Stake.ROOT})
_BLOCK_DEVICE = expression(
    rf"/dev/(?:[shv]d[a-zA-Z{MARKS}]|xvd[a-z{MARKS}]|(?:nvme|mmcblk|r?disk|md)[\d{MARKS}]"
    r"|dm-|disk/by-|mapper/(?!control))"
)
_PLAIN = Grammar()
_CP = Grammar(long=frozenset({"suffix"}), valued=frozenset({"S", "suffix"}))
_DEVICE_WRITERS = frozenset({"blkdiscard", "cp", "dd", "mkswap", "shred", "tee", "wipefs"})
_MODULE_TOOLS = frozenset({"insmod", "modprobe", "rmmod"})
_MODULE_LOOKUPS = frozenset(
    {"n", "D", "c", "R", "dry-run", "show", "show-depends", "showconfig", "resolve-alias"}
)
_FOR_EVERYONE = expression(r"[0-7]?0?777|(?:a|ugo)?[+=]rwx")
_BOMB = expression(
    r"(?:^|[\s;&|({])([\w:.!?@%+-]{1,40})[ \t]*\(\s*\)\s*\{\s*\1\s*\|\s*\1\s*&\s*;?\s*\}"
)


def _deletes_root(command: Command, script: Script) -> Hit | None:
    word = removes(command, script, _ROOT)
    return Hit(command.span, word.source) if word else None


def _writes_device(command: Command, script: Script) -> Hit | None:
    del script
    for word, prefix in _written(command):
        for template in word.templates:
            path = located(template.removeprefix(prefix), command.cwd)
            if template.startswith(prefix) and _BLOCK_DEVICE.match(path):
                return Hit(command.span, word.source)
    return None


def _written(command: Command) -> Iterator[tuple[Word, str]]:
    """The words that name what a program writes to, each with what stands before the path."""
    words = command.words[1:]
    for name in command.names:
        if name == "dd":
            yield from ((word, "of=") for word in words)
        elif name == "cp":
            yield from ((word, "") for word in arguments(words, _CP).operands[1:])
        elif name != "wipefs" or _wipes(arguments(words, _PLAIN)):
            yield from ((word, "") for word in words)


def _wipes(given: Arguments) -> bool:
    return given.has("a", "all") and not given.has("n", "no-act")


def _redirects_to_device(command: Command, script: Script) -> Hit | None:
    del script
    for redirection in command.redirections:
        target = redirection.target
        if target and redirection.writes:
            paths = (located(template, command.cwd) for template in target.templates)
            if any(_BLOCK_DEVICE.match(path) for path in paths):
                return Hit(command.span, target.source)
    return None


def _formats(command: Command, script: Script) -> Hit | None:
    if "mke2fs" in command.names and not only_asks(command):
        return Hit(command.span, "mke2fs")
    return makes_filesystem(command, script)


def _changes_kernel(command: Command, script: Script) -> Hit | None:
    del script
    if only_asks(command) or arguments(command.words[1:], _PLAIN).has(*_MODULE_LOOKUPS):
        return None
    return Hit(command.span, command.words[0].source)


def _opens_root(command: Command, script: Script) -> Hit | None:
    given = arguments(command.words[1:], _PLAIN)
    everyone = any(_FOR_EVERYONE.fullmatch(each) for word in given.operands for each in word.values)
    if not everyone and not given.has("R", "recursive"):
        return None
    for word in given.operands:
        if Stake.ROOT in stakes(word, command, script):
            return Hit(command.span, word.source)
    return None


def _bombs(command: Command, script: Script) -> Hit | None:
    if script.unreadable and command is script.commands[0]:
        return _bomb_in_text(script.text)
    if Place.BACKGROUND not in command.places or not command.via:
        return None
    for name in command.names:
        itself = Via(ViaKind.FUNCTION, name)
        if itself in command.via:
            calls = (each for each in script.commands if itself in each.via and name in each.names)
            if len(tuple(islice(calls, 2))) > 1:
                return Hit(command.span, name)
    return None


def _bomb_in_text(text: str) -> Hit | None:
    """Find the bomb in the spelling that bash cannot parse, and people know best."""
    found = _BOMB.search(text)
    return Hit(Span(found.start(1), found.end()), found[1]) if found else None


DANGEROUS = (
    Guard(
        name="rm-root",
        reason="This rm would delete every file of the machine.",
        suggestion="Write the full path of what is to be deleted.",
        find=_deletes_root,
        names=frozenset({"rm"}),
        examples=("rm -rf /", "rm -r -f /*"),
        counterexamples=("rm -rf /tmp/build", "rm -f /", "echo rm -rf /"),
    ),
    Guard(
        name="fork-bomb",
        reason="This function starts itself over and over until the machine stands still.",
        suggestion="Call a function that starts processes from a loop with an end.",
        find=_bombs,
        examples=(":(){ :|:& };:", "bomb() { bomb | bomb & }; bomb", ":(){:|:&};:"),
        counterexamples=("work() { sleep 1; }; work & work &", "echo ':(){ :|:& };:'"),
    ),
    Guard(
        name="device",
        reason="This would write to a disk past its file system, and destroy what is there.",
        suggestion="Write to a file; ask the user to write to a device.",
        find=_writes_device,
        names=_DEVICE_WRITERS,
        examples=("dd if=/dev/zero of=/dev/sda", "tee /dev/nvme0n1 < image", "shred /dev/vdb"),
        counterexamples=("dd if=/dev/sda of=disk.img", "cp /dev/sda1 copy", "tee /dev/null"),
    ),
    Guard(
        name="device-redirect",
        reason="This would write to a disk past its file system, and destroy what is there.",
        suggestion="Write to a file; ask the user to write to a device.",
        find=_redirects_to_device,
        examples=("cat image > /dev/sdb", "> /dev/mmcblk0"),
        counterexamples=("cat x > /dev/null", "cat < /dev/sda"),
    ),
    Guard(
        name="mkfs",
        reason="This would make a file system, and so delete what is there.",
        suggestion="Ask the user to format anything.",
        find=_formats,
        examples=("mkfs.ext4 /dev/sdb1", "mke2fs disk.img"),
        counterexamples=("echo mkfs", "man mkswap"),
    ),
    Guard(
        name="kernel-module",
        reason="This would change the running kernel.",
        suggestion="Use lsmod or modinfo to look; ask the user to load or remove a module.",
        find=_changes_kernel,
        names=_MODULE_TOOLS,
        examples=("modprobe kvm", "insmod ./x.ko"),
        counterexamples=("lsmod", "modprobe --show-depends kvm"),
    ),
    Guard(
        name="root-permissions",
        reason="This would change who may do what with every file of the machine.",
        suggestion="Name the files whose permissions are to change.",
        find=_opens_root,
        names=frozenset({"chgrp", "chmod", "chown"}),
        examples=("chmod 777 /", "chmod -R a+rwx /*", "chown -R me /"),
        counterexamples=("chmod 777 /tmp/x", "chmod -R 755 build", "chmod +x /"),
    ),
)
