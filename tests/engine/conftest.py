"""An engine without a dialect, and calls in no dialect's words."""

import os
from collections.abc import Generator
from pathlib import Path

import pytest

from nacre.engine.assemble import Settings, assemble
from nacre.engine.engine import Engine
from nacre.engine.occasion import Occasion
from nacre.testing import AllowEverything


@pytest.fixture
def engine(state: Path) -> Generator[Engine]:
    engine = assemble(Settings(state=state), AllowEverything())
    yield engine
    engine.close()


@pytest.fixture
def occasion(workspace: Path) -> Occasion:
    return Occasion(
        cwd=workspace, conversation="test", environ={"PATH": os.environ["PATH"], "HOME": "/"}
    )
