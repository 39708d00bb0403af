"""`nacre doctor`: what this host can enforce, found by trying."""

import json

import anyio
import click

from nacre.cli.diagnosis.examination import Examination, examine
from nacre.cli.diagnosis.report import as_fields, as_lines
from nacre.cli.terminal import spinning
from nacre.errors import NacreError

__all__ = ("command",)

_EPILOG = """\b
Examples:
  nacre doctor
  nacre doctor --json | jq .auto
  nacre doctor --json | jq -r '.remedies[].do'
  nacre doctor --image python:3.13-slim
\b
Exit codes:
  0  a sandbox works here, and holds what it is said to hold
  1  none does, or an attack came through where it should not have
"""


@click.command("doctor", epilog=_EPILOG)
@click.option("--json", "as_json", is_flag=True, help="Print it as JSON.")
@click.option("--image", metavar="IMAGE", help="What containers are tried with.")
@click.pass_context
def command(ctx: click.Context, *, as_json: bool, image: str | None) -> None:
    """Say what this host can enforce, found by trying, and the remedy for what it cannot.

    Runs one harmless attack for each protection under each sandbox, and without any, on
    files, sockets and processes made for it. Changes nothing and leaves nothing behind.
    Each container engine that answers is tried with a container; unless an image is given,
    that is made of this host's bash, and the image is removed again.

    \b
    --json prints one object:
      auto       what sandbox=auto takes: bubblewrap, landlock or null
      backends   per sandbox, `none` included:
        works           whether scripts run under it here
        why_not         why not, or null
        enforced        per protection, the layers that enforce it, or "none";
                        what `enforced` of a result says
        probed          per protection: "held", "open" (the attack came through),
                        "unproven" (it fails without a sandbox too), "untested"
        contradictions  protections that are enforced and open
        gaps            what it does not hold: a sentence by id
      engines    per container engine that was found:
        address, product, version, rootless
        works, why_not, enforced, probed, contradictions    as for backends
      facts      the kernel, Landlock, bubblewrap, settings, user, surroundings
      remedies   what is missing, each with "missing", "why" and "do"
    """  # noqa: D301 (the mark is click's, for a block that is not to be wrapped)
    found = anyio.run(_examine, image)
    if as_json:
        click.echo(json.dumps(as_fields(found), indent=2))
    else:
        click.echo("\n".join(as_lines(found)))
    ctx.exit(0 if found.auto and not found.contradictions else 1)


async def _examine(image: str | None) -> Examination:
    async with spinning("trying"):
        # Caught inside: the spinner's task group would wrap what passes through it.
        try:
            return await examine(image)
        except (NacreError, OSError) as error:
            failure = error
    raise failure
