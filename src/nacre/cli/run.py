"""`nacre run`: one script, its output as it comes, its exit code."""

import math
import shlex
from collections.abc import Generator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Unpack

import click

from nacre.cli.context import Context, context_options, opened_tool, rules_option, tool_context
from nacre.cli.terminal import complain, leave_stdout, somebody_is_there, spinning, write_out
from nacre.process.link import shared_link
from nacre.process.waits import run_alone
from nacre.sandbox.probe import bwrap_ahead

if TYPE_CHECKING:
    from nacre.tool import Bash, Ran, ToolContext

__all__ = ("command",)

_TIMED_OUT, _OWN_ERROR, _DENIED, _SIGNALED, _BROKEN_PIPE = 124, 125, 126, 128, 141
_WITH_BUBBLEWRAP = {None, "auto", "bubblewrap"}
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
@rules_option
@context_options
@click.argument("script", nargs=-1, required=True, type=click.UNPROCESSED)
@click.pass_context
def command(  # noqa: PLR0913
    ctx: click.Context,
    *,
    dialect: str | None,
    timeout: float | None,
    background: bool,
    as_json: bool,
    rules: tuple[str, ...],
    script: tuple[str, ...],
    **context: Unpack[Context],
) -> None:
    """Run SCRIPT with bash and print what it says, as it says it.

    Several words are one command and its arguments; one word is a whole script.
    Standard output and error come in their real order, on standard output. A script
    that rules leave to a person is asked about, if this is a terminal.
    """
    text = script[0] if len(script) == 1 else shlex.join(script)
    kept = background or as_json
    with _started_ahead(context):
        tool = opened_tool(
            dialect,
            context,
            rules,
            on_timeout="kill",
            timeout=_seconds(timeout, context["workspace"]),
            jobs="detached" if kept else "owned",
        )
        with tool:
            ran = _ran(tool, text, tool_context(context), background=background, quiet=kept)
    if as_json:
        _show_reply(ran)
    ctx.exit(_status(ran, quiet=as_json))


@contextmanager
def _started_ahead(context: Context) -> Generator[None]:
    """Start what nearly every script will need, while there is still much to be imported."""
    with ExitStack() as begun:
        begun.enter_context(shared_link().at_hand())
        if context["sandbox"] in _WITH_BUBBLEWRAP:
            begun.enter_context(bwrap_ahead([Path(context["workspace"] or ".").absolute()]))
        yield


def _seconds(given: float | None, workspace: str | None) -> float:
    """The timeout: unlike an agent, a person who names none anywhere has time."""
    if given is not None:
        return given
    from nacre.config.layers import gather

    return gather(Path(workspace or ".").absolute()).number("timeout") or math.inf


def _ran(tool: "Bash", text: str, asked: "ToolContext", *, background: bool, quiet: bool) -> "Ran":
    if not quiet:
        # While the script is read; of what is refused, nothing stays. A detached tool's folders would.
        tool.prepare(asked)
    call = partial(_run, tool, text, asked, background=background, quiet=quiet)
    if not background:
        return run_alone(call)
    import anyio

    return anyio.run(call)


async def _run(
    tool: "Bash", script: str, context: "ToolContext", *, background: bool, quiet: bool
) -> "Ran":
    failures: list[OSError] = []
    async with spinning("running") as spinner:
        if somebody_is_there():
            from nacre.cli.prompt import Prompt

            context = replace(context, approver=Prompt(spinner.resting))

        def show(data: bytes) -> None:
            spinner.hide()
            try:
                write_out(data)
            except OSError as error:
                leave_stdout()
                failures.append(error)
                if context.cancel:
                    context.cancel.cancel()

        ran = await tool.run(
            script, context, background=background, on_output=None if quiet else show
        )
    if failures and not isinstance(failures[0], BrokenPipeError):
        raise failures[0]
    return ran


def _show_reply(ran: "Ran") -> None:
    import json

    reply = ran.reply
    shown = {"text": reply.text, "is_error": reply.is_error, "details": reply.details}
    click.echo(json.dumps(shown, indent=2))


def _remark(text: str) -> None:
    """Say what nacre noticed beside the output, which a person has seen by now."""
    from nacre.render.underline import visible

    for line in text.splitlines()[-_MOST_REMARKS:]:
        if line.startswith(_REMARKS):
            complain(visible(line.strip("[]")))


def _status(ran: "Ran", *, quiet: bool) -> int:
    """Turn what came of a script into an exit code, and say what its output does not.

    A person is told in the same words whatever the dialect.
    """
    from nacre.dialects.nacre.replies import reply_to_run
    from nacre.model.outcome import Denied, Exited, Running, Signaled, Stopped, TimedOut
    from nacre.render.underline import visible

    said = reply_to_run(ran.call, ran.result).text
    lines = [line.strip("[]") for line in said.splitlines()]
    last = lines[-1:]
    if not quiet:
        _remark(said)
    match ran.result.outcome:
        case Exited(code):
            return code
        case Signaled(number):
            status = _SIGNALED + number
        case Running(job_id):
            if not quiet:
                click.echo(job_id)
            return 0
        case TimedOut():
            status = _TIMED_OUT
        case Denied():
            status, last = _DENIED, lines
        case Stopped():
            return _BROKEN_PIPE
        case _:
            status = _OWN_ERROR
    if not quiet:
        complain("\n  ".join(map(visible, last)))
    return status
