"""What every test can ask for."""

import os
from collections.abc import AsyncGenerator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from nacre import Bash

# A clock is no law: a fresh clone builds hypothesis' tables during its first example.
settings.register_profile("nacre", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("nacre")


def pytest_configure(config: pytest.Config) -> None:
    """Keep the state of whoever runs the tests out of them."""
    del config
    os.environ.pop("NACRE_STATE", None)
    os.environ.pop("NO_COLOR", None)


_LACKS = {
    "root": None if os.getuid() == 0 else "the tests are not run as root",
    "ordinary-user": None if os.getuid() else "the tests are run as root",
}


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Skip, in words, what this host cannot show; fail where it is required."""
    for marker in item.iter_markers("needs"):
        what = str(marker.args[0])
        if reason := _LACKS[what]:
            if what in os.environ.get("NACRE_REQUIRE", "").split(","):
                pytest.fail(f"NACRE_REQUIRE names {what!r}, but {reason}")
            pytest.skip(reason)


@pytest.fixture(params=["asyncio", "trio"])
def anyio_backend(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def state(tmp_path: Path) -> Path:
    return tmp_path / "state"


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    folder = tmp_path / "workspace"
    folder.mkdir()
    return folder


@pytest.fixture
async def tool(workspace: Path, state: Path) -> AsyncGenerator[Bash]:
    async with Bash(workspace=workspace, state=state) as tool:
        yield tool
