"""Tools that speak this dialect, in a host whose variables say nothing of it."""

import os
from collections.abc import Callable, Generator, Sequence
from contextlib import ExitStack
from pathlib import Path

import pytest

from nacre import Bash

Opened = Callable[..., Bash]


@pytest.fixture(autouse=True)
def no_levers(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in os.environ if name.startswith("WAYLAND_")]:
        monkeypatch.delenv(name)


@pytest.fixture
def opened(workspace: Path, state: Path) -> Generator[Opened]:
    """Makes tools, and closes them."""
    with ExitStack() as tools:

        def make(
            *,
            sandbox: str | None = None,
            network: str | None = None,
            on_timeout: str | None = None,
            pass_env: Sequence[str] = (),
            rules: dict[str, object] | None = None,
        ) -> Bash:
            return tools.enter_context(
                Bash(
                    dialect="wayland",
                    workspace=workspace,
                    state=state,
                    sandbox=sandbox,
                    network=network,
                    on_timeout=on_timeout,
                    pass_env=pass_env,
                    rules=rules,
                )
            )

        yield make


@pytest.fixture
def wayland(opened: Opened) -> Bash:
    """The dialect as its document has it."""
    return opened()


@pytest.fixture
def unheld(opened: Opened) -> Bash:
    """The same with no sandbox, for what has nothing to do with one."""
    return opened(sandbox="none")
