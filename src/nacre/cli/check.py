"""`nacre check`: what would be decided about a script, without running it."""

import json
import os
import sys
from pathlib import Path

import click

from nacre.cli.explain import commands_of, explained
from nacre.cli.script import given_script, script_argument
from nacre.cli.stream import Answers
from nacre.cli.terminal import write_out
from nacre.cli.verdicts import fields, told
from nacre.config.layers import gather
from nacre.config.policy import policy_for
from nacre.model.verdict import Decision
from nacre.syntax.script import Surroundings

__all__ = ("command",)

_EXIT_CODES = {Decision.ALLOW: 0, Decision.DENY: 1, Decision.ASK: 3}
_EPILOG = """\b
Examples:
  nacre check 'git add -A && git commit -m wip'
  nacre check --dialect codegen 'sudo make install'
  nacre check --rules agentrail.yaml --json 'npm test'
  nacre check --explain - < build.sh
  echo '{"id": 1, "script": "ls"}' | nacre check --jsonl
\b
Exit codes:
  0  allow
  1  deny
  2  it could not be checked
  3  ask
"""


@click.command("check", epilog=_EPILOG)
@click.option("--dialect", metavar="NAME", help="Whose guards hold; nacre by default.")
@click.option("--cwd", metavar="DIR", help="Where it would start; the workspace by default.")
@click.option("--workspace", metavar="DIR", help="Whose rules hold; this folder by default.")
@click.option("--rules", multiple=True, metavar="FILE", help="One more layer of rules.")
@click.option("--json", "as_json", is_flag=True, help="Print the verdict as JSON.")
@click.option("--jsonl", is_flag=True, help="Answer scripts from standard input, one a line.")
@click.option("--explain", is_flag=True, help="Show the commands that were found in it.")
@script_argument
@click.pass_context
def command(  # noqa: PLR0913
    ctx: click.Context,
    *,
    dialect: str | None,
    cwd: str | None,
    workspace: str | None,
    rules: tuple[str, ...],
    as_json: bool,
    jsonl: bool,
    explain: bool,
    script: tuple[str, ...],
) -> None:
    """Say whether SCRIPT may run, because of which part, and what to do instead.

    Nothing is run. Several words are one command and its arguments; `-` is
    standard input. With --jsonl each line is an object with a script, and
    perhaps an id, dialect, cwd and rules.
    """
    folder = Path(workspace or ".").absolute()
    config = gather(folder, {"dialect": dialect}, rules)
    surroundings = Surroundings(
        cwd=os.path.abspath(cwd) if cwd else str(folder), home=os.environ.get("HOME")
    )
    if jsonl:
        if script:
            raise click.UsageError("--jsonl takes scripts from standard input only.", ctx)
        answers = Answers(config.dialect, config.layers, surroundings)
        for line in sys.stdin.buffer:
            write_out(answers.to(line))
        return
    from nacre.syntax.read import read

    found = read(given_script(script), surroundings)
    verdict = policy_for(config.dialect, config.layers).check(found)
    if as_json:
        commands = {"commands": commands_of(found)} if explain else {}
        click.echo(json.dumps(fields(verdict) | commands, indent=2))
    else:
        for line in (*(explained(found) if explain else ()), *told(verdict, found.text)):
            click.echo(line)
    ctx.exit(_EXIT_CODES[verdict.decision])
