"""The contract that every tool keeps, kept in a container; all checks share one, each has a folder."""

import shutil
import tempfile
from collections.abc import Generator
from pathlib import Path

import pytest

from engines import Engine
from nacre import Bash
from nacre.testing import CONTRACT, Check, Subject

pytestmark = pytest.mark.anyio


@pytest.fixture(scope="module")
def workspace() -> Generator[Path]:
    folder = Path(tempfile.mkdtemp(prefix="nacre-workspace-"))
    yield folder
    shutil.rmtree(folder)


@pytest.fixture(scope="module")
def shared(
    engine: Engine, workspace: Path, tmp_path_factory: pytest.TempPathFactory
) -> Generator[Bash]:
    state = tmp_path_factory.mktemp("state")
    with (
        pytest.MonkeyPatch.context() as patch,
        Bash(workspace=workspace, state=state, sandbox="container", image=engine.image) as tool,
    ):
        patch.setenv("DOCKER_HOST", engine.host)
        yield tool


@pytest.mark.parametrize("check", CONTRACT, ids=lambda check: check.__name__)
async def test_the_contract_holds_in_a_container(
    check: Check, shared: Bash, workspace: Path, engine: Engine
) -> None:
    folder = workspace / f"{engine.name}-{check.__name__}"
    folder.mkdir()
    inside = f"/workspace/{folder.name}"
    await check(Subject(tool=shared, workspace=folder, working_dir=inside))
