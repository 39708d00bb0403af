"""Which commands there are, and how an error looks.

A command's module is imported when the command is used, so that `nacre run`
starts no slower for the others being there.
"""

import sys
from importlib import import_module

import click

from nacre.cli.terminal import complain, have_streams, leave_stdout
from nacre.config.system import require_linux
from nacre.errors import NacreError

__all__ = ("carry_out",)

_COMMANDS = {
    "bench": "nacre.cli.bench",
    "call": "nacre.cli.call",
    "check": "nacre.cli.check",
    "completion": "nacre.cli.completion",
    "conformance": "nacre.cli.conformance",
    "config": "nacre.cli.config",
    "display": "nacre.cli.display",
    "doctor": "nacre.cli.doctor",
    "grants": "nacre.cli.grants",
    "jobs": "nacre.cli.jobs",
    "journal": "nacre.cli.journal",
    "kill": "nacre.cli.kill",
    "logs": "nacre.cli.logs",
    "mcp": "nacre.cli.mcp",
    "run": "nacre.cli.run",
    "specs": "nacre.cli.specs",
}
_INTERRUPTED = 130
_BROKEN_PIPE = 141
# What nacre's own failure exits with. `run` does as `docker run` and `env` do, so that a
# script's own 1 or 2 is told apart; the 1 of `check` is a denial.
_OWN_ERRORS = {"run": 125, "check": 2}
_OWN_ERROR = 1
_EPILOG = """\b
Examples:
  nacre run -- make test
  nacre run --timeout 60 -- 'cd web && npm test'
  nacre run --background -- python -m http.server
  nacre check 'git add -A'
  nacre jobs
  nacre logs -f ID
  nacre doctor
"""


class _ReaderLeftError(Exception):
    """Standard output is a pipe that nobody reads any more."""


class _Commands(click.Group):
    """Commands that are imported when they are used."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The names, sorted."""
        del ctx
        return sorted(_COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command, or None if there is no such."""
        del ctx
        module = _COMMANDS.get(cmd_name)
        if module is None:
            return None
        command: object = import_module(module).command
        return command if isinstance(command, click.Command) else None

    def invoke(self, ctx: click.Context) -> object:
        """Run the command; a reader that left is no error of click's, which would exit with 1."""
        try:
            return super().invoke(ctx)
        except BrokenPipeError:
            raise _ReaderLeftError from None


@click.group(
    cls=_Commands,
    epilog=_EPILOG,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.version_option(package_name="nacre", prog_name="nacre")
def _nacre() -> None:
    """Run shell scripts for agents: bounded in time and output, nothing left behind."""


def carry_out() -> int:
    """Do what the command line says; return what to exit with."""
    have_streams()
    name = sys.argv[1] if len(sys.argv) > 1 else ""
    own_error = _OWN_ERRORS.get(name, _OWN_ERROR)
    try:
        require_linux()
        status = _nacre.main(prog_name="nacre", standalone_mode=False)
    except click.exceptions.NoArgsIsHelpError as error:
        click.echo(error.format_message(), err=True)
        return error.exit_code
    except click.UsageError as error:
        hint = f"; see '{error.ctx.command_path} --help'" if error.ctx else ""
        complain(f"{error.format_message().rstrip('.')}{hint}")
        return _OWN_ERRORS.get(name, error.exit_code)
    except NacreError as error:
        complain(str(error))
        return own_error
    except (click.Abort, KeyboardInterrupt):
        return _INTERRUPTED
    except (_ReaderLeftError, BrokenPipeError):
        leave_stdout()
        return _BROKEN_PIPE
    except OSError as error:  # a full disk behind standard output, say
        leave_stdout()
        complain(f"{error.strerror or error}")
        return own_error
    return status if isinstance(status, int) else 0
