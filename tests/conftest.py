"""What every test can ask for."""

import os
from collections.abc import AsyncGenerator, Callable, Generator
from functools import cache, partial
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

import engines
from engines import Engine, Engines
from nacre import Bash
from nacre.sandbox.probe import probe_bwrap
from oracle import namespace

# A clock is no law: a fresh clone builds hypothesis' tables during its first example.
settings.register_profile("nacre", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("nacre")


def pytest_configure(config: pytest.Config) -> None:
    """Keep the state and the settings of whoever runs the tests out of them."""
    del config
    kept = {"NACRE_REQUIRE", "NACRE_CORPUS", "NACRE_CASES"}
    for name in [name for name in os.environ if name.startswith("NACRE_")]:
        if name not in kept:
            del os.environ[name]
    os.environ.pop("NO_COLOR", None)
    os.environ["XDG_CONFIG_HOME"] = "/nonexistent"


@cache
def _no_bubblewrap() -> str | None:
    return probe_bwrap(())[1] or None


_LACKS: dict[str, Callable[[], str | None]] = {
    "root": lambda: None if os.getuid() == 0 else "the tests are not run as root",
    "ordinary-user": lambda: None if os.getuid() else "the tests are run as root",
    "namespace": namespace.lack,
    "bubblewrap": _no_bubblewrap,
    **{name: partial(engines.lack, name) for name in ("podman", "rootless-podman", "dockerd")},
}
_ENGINES = [pytest.param(name, marks=pytest.mark.needs(name)) for name in engines.NAMES]


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Skip, in words, what this host cannot show; fail where it is required."""
    for marker in item.iter_markers("needs"):
        what = str(marker.args[0])
        if reason := _LACKS[what]():
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


@pytest.fixture(scope="session")
def engines_of_session() -> Generator[Engines]:
    with Engines() as started:
        yield started


@pytest.fixture(scope="session", params=_ENGINES)
def engine(request: pytest.FixtureRequest, engines_of_session: Engines) -> Engine:
    """Each engine that this user can have, one for all tests: leave it as it was."""
    return engines_of_session.get(str(request.param))


@pytest.fixture(params=_ENGINES)
def own_engine(request: pytest.FixtureRequest) -> Generator[Engine]:
    """The same, but for one test alone, which may stop or kill it."""
    with engines.start(str(request.param)) as started:
        yield started
