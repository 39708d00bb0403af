import os
from pathlib import Path, PurePath

import pytest

from nacre.errors import ConfigError
from nacre.model.confinement import Confinement, Limits, Network
from nacre.sandbox.presets import LIMITS, NAMES, Added, preset

GIB = 1 << 30


@pytest.fixture
def home(tmp_path: Path) -> Path:
    folder = Path(os.path.realpath(tmp_path)) / "home"
    (folder / ".ssh").mkdir(parents=True)
    return folder


def test_read_only_writes_nothing_and_denies_nothing_by_itself(workspace: Path, home: Path) -> None:
    assert preset("read-only", workspace, home=str(home)) == Confinement(
        name="read-only",
        readable=None,
        denied=(),
        writable=(),
        protected=(),
        private_tmp=False,
        network=Network.DENY,
        own_signals=True,
        limits=Limits(
            memory=4 * GIB, cpu_seconds=900, processes=512, file_bytes=GIB, open_files=4096
        ),
    )


def test_workspace_writes_the_workspace_and_a_private_tmp(workspace: Path, home: Path) -> None:
    made = preset("workspace", workspace, home=str(home))
    assert made.writable == (PurePath(os.path.realpath(workspace)),)
    assert (made.name, made.readable, made.private_tmp) == ("workspace", None, True)
    assert (made.network, made.own_signals) == (Network.DENY, True)
    assert made.limits == LIMITS
    assert (LIMITS.processes, LIMITS.file_bytes) == (2048, 10 * GIB)
    assert (LIMITS.cpu_seconds, LIMITS.open_files) == (None, None)
    assert LIMITS.memory is not None
    assert LIMITS.memory >= 2 * GIB


@pytest.mark.parametrize(
    "name", [".ssh", ".aws", ".netrc", ".config/gcloud", ".bash_history", ".claude.json"]
)
def test_workspace_denies_stores_of_the_home_whether_they_are_there_or_not(
    workspace: Path, home: Path, name: str
) -> None:
    assert home / name in preset("workspace", workspace, home=str(home)).denied


@pytest.mark.parametrize("home", [None, "", "relative/home"])
def test_workspace_denies_those_of_the_system_without_a_home(
    workspace: Path, home: str | None
) -> None:
    denied = preset("workspace", workspace, home=home).denied
    assert PurePath(os.path.realpath("/etc/shadow")) in denied
    assert not [path for path in denied if path.name in {".ssh", ".netrc"}]
    assert all(path.is_absolute() for path in denied)


def test_open_confines_nothing_but_the_network(workspace: Path, home: Path) -> None:
    made = preset("open", workspace, home=str(home))
    assert made == Confinement(
        name="open", writable=None, network=Network.DENY, own_signals=False, limits=Limits()
    )


@pytest.mark.parametrize("name", NAMES)
def test_the_network_is_the_callers_word(workspace: Path, name: str) -> None:
    assert preset(name, workspace, home=None, network=Network.INHERIT).network is Network.INHERIT


def test_the_root_of_everything_is_nobodys_workspace(home: Path, tmp_path: Path) -> None:
    link = tmp_path / "link"
    link.symlink_to("/")
    for workspace in (Path("/"), link, Path("/usr/..")):
        assert preset("workspace", workspace, home=str(home)).writable == ()
    added = Added(write=(Path("/"), home))
    assert preset("workspace", Path("/"), home=None, added=added).writable == (home,)


def test_links_are_resolved_and_each_path_is_there_once(
    workspace: Path, home: Path, tmp_path: Path
) -> None:
    link = tmp_path / "link"
    link.symlink_to(home)
    real = Path(os.path.realpath(workspace))
    added = Added(
        write=(link, home, home / ".." / "home", workspace),
        deny_read=(link / ".ssh", link / "secret"),
        protect=(link / "a", home / "a", workspace / "memo"),
    )
    made = preset("workspace", workspace, home=str(link), added=added)
    assert made.writable == (real, home)
    assert made.protected == (home / "a", real / "memo")
    assert made.denied.count(home / ".ssh") == 1
    assert home / "secret" in made.denied
    assert not [path for path in made.denied if path.is_relative_to(link)]


@pytest.mark.parametrize("name", NAMES)
def test_what_is_to_be_denied_or_protected_is_so_in_every_preset(
    workspace: Path, home: Path, name: str
) -> None:
    added = Added(deny_read=(home / "x",), protect=(home / "y",))
    made = preset(name, workspace, home=None, added=added)
    assert home / "x" in made.denied
    assert made.protected == (home / "y",)


def test_writing_cannot_be_had_with_read_only(workspace: Path, home: Path) -> None:
    with pytest.raises(ConfigError, match="cannot be had with confinement='read-only'") as caught:
        preset("read-only", workspace, home=None, added=Added(write=(home,)))
    assert repr(str(home)) in str(caught.value)
    assert "use confinement='workspace'" in str(caught.value)


@pytest.mark.parametrize("name", ["", "Workspace", "readonly", "none"])
def test_an_unknown_name_is_answered_with_the_known_ones(workspace: Path, name: str) -> None:
    with pytest.raises(ConfigError) as caught:
        preset(name, workspace, home=None)
    assert str(caught.value) == (
        f"confinement={name!r} is not known; use one of 'read-only', 'workspace', 'open'"
    )
