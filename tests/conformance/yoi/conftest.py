"""A tool that speaks yoi, and what it answers."""

from collections.abc import AsyncGenerator, Awaitable, Callable
from pathlib import Path

import pytest

from nacre import Bash, Reply

Ask = Callable[..., Awaitable[Reply]]


@pytest.fixture
def output(tmp_path: Path) -> Path:
    """The folder a host gives for long output; not made yet."""
    return tmp_path / "output"


@pytest.fixture
async def yoi(workspace: Path, state: Path, output: Path) -> AsyncGenerator[Bash]:
    async with Bash(dialect="yoi", workspace=workspace, state=state, output_dir=output) as tool:
        yield tool


@pytest.fixture
def ask(yoi: Bash) -> Ask:
    """One call: a command, and what else is given."""

    async def call(command: str, **others: object) -> Reply:
        return await yoi.call("Bash", {"command": command, **others})

    return call
