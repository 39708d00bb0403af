"""What an attack is, as the data files beside this one tell it."""

import os
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import cast

__all__ = ("BACKENDS", "CONTAINER", "END", "SANDBOXES", "Attack", "load")

BACKENDS = ("bubblewrap", "landlock")
CONTAINER = "container"
SANDBOXES = (*BACKENDS, CONTAINER)
# What is looked for is an id with this at its end, so that none begins another.
END = f"_{os.getuid()}_"
_SECONDS = 6.0
_FOLDER = Path(__file__).parent
# A filter answers EPERM, or ENOSYS where a library has something to fall back on.
_ANY = "grep -qvE ' (EPERM|ENOSYS)$' @LOOT@"
_EVERY = "test -s @LOOT@ && ! grep -qE ' (EPERM|ENOSYS)$' @LOOT@"


@dataclass(frozen=True, slots=True, kw_only=True)
class Attack:
    """One attempt, and how the host sees whether it went through.

    The attempt is a script for bash, a program for `python` with the words of `volley`,
    or `probes`: system calls with arguments that the kernel itself would answer
    with another error than a filter does. It went through if the predicate `breach`
    exits with 0 on the host, if a process whose command line holds `survivor`
    outlives the call, or if `parent_lost` and the process that started the script
    was ended. `first` is a script that is run before it, confined like it.

    Plain bash runs it with all that its user may do, root too: an attempt touches
    nothing but its own world, no process, setting or terminal of anybody else.
    The same attempt, or `control`, must go through when plain bash runs it;
    `needs` and `excuse` say for whom and where it does not, `no_control` why it
    is not tried; `every` asks that no probe fails. `not_held` gives a sentence per
    sandbox that does not stop it, `refused` what a sandbox says that runs nothing.

    In a container, `up_to_engine` says why one engine holds what another does not,
    and `not_in_containers` why there is nothing to try.
    """

    id: str
    threat: str
    why: str
    attempt: str = ""
    python: str = ""
    first: str = ""
    probes: tuple[tuple[object, ...], ...] = ()
    every: bool = False
    breach: str = ""
    survivor: str = ""
    parent_lost: bool = False
    setup: str = ""
    during: str = ""
    cleanup: str = ""
    control: str = ""
    no_control: str = ""
    needs: str = ""
    excuse: str = ""
    not_held: Mapping[str, str] = field(default_factory=dict[str, str])
    refused: Mapping[str, str] = field(default_factory=dict[str, str])
    up_to_engine: str = ""
    not_in_containers: str = ""
    fresh: bool = False
    protect: tuple[str, ...] = ()
    cwd: str = "@WS@"
    stdin: str = "/dev/null"
    terminal: bool = False
    command_line: bool = False
    heavy: bool = False
    seconds: float = _SECONDS
    category: str

    def __post_init__(self) -> None:
        """Refuse data that would test nothing.

        Raises:
            ValueError: If there is not one attempt, or not one way to see a breach.
        """
        if sum(map(bool, (self.attempt, self.python, self.probes))) != 1:
            raise ValueError(f"{self.id}: one of attempt, python and probes")
        if sum(map(bool, (self.breach, self.survivor, self.parent_lost))) + bool(self.probes) != 1:
            raise ValueError(f"{self.id}: one of breach, survivor and parent_lost")
        if not {*self.not_held, *self.refused} <= set(SANDBOXES):
            raise ValueError(f"{self.id}: a sandbox that there is not")

    @property
    def together(self) -> bool:
        """Whether it minds no other attempt beside it, of the same parent."""
        special = (
            self.first,
            self.during,
            self.survivor,
            self.parent_lost,
            self.fresh,
            self.terminal,
            self.command_line,
            self.heavy,
        )
        return (
            not any(special)
            and self.seconds == _SECONDS
            and (self.cwd, self.stdin) == ("@WS@", "/dev/null")
            and not any(word in f"{self.script}{self.control}" for word in ("PPID", "PARENT"))
        )

    @property
    def script(self) -> str:
        """The attempt, as it is run."""
        probes = "".join(f"answer{probe!r}\n" for probe in self.probes)
        return probes or self.attempt or self.python

    @property
    def predicate(self) -> str:
        """What is asked of the host, for bash."""
        return _ANY if self.probes else self.breach

    @property
    def control_predicate(self) -> str:
        """What is asked after plain bash ran it."""
        return _EVERY if self.every else self.predicate


def load() -> tuple[Attack, ...]:
    """Every attack of every category.

    Raises:
        ValueError: If two have one id, or one that could be taken for another's.
    """
    found: dict[str, Attack] = {}
    for path in sorted(_FOLDER.glob("*.toml")):
        data = tomllib.loads(path.read_text("utf-8"))
        for entry in cast("list[dict[str, object]]", data["attack"]):
            attack = _attack(entry, path.stem)
            if attack.id in found:
                raise ValueError(f"{attack.id} is there twice")
            found[attack.id] = attack
    names = [f"{name}{END}" for name in found]
    for name in names:
        if any(name in other for other in names if other != name):
            raise ValueError(f"{name} is part of another")
    return tuple(found.values())


def _attack(entry: dict[str, object], category: str) -> Attack:
    probes = cast("list[list[object]]", entry.get("probes", []))
    protect = cast("list[str]", entry.get("protect", []))
    lists = {"probes": tuple(map(tuple, probes)), "protect": tuple(protect)}
    given = cast("dict[str, str]", {**entry, **lists, "category": category})
    return Attack(**given)  # pyright: ignore[reportArgumentType]
