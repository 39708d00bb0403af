"""A workspace that engines can mount, and a tool that runs its scripts in containers."""

import shutil
import tempfile
from collections.abc import AsyncGenerator, Callable, Generator
from functools import partial
from pathlib import Path

import pytest

from engines import Engine
from nacre import Bash


@pytest.fixture
def anyio_backend() -> str:
    """One event loop is enough: what is tried here lies beyond the porter, which has neither."""
    return "asyncio"


@pytest.fixture
def workspace() -> Generator[Path]:
    folder = Path(tempfile.mkdtemp(prefix="nacre-workspace-"))
    yield folder
    shutil.rmtree(folder)


@pytest.fixture
def opened(
    engine: Engine, workspace: Path, state: Path, monkeypatch: pytest.MonkeyPatch
) -> Callable[..., Bash]:
    """Makes tools whose scripts run in a container of the engine's, with more settings."""
    monkeypatch.setenv("DOCKER_HOST", engine.host)
    return partial(Bash, workspace=workspace, state=state, sandbox="container", image=engine.image)


@pytest.fixture
async def contained(opened: Callable[..., Bash]) -> AsyncGenerator[Bash]:
    """Such a tool, with nothing more said."""
    async with opened() as tool:
        yield tool
