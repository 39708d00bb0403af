"""`nacre conformance`: the dialects against their documents, requirement by requirement."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict

import click

from nacre.dialects.requirements import DOCUMENTED, Requirement, requirements

__all__ = ("command", "table")

_EPILOG = """\b
Examples:
  nacre conformance
  nacre conformance yoi
  nacre conformance --json | jq '.[] | select(.differs != "") | .id'
"""


@click.command("conformance", epilog=_EPILOG)
@click.option("--json", "as_json", is_flag=True, help="Print the entries as JSON.")
@click.argument("dialects", metavar="[DIALECT]...", nargs=-1, type=click.Choice(DOCUMENTED))
def command(*, as_json: bool, dialects: tuple[str, ...]) -> None:
    """Print what each document requires, whether that holds, and which test shows it."""
    entries = [entry for name in dialects or DOCUMENTED for entry in requirements(name)]
    if as_json:
        click.echo(json.dumps([asdict(entry) for entry in entries], indent=2))
        return
    for line in table(entries):
        click.echo(line)


def table(entries: Sequence[Requirement]) -> Iterator[str]:
    """The entries as lines of columns, and a last line that counts them."""
    width = max((len(entry.id) for entry in entries), default=0)
    for entry in entries:
        verdict = "differs" if entry.differs else "holds"
        yield f"{entry.id:{width}}  {verdict:7}  {entry.says}"
        if entry.differs:
            yield f"{'':{width}}           because: {entry.differs}"
        yield f"{'':{width}}           {entry.test}"
    differing = sum(bool(entry.differs) for entry in entries)
    yield f"{len(entries)} requirements: {len(entries) - differing} hold, {differing} differ on purpose"
