"""`nacre run`: one script, its output as it comes, its exit code."""

import json
import math
import os
import shlex
from functools import partial
from pathlib import Path

import anyio
import click

from nacre.cli.terminal import complain, leave_stdout, spinning, write_out
from nacre.cli.underline import visible
from nacre.config.layers import gather
from nacre.model.reply import Reply
from nacre.process.cancel import CancelToken
from nacre.tool import Bash, ToolContext

__all__ = ("command",)

_TIMED_OUT, _OWN_ERROR, _DENIED, _SIGNALED, _BROKEN_PIPE = 124, 125, 126, 128, 141
_REMARKS = ("[note: ", "[sandbox: ")
_MOST_REMARKS = 20
_EPILOG = """\b
Examples:
  nacre run -- make test
  nacre run --timeout 60 -- 'cd web && npm test'
  nacre run --background -- python -m http.server
  nacre run --json -- 'ls | wc -l'
\b
Exit codes:
  the script's own; 128+N if signal N ended it
  124  the timeout ended it
  125  nacre itself failed, or bash could not be started
  126  the script was denied
"""


@click.command("run", epilog=_EPILOG)
@click.option("--dialect", metavar="NAME", help="The tool interface to speak; nacre by default.")
@click.option("--timeout", type=float, metavar="SECONDS", help="End it then; no limit by default.")
@click.option("--background", is_flag=True, help="Start a job that outlives this command.")
@click.option("--json", "as_json", is_flag=True, help="Print text, is_error and details as JSON.")
@click.option("--workspace", metavar="DIR", help="The agent's folder; this one by default.")
@click.option("--cwd", metavar="DIR", help="Where the script starts; the workspace by default.")
@click.option("--sandbox", metavar="NAME", help="What holds it: auto, bubblewrap, landlock, none.")
@click.option("--confinement", metavar="NAME", help="To what: read-only, workspace, open.")
@click.option("--network", metavar="NAME", help="deny or inherit.")
@click.option("--write", multiple=True, metavar="DIR", help="One more folder it may write.")
@click.option("--deny-read", multiple=True, metavar="PATH", help="What it may not read.")
@click.option("--protect", multiple=True, metavar="PATH", help="What must stay as it is.")
@click.option("--limit", multiple=True, metavar="NAME=N", help="memory, processes, file_bytes...")
@click.option("--rules", multiple=True, metavar="FILE", help="One more layer of rules.")
@click.option("--pass-env", multiple=True, metavar="NAME", help="Pass one more variable.")
@click.option("--conversation", metavar="ID", help="Whose job it is.")
@click.argument("script", nargs=-1, required=True, type=click.UNPROCESSED)
@click.pass_context
def command(  # noqa: PLR0913
    ctx: click.Context,
    *,
    dialect: str | None,
    timeout: float | None,
    background: bool,
    as_json: bool,
    workspace: str | None,
    cwd: str | None,
    sandbox: str | None,
    confinement: str | None,
    network: str | None,
    write: tuple[str, ...],
    deny_read: tuple[str, ...],
    protect: tuple[str, ...],
    limit: tuple[str, ...],
    rules: tuple[str, ...],
    pass_env: tuple[str, ...],
    conversation: str | None,
    script: tuple[str, ...],
) -> None:
    """Run SCRIPT with bash and print what it says, as it says it.

    Several words are one command and its arguments; one word is a whole script.
    Standard output and error come in their real order, on standard output.
    """
    arguments: dict[str, object] = {
        "command": script[0] if len(script) == 1 else shlex.join(script),
        "background": background,
    }
    tool = Bash(
        dialect=dialect,
        workspace=workspace or ".",
        sandbox=sandbox,
        confinement=confinement,
        network=network,
        write=_absolute(write),
        deny_read=_absolute(deny_read),
        protect=_absolute(protect),
        limits=limit,
        rules=rules,
        on_timeout="kill",
        timeout=_seconds(timeout, workspace),
        pass_env=pass_env,
        jobs="detached" if background or as_json else "owned",
    )
    context = ToolContext(
        working_dir=os.path.abspath(cwd) if cwd else ".",
        cancel=CancelToken(),
        conversation=conversation,
    )
    with tool:
        reply = anyio.run(partial(_call, tool, arguments, context, quiet=as_json or background))
    if as_json:
        shown = {"text": reply.text, "is_error": reply.is_error, "details": reply.details}
        click.echo(json.dumps(shown, indent=2))
    ctx.exit(_status(reply, quiet=as_json))


def _absolute(paths: tuple[str, ...]) -> list[Path]:
    """Paths as a person means them: from here."""
    return [Path(path).expanduser().absolute() for path in paths]


def _seconds(given: float | None, workspace: str | None) -> float:
    """The timeout: unlike an agent, a person who names none anywhere has time."""
    if given is not None:
        return given
    return gather(Path(workspace or ".").absolute()).number("timeout") or math.inf


async def _call(
    tool: Bash, arguments: dict[str, object], context: ToolContext, *, quiet: bool
) -> Reply:
    failures: list[OSError] = []
    async with spinning("running") as spinner:

        def show(data: bytes) -> None:
            spinner.hide()
            try:
                write_out(data)
            except OSError as error:
                leave_stdout()
                failures.append(error)
                if context.cancel:
                    context.cancel.cancel()

        reply = await tool.call("Bash", arguments, context, on_output=None if quiet else show)
    if failures and not isinstance(failures[0], BrokenPipeError):
        raise failures[0]
    return reply


def _remark(text: str) -> None:
    """Say what nacre noticed beside the output, which a person has seen by now."""
    for line in text.splitlines()[-_MOST_REMARKS:]:
        if line.startswith(_REMARKS):
            complain(visible(line.strip("[]")))


def _status(reply: Reply, *, quiet: bool) -> int:
    """Turn a reply into an exit code, and say what the output does not."""
    details = reply.details or {}
    lines = [line.strip("[]") for line in reply.text.splitlines()]
    last = lines[-1:]
    if not quiet:
        _remark(reply.text)
    match details:
        case {"outcome": "exited", "exit_code": int(code)}:
            return code
        case {"outcome": "signaled", "signal": int(number)}:
            status = _SIGNALED + number
        case {"outcome": "running", "id": str(job_id)}:
            if not quiet:
                click.echo(job_id)
            return 0
        case {"outcome": "timed_out"}:
            status = _TIMED_OUT
        case {"outcome": "denied"}:
            status, last = _DENIED, lines
        case {"outcome": "stopped"}:
            return _BROKEN_PIPE
        case _:
            status = _OWN_ERROR
    if not quiet:
        complain("\n  ".join(map(visible, last)))
    return status
