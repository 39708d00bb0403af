"""Scripts that really meet a sandbox of this host, and others that really fail without it."""

import os
import sys
from collections.abc import Generator
from pathlib import Path
from typing import cast

import pytest

from nacre import Bash, NacreError, ToolContext
from nacre.sandbox.violations import ThisHost

# Its own program: what PATH finds may be one that looks for it first.
PYTHON = f"{os.path.realpath(sys.executable)} -I -S"


@pytest.fixture(scope="module")
def outside(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("outside")
    (folder / "secret").mkdir()
    (folder / "secret/key").write_text("x")
    return folder


@pytest.fixture(scope="module", params=["bubblewrap", "landlock"])
def tool(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, outside: Path
) -> Generator[tuple[Bash, Path]]:
    workspace = tmp_path_factory.mktemp("workspace")
    state = tmp_path_factory.mktemp("state")
    name = str(request.param)
    with Bash(
        workspace=workspace, state=state, sandbox=name, deny_read=[outside / "secret"]
    ) as tool:
        try:
            tool.call_sync("Bash", {"command": "true"}, ToolContext(working_dir=workspace))
        except NacreError as error:
            pytest.skip(f"this host has no {name}: {error}")
        yield tool, workspace


def _told(tool: tuple[Bash, Path], script: str) -> list[tuple[str, str]]:
    bash, workspace = tool
    reply = bash.call_sync("Bash", {"command": script}, ToolContext(working_dir=workspace))
    found = cast("list[dict[str, str]]", (reply.details or {}).get("violations", []))
    assert all(f"{each['rule']}; {each['remedy']}" in reply.text for each in found)
    return [(each["kind"], each["target"]) for each in found]


def test_a_write_outside_is_told(tool: tuple[Bash, Path], tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_text("x")
    assert _told(tool, f"echo y > {file}") == [("write", str(file))]
    assert file.read_text() == "x"


def test_a_denied_read_is_told(tool: tuple[Bash, Path], outside: Path) -> None:
    assert _told(tool, f"cp {outside}/secret/key .") == [("read", f"{outside}/secret/key")]


@pytest.mark.skipif(not ThisHost().online, reason="this host has no way to others either")
def test_a_connection_to_elsewhere_is_told(tool: tuple[Bash, Path]) -> None:
    script = f"{PYTHON} -c \"import socket; socket.create_connection(('192.0.2.77', 80))\""
    assert _told(tool, script) == [("network", "192.0.2.77")]


def test_a_closed_call_is_told(tool: tuple[Bash, Path]) -> None:
    script = (
        f'{PYTHON} -c "import ctypes; c = ctypes.CDLL(None, use_errno=True);'
        " c.ptrace(0, 0, 0, 0); c.perror(b'ptrace'); raise SystemExit(1)\""
    )
    assert _told(tool, script) == [("kernel_call", "ptrace")]


@pytest.mark.parametrize(
    "script",
    [
        "echo 'echo hi' > script; ./script",
        "echo \"touch: cannot touch '/var/x': Permission denied\"; false",
        f"{PYTHON} -c 'assert 1 == 2, \"Permission denied\"'",
        "kill -9 $$",
    ],
)
def test_an_ordinary_failure_is_not_the_sandboxs(tool: tuple[Bash, Path], script: str) -> None:
    assert _told(tool, script) == []


@pytest.mark.needs("ordinary-user")
def test_what_unix_permissions_forbid_is_not_the_sandboxs(tool: tuple[Bash, Path]) -> None:
    script = "touch a && chmod 000 a && cat a; echo > /etc/hosts"
    assert os.getuid() != 0
    assert _told(tool, script) == []
