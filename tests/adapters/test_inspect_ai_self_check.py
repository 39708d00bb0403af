"""Inspect's own checks of a sandbox, against nacre's."""

import os
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import cast

import anyio
import pytest
from inspect_ai.util import SandboxEnvironment, SandboxUserUnsupportedError
from inspect_ai.util._sandbox import self_check

from nacre.adapters.inspect_ai import NacreConfig, NacreSandboxEnvironment

Check = Callable[[SandboxEnvironment], Awaitable[None]]

REQUIRED = "self-check" in os.environ.get("NACRE_REQUIRE", "").split(",")
# They wait for seconds, or move 50 MiB to the disk and back.
SLOW = {
    "test_exec_timeout",
    "test_exec_timeout_kills_child_processes",
    "test_exec_timeout_kills_process",
    "test_read_and_write_large_file_binary",
}
# They write to fixed names in /tmp. Under landlock that is the host's, where another user's run
# of the same check may be in the way, and which only a task that asks for it may write.
IN_TMP = {
    "test_cwd_absolute",
    "test_read_and_write_file_including_directory_absolute",
    "test_write_binary_file_is_directory",
    "test_write_text_file_is_directory",
}
# It adds a user to the machine, and becomes that user; a test below shows that nobody does.
IMPOSSIBLE = "test_exec_as_user"
SANDBOXES = (
    pytest.param("bubblewrap", marks=pytest.mark.needs("bubblewrap")),
    pytest.param("landlock"),
)


def checks() -> list[object]:
    found: list[object] = []
    for param in SANDBOXES:
        (sandbox,) = param.values
        for name in self_check.__all__:
            if name == IMPOSSIBLE:
                continue
            marks = [*param.marks]
            if name in SLOW or (sandbox == "landlock" and name in IN_TMP):
                reason = "run with NACRE_REQUIRE=self-check"
                marks.append(pytest.mark.skipif(not REQUIRED, reason=reason))
            found.append(pytest.param(sandbox, name, marks=marks, id=f"{sandbox}-{name}"))
    return found


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(scope="module")
def environment(
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[Callable[[str], SandboxEnvironment]]:
    """One for each sandbox: making them takes longer than the checks do."""
    made: dict[str, NacreSandboxEnvironment] = {}

    def environment(sandbox: str) -> SandboxEnvironment:
        if sandbox not in made:
            write = ("/tmp",) if REQUIRED and sandbox == "landlock" else ()
            state = str(tmp_path_factory.mktemp("state"))
            config = NacreConfig(sandbox=sandbox, write=write, state=state)
            made[sandbox] = NacreSandboxEnvironment(config)
        return made[sandbox]

    yield environment
    for each in made.values():
        anyio.run(each.aclose)


@pytest.mark.parametrize(("sandbox", "name"), checks())
async def test_inspects_own_check_passes(
    sandbox: str, name: str, environment: Callable[[str], SandboxEnvironment]
) -> None:
    await cast("Check", getattr(self_check, name))(environment(sandbox))


@pytest.mark.parametrize("sandbox", SANDBOXES)
async def test_no_command_adds_a_user_or_becomes_another(
    sandbox: str, environment: Callable[[str], SandboxEnvironment]
) -> None:
    refused = "Failed to add user" if os.getuid() == 0 else "user"
    kind = AssertionError if os.getuid() == 0 else SandboxUserUnsupportedError
    with pytest.raises(kind, match=refused):
        await self_check.test_exec_as_user(environment(sandbox))
    assert "inspect-ai-test" not in Path("/etc/passwd").read_text()
