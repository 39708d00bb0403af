"""The options that say where scripts run and what holds them: the same for every command.

Help is shown without the tool being imported.
"""

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, TypedDict, TypeVar, Unpack

import click

if TYPE_CHECKING:
    from nacre.tool import Bash, ToolContext

__all__ = ("Context", "context_options", "opened_tool", "rules_option", "tool_context")

_F = TypeVar("_F", bound=Callable[..., object])

rules_option = click.option(
    "--rules", multiple=True, metavar="FILE", help="One more layer of rules."
)
_OPTIONS = (
    click.option("--workspace", metavar="DIR", help="The agent's folder; this one by default."),
    click.option("--cwd", metavar="DIR", help="Where scripts start; the workspace by default."),
    click.option("--sandbox", metavar="NAME", help="auto, bubblewrap, landlock, container, none."),
    click.option("--confinement", metavar="NAME", help="To what: read-only, workspace, open."),
    click.option("--network", metavar="NAME", help="deny or inherit."),
    click.option("--write", multiple=True, metavar="DIR", help="One more folder to write."),
    click.option("--deny-read", multiple=True, metavar="PATH", help="What may not be read."),
    click.option("--protect", multiple=True, metavar="PATH", help="What must stay as it is."),
    click.option("--limit", multiple=True, metavar="NAME=N", help="memory, processes..."),
    click.option("--pass-env", multiple=True, metavar="NAME", help="Pass one more variable."),
    click.option("--image", metavar="IMAGE", help="What a container is made of."),
    click.option("--container", metavar="NAME", help="A container that runs, to be used as it is."),
    click.option(
        "--idle-timeout", type=float, metavar="SECONDS", help="When an unused container ends."
    ),
    click.option("--output-dir", metavar="DIR", help="Where output too long to show is kept."),
    click.option("--conversation", metavar="ID", help="Whose jobs they are."),
)


class Context(TypedDict):
    """What these options were given as."""

    workspace: str | None
    cwd: str | None
    sandbox: str | None
    confinement: str | None
    network: str | None
    write: tuple[str, ...]
    deny_read: tuple[str, ...]
    protect: tuple[str, ...]
    limit: tuple[str, ...]
    pass_env: tuple[str, ...]
    image: str | None
    container: str | None
    idle_timeout: float | None
    output_dir: str | None
    conversation: str | None


def context_options(command: _F) -> _F:
    """Give a command these options."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


class _More(TypedDict, total=False):
    timeout: float
    on_timeout: str
    jobs: str


def opened_tool(
    dialect: str | None, context: Context, rules: tuple[str, ...] = (), **more: Unpack[_More]
) -> "Bash":
    """A tool as the options say."""
    from nacre.tool import Bash

    output = context["output_dir"]
    return Bash(
        dialect=dialect,
        workspace=context["workspace"] or ".",
        sandbox=context["sandbox"],
        confinement=context["confinement"],
        network=context["network"],
        image=context["image"],
        container=context["container"],
        idle_timeout=context["idle_timeout"],
        write=_absolute(context["write"]),
        deny_read=_absolute(context["deny_read"]),
        protect=_absolute(context["protect"]),
        limits=context["limit"],
        rules=rules,
        pass_env=context["pass_env"],
        output_dir=_absolute([output])[0] if output else None,
        **more,
    )


def tool_context(context: Context) -> "ToolContext":
    """The context of a call, which can be cancelled."""
    from nacre.process.cancel import CancelToken
    from nacre.tool import ToolContext

    cwd = context["cwd"]
    return ToolContext(
        working_dir=os.path.abspath(cwd) if cwd else ".",
        cancel=CancelToken(),
        conversation=context["conversation"],
    )


def _absolute(paths: Sequence[str]) -> list[Path]:
    """Paths as a person means them: from here."""
    return [Path(path).expanduser().absolute() for path in paths]
