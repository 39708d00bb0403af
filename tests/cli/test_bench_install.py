"""`make peers`, by its program: what it brings, and what it says of what it cannot bring."""

import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from nacre.cli.benchmarks.peers.install import _LackingError, _python
from nacre.cli.benchmarks.peers.known import PEERS
from nacre.cli.benchmarks.peers.pins import pins

# Where nothing answers: no test fetches anything.
NOWHERE = {
    "PIP_CONFIG_FILE": os.devnull,
    "PIP_EXTRA_INDEX_URL": "",
    "PIP_FIND_LINKS": "",
    "PIP_NO_INDEX": "1",
    "npm_config_fetch_retries": "0",
    "npm_config_registry": "http://127.0.0.1:9/",
}


def install(folder: Path, *names: str, **variables: str) -> str:
    done = subprocess.run(
        [sys.executable, "-m", "nacre.cli.benchmarks.peers.install", str(folder), *names],
        capture_output=True,
        check=False,
        env={**os.environ, **NOWHERE, "npm_config_cache": str(folder / "npm"), **variables},
        text=True,
        timeout=100,
    )
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


def wheel(folder: Path, requirement: str) -> None:
    """A package without anything in it."""
    name, _, version = requirement.partition("==")
    folder.mkdir(exist_ok=True)
    info = f"{name}-{version}.dist-info"
    with zipfile.ZipFile(folder / f"{name}-{version}-py3-none-any.whl", "w") as file:
        metadata = f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n"
        file.writestr(f"{info}/METADATA", metadata)
        file.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nTag: py3-none-any\n")
        file.writestr(f"{info}/RECORD", "")


def test_what_can_be_had_is_brought_once_and_again_when_its_pin_changes(tmp_path: Path) -> None:
    pin = pins()["anthropic"]
    wheel(tmp_path / "wheels", pin.packages[0])
    there = {"PIP_FIND_LINKS": str(tmp_path / "wheels")}
    peers = tmp_path / "peers"

    assert install(peers, "anthropic", **there).startswith(f"anthropic: {pin.packages[0]}, ")
    assert pin.installed(peers)
    found = peers / "anthropic" / "bin" / "python"
    code = "from importlib.metadata import version; print(version('anthropic'))"
    said = subprocess.run([found, "-c", code], check=True, capture_output=True, text=True).stdout
    assert f"anthropic=={said.strip()}" == pin.packages[0]

    # Nothing is fetched any more: there is nothing to fetch it from.
    assert install(peers, "anthropic").startswith(f"anthropic: {pin.packages[0]} is there\n")
    (peers / "anthropic" / ".installed").write_text("anthropic==0.0.1\n", "utf-8")
    assert install(peers, "anthropic", **there).startswith(f"anthropic: {pin.packages[0]}, ")


def test_what_cannot_be_had_is_told_and_leaves_nothing(tmp_path: Path) -> None:
    said = install(tmp_path / "peers", "anthropic", "codex").splitlines()

    assert said[0].startswith("anthropic: skipped: ERROR: ")
    assert said[1].startswith("codex: skipped: ")
    assert not any(pin.installed(tmp_path / "peers") for pin in pins().values())
    assert {each.name for each in (tmp_path / "peers").iterdir()} <= {"npm"}


def test_what_the_host_lacks_is_told(tmp_path: Path) -> None:
    said = install(tmp_path / "peers", "anthropic", PATH=str(tmp_path))

    assert said.splitlines()[-1] == "this host has no tmux, which is needed for openhands tmux"
    assert "no socat, which is needed for sandbox-runtime api, sandbox-runtime srt" in said


def test_a_python_that_is_too_old_is_not_taken() -> None:
    assert _python((3, 11)) == sys.executable
    with pytest.raises(_LackingError, match=r"it needs Python 3\.99 or newer; put one into PATH"):
        _python((3, 99))


def test_an_unknown_name_is_refused() -> None:
    words = [sys.executable, "-m", "nacre.cli.benchmarks.peers.install", ".", "bash"]
    done = subprocess.run(words, capture_output=True, check=False, text=True)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith("'bash' is not known; there are swe-rex, ")


def test_every_peer_has_a_pin_of_exact_versions_and_a_driver() -> None:
    assert {peer.pin for peer in PEERS} == {*pins()}
    for pin in pins().values():
        for package in pin.packages:
            assert package.rpartition("@" if pin.node else "==")[2][0].isdigit()
    for peer in PEERS:
        assert Path(peer.words(Path("/peers"))[1]).is_file()
