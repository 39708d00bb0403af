"""`nacre completion`: teach a shell to complete nacre's words."""

import anyio
import click
from click.shell_completion import CompletionItem, get_completion_class

from nacre.cli.jobs import state_of
from nacre.cli.state import opened_jobs
from nacre.errors import ConfigError, NacreError
from nacre.model.job import Job

__all__ = ("command", "complete_job")

_EPILOG = """\b
Examples:
  eval "$(nacre completion bash)"                              in ~/.bashrc
  eval "$(nacre completion zsh)"                               in ~/.zshrc
  nacre completion fish > ~/.config/fish/completions/nacre.fish
"""


@click.command("completion", epilog=_EPILOG)
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
@click.pass_context
def command(ctx: click.Context, *, shell: str) -> None:
    """Print the completion script for SHELL."""
    known = get_completion_class(shell)
    if known is None:
        raise ConfigError(f"there is no completion for {shell!r}")
    click.echo(known(ctx.find_root().command, {}, "nacre", "_NACRE_COMPLETE").source())


def complete_job(
    ctx: click.Context, param: click.Parameter, incomplete: str
) -> list[CompletionItem]:
    """The ids of jobs that start like this, each with its state and script."""
    del ctx, param
    try:
        found = anyio.run(_jobs)
    except NacreError:
        return []
    return [
        CompletionItem(job.id, help=f"{state_of(job.outcome)[0]}: {job.script:.40}")
        for job in found
        if job.id.startswith(incomplete)
    ]


async def _jobs() -> tuple[Job, ...]:
    with opened_jobs() as jobs:
        return await jobs.jobs(None)
