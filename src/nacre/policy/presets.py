"""What each dialect refuses, and in which words.

The default dialect has every pack. Another one has what its document lists, looks
as far as it says, and leaves a script that cannot be read to bash.
"""

from collections.abc import Callable, Mapping
from functools import cache
from types import MappingProxyType
from typing import NamedTuple

from nacre.errors import ConfigError
from nacre.model.expression import expression
from nacre.model.verdict import Decision
from nacre.policy.credentials.listed_patterns import matches_whole
from nacre.policy.guards.guard import Finding
from nacre.policy.packs import load
from nacre.policy.policy import Policy
from nacre.syntax.script import Script, ViaKind

__all__ = ("preset",)

Wording = Callable[[Finding, Script], str]


_PHOENIX = {
    "hazards.git-add": "permission denied: blind git add commands (git add -A, git add .,"
    " git add --all, git add *) are not allowed, specify files explicitly",
    "hazards.git-push": "permission denied: git push --force is not allowed."
    " Use --force-with-lease for safer force pushes, or push without force",
    "hazards.rm": "permission denied: this rm command could delete critical data"
    " (.git, home directory, or root)."
    " Specify the full path explicitly (no wildcards, ~, or $HOME)",
}
_WAYLAND = (
    "Refused: {what} matches credential-exfiltration denylist. If you need an environment"
    " variable's value for legitimate reasons, ask the user to provide it directly."
)
_SEPARATOR = expression(r"[;|\n]|&&")
# A text in quotes is not a command position in that document.
_CODEGEN_THROUGH = frozenset(ViaKind) - {ViaKind.CODE, ViaKind.INTERPRETER, ViaKind.REMOTE}


def _in_codegen(finding: Finding, script: Script) -> str:
    del script
    return f'command rejected: command uses denylisted token "{finding.token}"'


def _in_phoenix(finding: Finding, script: Script) -> str:
    del script
    return _PHOENIX.get(finding.rule, f"permission denied: {finding.reason}")


def _in_wayland(finding: Finding, script: Script) -> str:
    del finding
    whole = matches_whole(script.text) or not _SEPARATOR.search(script.text)
    return _WAYLAND.format(what="command pattern" if whole else "chained subcommand")


def _in_agentrail(finding: Finding, script: Script) -> str:
    del finding, script
    return "Command matches a known-dangerous pattern"


class _Choice(NamedTuple):
    packs: tuple[str, ...] = ()
    wording: Wording | None = None
    through: frozenset[ViaKind] | None = None
    unreadable: Decision = Decision.ALLOW
    guards_first: bool = False


_CHOICES: Mapping[str, _Choice] = MappingProxyType(
    {
        "nacre": _Choice(
            ("credentials", "dangerous", "footguns", "hazards"), unreadable=Decision.ASK
        ),
        "codegen": _Choice(("footguns:documented",), _in_codegen, _CODEGEN_THROUGH),
        "phoenix": _Choice(("hazards:documented",), _in_phoenix),
        "wayland": _Choice(("credentials:documented",), _in_wayland),
        "agentrail": _Choice(("dangerous",), _in_agentrail, guards_first=True),
        # Its variant in a container, which is the isolation there.
        "agentrail contained": _Choice(wording=_in_agentrail, guards_first=True),
        "yoi": _Choice(),
    }
)


@cache
def preset(dialect: str, *, contained: bool = False) -> Policy:
    """The guards of a dialect, for scripts in a container if it has others there; no rules yet.

    Raises:
        ConfigError: If there is no such dialect.
    """
    choice = (contained and _CHOICES.get(f"{dialect} contained")) or _CHOICES.get(dialect)
    if choice is None:
        raise ConfigError(f"There is no dialect {dialect!r}; there are: {', '.join(_CHOICES)}.")
    return Policy(
        packs=tuple(load(name) for name in choice.packs),
        through=choice.through,
        unreadable=choice.unreadable,
        wording=choice.wording,
        guards_first=choice.guards_first,
    )
