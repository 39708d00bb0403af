"""Ways to write a word of bash so that it is hard to read and means the same."""

import random
from collections.abc import Callable

__all__ = ("NAMES", "disguised", "escaped_in_backticks", "escaped_in_body", "quoted")

NAMES = [
    "rm",
    "git",
    "sudo",
    "reboot",
    "shutdown",
    "chroot",
    "mount",
    "umount",
    "dd",
    "curl",
    "wget",
    "chmod",
    "chown",
    "shred",
    "systemctl",
    "modprobe",
    "docker",
    "crontab",
    "pkill",
    "poweroff",
    "halt",
    "insmod",
    "kubectl",
    "rsync",
    "scp",
    "nc",
    "mkfs.ext4",
    "truncate",
    "unlink",
    "npm",
    "su",
    "telnet",
    "rmmod",
    "useradd",
    "wipefs",
    "passwd",
    "apt-get",
    "fdisk",
    "ssh",
]


def _hex(name: str, chance: random.Random) -> str:
    forms: tuple[Callable[[str], str], ...] = (
        lambda char: f"\\x{ord(char):02x}",
        lambda char: f"\\{ord(char):03o}",
        lambda char: f"\\u{ord(char):04x}",
        lambda char: char,
    )
    return "$'" + "".join(chance.choice(forms)(char) for char in name) + "'"


def _escaped(name: str, chance: random.Random) -> str:
    at = chance.randrange(len(name))
    return f"{name[:at]}\\{name[at:]}"


def disguised(name: str, chance: random.Random) -> str:
    """A word that is surely this name, and is not always written so."""
    if chance.random() < 0.5:
        return name
    at = chance.randrange(1, len(name))
    head, tail = name[:at], name[at:]
    return chance.choice(
        (
            f"'{name}'",
            f'"{name}"',
            f"{head}''{tail}",
            f'{head}""{tail}',
            f"'{head}'{tail}",
            f'{head}"{tail}"',
            f"'{head}'\"{tail}\"",
            f"\\{name}",
            _escaped(name, chance),
            _hex(name, chance),
            _hex(head, chance) + tail,
            f'$"{name}"',
            f"{head}\\\n{tail}",
            f'"{head}\\\n{tail}"',
            f"/bin/{name}",
            f"/usr/bin/{name}",
            f"//bin/{name}",
            f"/bin/../bin/{name}",
            f'/usr/bin/"{name}"',
            f"{head}$'{tail}'",
        )
    )


def quoted(text: str, chance: random.Random) -> str:
    """One word that is exactly this text."""
    single = "'" + text.replace("'", "'\\''") + "'"
    double = '"' + "".join("\\" + char if char in '\\"$`' else char for char in text) + '"'
    dollar = "$'" + text.replace("\\", "\\\\").replace("'", "\\'").replace("\n", "\\n") + "'"
    backslashes = "".join(
        char if char.isalnum() or char in "/-_.\u00e9" else "\\" + char for char in text
    )
    choices = [single, single, double, double, dollar]
    if "\n" not in text:
        choices.append(backslashes)
    if len(text) > 1:
        at = chance.randrange(1, len(text))
        choices.append(quoted(text[:at], chance) + quoted(text[at:], chance))
    return chance.choice(choices)


def escaped_in_backticks(text: str) -> str:
    """A text as it stands between backticks."""
    return text.replace("\\", "\\\\").replace("`", "\\`")


def escaped_in_body(text: str) -> str:
    """A text as it stands in a here-document whose delimiter is not quoted."""
    return text.replace("\\", "\\\\").replace("$", "\\$").replace("`", "\\`")
