"""A tool of the agentrail dialect, and ways to make another."""

from collections.abc import Callable, Generator
from pathlib import Path

import pytest

from nacre import Bash


@pytest.fixture
def make(workspace: Path, state: Path) -> Callable[..., Bash]:
    def made(**settings: object) -> Bash:
        return Bash(dialect="agentrail", workspace=workspace, state=state, **settings)  # pyright: ignore[reportArgumentType]

    return made


@pytest.fixture
def agentrail(make: Callable[..., Bash]) -> Generator[Bash]:
    with make() as tool:
        yield tool
