"""`nacre grants`: what people allowed for always, and how to take it back."""

import json

import click

from nacre.cli.terminal import complain
from nacre.config.state import state_folder
from nacre.engine.grants import GRANTS, Grants
from nacre.model.approval import Grant
from nacre.render.underline import visible

__all__ = ("command",)

_EPILOG = """\b
Examples:
  nacre grants
  nacre grants --conversation chat-1 --json
  nacre grants revoke 3f9a12c4
  nacre grants revoke --all
"""


@click.group("grants", epilog=_EPILOG, invoke_without_command=True)
@click.option("--conversation", metavar="ID", help="Only those of one conversation.")
@click.option("--json", "as_json", is_flag=True, help="Print them as JSON.")
@click.pass_context
def command(ctx: click.Context, *, conversation: str | None, as_json: bool) -> None:
    """List the rules that were added by a yes for always, oldest first.

    Each is one command to the letter. It counts for its conversation, in its folder, and held
    to the same confinement.
    """
    if ctx.invoked_subcommand is not None:
        return
    found = [
        grant
        for grant in _opened().all()
        if conversation is None or grant.scope.conversation == conversation
    ]
    if as_json:
        click.echo(json.dumps([_fields(grant) for grant in found], indent=2))
    elif not found:
        click.echo("no grants", err=True)
    for grant in () if as_json else found:
        click.echo(_line(grant))


@command.command("revoke")
@click.option("--all", "every", is_flag=True, help="Every one of them.")
@click.argument("grant_ids", metavar="ID...", nargs=-1)
@click.pass_context
def revoke(ctx: click.Context, *, every: bool, grant_ids: tuple[str, ...]) -> None:
    """Take grants back; what they allowed is asked about again, from the next call on."""
    if every == bool(grant_ids):
        raise click.UsageError("give the ids of grants, or --all; 'nacre grants' lists them")
    grants, status = _opened(), 0
    for grant_id in [each.id for each in grants.all()] if every else grant_ids:
        if grants.revoke(grant_id):
            click.echo(f"{grant_id} revoked")
        else:
            complain(f"there is no grant {grant_id!r:.60}; 'nacre grants' lists them")
            status = 1
    ctx.exit(status)


def _opened() -> Grants:
    return Grants(state_folder() / GRANTS)


def _fields(grant: Grant) -> dict[str, object]:
    return {
        "id": grant.id,
        "rule": grant.rule,
        "conversation": grant.scope.conversation,
        "folder": grant.scope.folder,
        "held": grant.scope.held,
        "at": grant.at.isoformat(),
    }


def _line(grant: Grant) -> str:
    scope = grant.scope
    where = f"conversation {scope.conversation}, in {scope.folder}, held to: {scope.held}"
    return f"{grant.id}  {grant.at:%Y-%m-%d %H:%M}  {_flat(grant.rule)}\n{' ' * 10}{_flat(where)}"


def _flat(text: str) -> str:
    return visible(text.replace("\n", "\\n"))
