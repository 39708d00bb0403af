"""What the tests of this dialect can ask for."""

from collections.abc import AsyncGenerator
from pathlib import Path

import pytest

from nacre import Bash


@pytest.fixture
async def codegen(workspace: Path, state: Path) -> AsyncGenerator[Bash]:
    async with Bash(dialect="codegen", workspace=workspace, state=state) as tool:
        yield tool
