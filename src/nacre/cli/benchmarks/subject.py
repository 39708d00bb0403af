"""What is measured: a tool or an engine with a state directory of its own."""

import os
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import anyio

from nacre.cli.benchmarks.row import FailedToRunError
from nacre.config.policy import ScriptChecker
from nacre.engine.assemble import Settings, assemble
from nacre.engine.journal import JOURNAL, read_journal
from nacre.engine.occasion import Occasion
from nacre.model.call import Run
from nacre.model.outcome import Exited
from nacre.model.reply import Reply
from nacre.model.transcript import Limit, Transcript
from nacre.tool import Bash

__all__ = ("LIMIT", "details_of", "opened_engine", "opened_tool", "temporary_folder")

# As the default dialect has it, but without a spill.
LIMIT = Limit(head=128 * 1024, tail=256 * 1024)
_LOOK_SECONDS = 0.01


def temporary_folder() -> TemporaryDirectory[str]:
    """A folder for the length of a block."""
    return TemporaryDirectory(prefix="nacre-bench-")


@asynccontextmanager
async def opened_tool(
    sandbox: str = "none", workspace: str | None = None, *, spares: int | None = 0
) -> AsyncGenerator[Bash]:
    """A tool that has made its first call, which starts the warden; nothing of it stays."""
    with temporary_folder() as state:
        folder = workspace or _folder_in(state)
        async with Bash(
            state=state, workspace=folder, sandbox=sandbox, on_timeout="kill", spares=spares
        ) as tool:
            details_of(await tool.call("Bash", {"command": "true"}))
            # The journal's files are open once its first entry is there.
            while not any(read_journal(Path(state, JOURNAL))):  # noqa: ASYNC110 (a thread writes it)
                await anyio.sleep(_LOOK_SECONDS)
            yield tool


@asynccontextmanager
async def opened_engine() -> AsyncGenerator[Callable[[str], Awaitable[Transcript]]]:
    """Runs scripts on an engine that spills nothing, after a first one that warms it up."""
    with temporary_folder() as state:
        engine = assemble(Settings(state=Path(state)), ScriptChecker("nacre"))
        occasion = Occasion(cwd=Path(state), conversation="bench", environ=dict(os.environ))

        async def run(script: str) -> Transcript:
            result = await engine.run(Run(script=script, limit=LIMIT), occasion)
            if result.outcome != Exited(0):
                raise FailedToRunError(f"{script!r} ended with {result.outcome}")
            return result.transcript

        try:
            await run("true")
            yield run
        finally:
            engine.close()


def _folder_in(state: str) -> str:
    folder = Path(state, "workspace")
    folder.mkdir()
    return str(folder)


def details_of(reply: Reply) -> dict[str, object]:
    """The details of a reply that is no error.

    Raises:
        FailedToRunError: If it is one.
    """
    if reply.is_error:
        raise FailedToRunError(f"a call that must succeed was answered {reply.text!r}")
    return dict(reply.details or {})
