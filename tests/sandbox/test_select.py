"""Which sandbox is taken, and in what words none is."""

from collections.abc import Generator
from pathlib import Path

import pytest

from nacre.errors import ConfigError, SandboxError
from nacre.sandbox import select as module
from nacre.sandbox.probe import Host
from nacre.sandbox.select import NAMES, known, select
from nacre.sandbox.surroundings import Surroundings

ALL = Host(landlock=6, bwrap="/usr/bin/bwrap")
NO_ROOM = Host(landlock=6, no_bwrap="it fails: no namespaces")
NO_LANDLOCK = Host(landlock=0, no_landlock="too old", bwrap="/usr/bin/bwrap")
NOTHING = Host(landlock=0, no_landlock="too old", no_bwrap="it is not installed")
NO_FILTER = Host(landlock=6, no_seccomp="Invalid argument", bwrap="/usr/bin/bwrap")


@pytest.fixture
def surroundings(state: Path, workspace: Path) -> Generator[Surroundings]:
    made = Surroundings(state, workspace, keep=False)
    yield made
    made.close()


@pytest.fixture(autouse=True)
def not_unconfined(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NACRE_ALLOW_UNCONFINED", raising=False)


def chosen(
    name: str, host: Host, surroundings: Surroundings, monkeypatch: pytest.MonkeyPatch
) -> str:
    def found(*_: object, **__: object) -> Host:
        return host

    monkeypatch.setattr(module, "probe", found)
    return select(name, surroundings, ()).name


@pytest.mark.parametrize(
    ("name", "host", "taken"),
    [
        ("auto", ALL, "bubblewrap"),
        ("auto", NO_ROOM, "landlock"),
        ("auto", NO_LANDLOCK, "bubblewrap"),
        ("bubblewrap", ALL, "bubblewrap"),
        ("bubblewrap", NO_LANDLOCK, "bubblewrap"),
        ("landlock", ALL, "landlock"),
        ("landlock", NO_ROOM, "landlock"),
        ("none", NOTHING, "none"),
        ("none", ALL, "none"),
    ],
)
def test_the_strongest_that_works_is_taken(
    name: str, host: Host, taken: str, surroundings: Surroundings, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert chosen(name, host, surroundings, monkeypatch) == taken


@pytest.mark.parametrize(
    ("name", "host", "said"),
    [
        ("auto", NOTHING, ["room of namespaces can be made (it is not installed)", "(too old)"]),
        ("auto", NO_FILTER, ["no system call filter can be set (Invalid argument)"]),
        ("bubblewrap", NO_ROOM, ["(it fails: no namespaces)", "or use sandbox='landlock', which"]),
        ("bubblewrap", NOTHING, ["install bubblewrap and allow user namespaces;"]),
        ("bubblewrap", NO_FILTER, ["no system call filter can be set"]),
        ("landlock", NO_LANDLOCK, ["no Landlock (too old)", "a kernel of 5.13 or newer"]),
        ("landlock", NO_FILTER, ["no system call filter can be set"]),
    ],
)
def test_a_refusal_names_what_is_missing_why_and_what_to_do(
    name: str,
    host: Host,
    said: list[str],
    surroundings: Surroundings,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with pytest.raises(SandboxError) as caught:
        chosen(name, host, surroundings, monkeypatch)
    text = str(caught.value)
    assert text.startswith(f"sandbox={name!r} cannot be had here: ")
    assert "Nothing was run." in text
    assert text.endswith("To run without any, say sandbox='none'")
    assert [each for each in said if each not in text] == []


def test_a_refusal_says_nothing_of_what_was_not_asked_for(
    surroundings: Surroundings, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(SandboxError) as caught:
        chosen("landlock", NOTHING, surroundings, monkeypatch)
    assert "namespaces" not in str(caught.value)
    with pytest.raises(SandboxError) as caught:
        chosen("bubblewrap", NOTHING, surroundings, monkeypatch)
    assert "Landlock (" not in str(caught.value)
    assert "sandbox='landlock'" not in str(caught.value)


@pytest.mark.parametrize("name", ["bubblewrap", "landlock"])
def test_a_variable_lets_auto_go_without_and_nothing_that_was_named(
    name: str, surroundings: Surroundings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NACRE_ALLOW_UNCONFINED", "1")
    assert chosen("auto", NOTHING, surroundings, monkeypatch) == "none"
    assert chosen("auto", NO_ROOM, surroundings, monkeypatch) == "landlock"
    with pytest.raises(SandboxError):
        chosen(name, NOTHING, surroundings, monkeypatch)
    monkeypatch.setenv("NACRE_ALLOW_UNCONFINED", "yes")
    with pytest.raises(SandboxError):
        chosen("auto", NOTHING, surroundings, monkeypatch)


@pytest.mark.parametrize("name", ["", "Auto", "bwrap", "docker"])
def test_an_unknown_name_is_answered_with_the_known_ones(
    name: str, surroundings: Surroundings
) -> None:
    sentence = f"sandbox={name!r} is not known; use one of 'auto', 'bubblewrap', 'landlock', 'none', 'container'"
    with pytest.raises(ConfigError) as caught:
        known(name)
    assert str(caught.value) == sentence
    with pytest.raises(ConfigError):
        select(name, surroundings, ())


def test_every_name_is_known() -> None:
    for name in NAMES:
        known(name)
