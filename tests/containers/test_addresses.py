"""Engines that are not on a socket of this machine, or on one of several."""

import ssl
from pathlib import Path

import anyio
import pytest
import trustme

from containers.relay import relay
from containers.seen import none_left
from engines import Engine
from nacre import Bash
from nacre.container.address import address, addresses

pytestmark = pytest.mark.anyio


async def _is_usable(engine: Engine, workspace: Path, state: Path) -> None:
    lines = "".join(f"{number}\n" for number in range(200_000))
    (workspace / "lines").write_text(lines)
    async with Bash(
        workspace=workspace, state=state, sandbox="container", image=engine.image
    ) as tool:
        first = await tool.call("Bash", {"command": "echo hi; exit 3"})
        much = await tool.call("Bash", {"command": "cat lines"})
        long = await tool.call("Bash", {"command": f": {'x' * 500_000}; echo end"})
        spilled = Path(str((much.details or {})["spill"])).read_text()
    assert (first.details or {})["exit_code"] == 3, first.text
    assert spilled == lines
    assert long.text == "end"
    none_left(engine, 10)


async def test_an_engine_is_reached_over_tcp(
    engine: Engine, workspace: Path, state: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with relay(engine.host.removeprefix("unix://")) as port:
        monkeypatch.setenv("DOCKER_HOST", f"tcp://127.0.0.1:{port}")
        await _is_usable(engine, workspace, state)


async def test_an_engine_is_reached_over_tls_with_dockers_own_variables(
    engine: Engine,
    workspace: Path,
    state: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    authority = trustme.CA()
    authority.cert_pem.write_to_path(tmp_path / "ca.pem")
    authority.issue_cert("127.0.0.1").private_key_and_cert_chain_pem.write_to_path(
        tmp_path / "server.pem"
    )
    mine = authority.issue_cert("agent@example.org")
    mine.private_key_pem.write_to_path(tmp_path / "key.pem")
    mine.cert_chain_pems[0].write_to_path(tmp_path / "cert.pem")
    server = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH, cafile=tmp_path / "ca.pem")
    server.verify_mode = ssl.CERT_REQUIRED
    server.load_cert_chain(tmp_path / "server.pem")
    with relay(engine.host.removeprefix("unix://"), server) as port:
        monkeypatch.setenv("DOCKER_HOST", f"tcp://127.0.0.1:{port}")
        monkeypatch.setenv("DOCKER_TLS_VERIFY", "1")
        monkeypatch.setenv("DOCKER_CERT_PATH", str(tmp_path))
        await _is_usable(engine, workspace, state)


def test_the_named_engine_comes_first_and_those_that_do_not_answer_do_not_count(
    engine: Engine, tmp_path: Path
) -> None:
    environ = {"XDG_RUNTIME_DIR": str(tmp_path), "DOCKER_HOST": "tcp://example.org:2375"}
    (tmp_path / "docker.sock").symlink_to(engine.host.removeprefix("unix://"))
    (tmp_path / "podman").mkdir()
    found = addresses(environ)
    assert address(environ) == "tcp://example.org:2375"
    assert found[:2] == ("tcp://example.org:2375", f"unix://{tmp_path}/docker.sock")
    assert f"unix://{tmp_path}/podman/podman.sock" not in found
    assert address({"XDG_RUNTIME_DIR": str(tmp_path)}) == f"unix://{tmp_path}/docker.sock"


async def test_an_engine_behind_ssh_is_told_how_to_be_reached(
    workspace: Path, state: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DOCKER_HOST", "ssh://example.org")
    async with Bash(workspace=workspace, state=state, sandbox="container", image="any") as tool:
        with anyio.fail_after(10):
            reply = await tool.call("Bash", {"command": "true"})
    assert (reply.details or {})["outcome"] == "unstarted"
    assert "forward its socket with" in reply.text
