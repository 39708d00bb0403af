"""The attacks on sandboxes, made inside a container; what came of each is asked of the host."""

from collections.abc import Generator, Iterator

import pytest

import engines
from attacks.attack import CONTAINER, Attack, load
from attacks.world import World
from attacks.worlds import Worlds, chosen, control, skip_others
from engines import Engine, Engines

_ROOTLESS = {"lifetime", "resources"}
_NAMES = tuple(name for name in engines.NAMES if name != "podman")


def _pairs() -> Iterator[object]:
    """Each attack with one engine: root's with Docker, an ordinary user's with Podman.

    Those that take a call of their own take most of the time: many of them need a container of their
    own. An ordinary user tries those of them that depend on the engine's being rootless.
    """
    for attack in load():
        names = _NAMES
        if not attack.together and "rootless-podman" in names and attack.category not in _ROOTLESS:
            continue
        for name in names:
            yield pytest.param(
                attack, name, marks=pytest.mark.needs(name), id=f"{attack.id}-{name}"
            )


@pytest.fixture(scope="module")
def worlds(request: pytest.FixtureRequest, engines_of_session: Engines) -> Generator[Worlds]:
    """A world for each engine that is asked for, at work on the selected attacks."""

    def world(name: str) -> World:
        engine = engines_of_session.get(name)
        return World(CONTAINER, {"DOCKER_HOST": engine.host, "NACRE_IMAGE": engine.with_python()})

    asked = {
        name: [attack for attack in attacks if not attack.not_in_containers]
        for name, attacks in chosen(request, "engine").items()
        if engines.lack(name) is None
    }
    worlds = Worlds({name: lambda name=name: world(name) for name in asked})
    worlds.begin_all(asked)
    yield worlds
    worlds.close()


@pytest.mark.parametrize(("attack", "engine"), tuple(_pairs()), indirect=["engine"])
def test_an_attempt_in_a_container_ends_as_the_list_says(
    attack: Attack, engine: Engine, worlds: Worlds
) -> None:
    skip_others(attack)
    if attack.not_in_containers:
        pytest.skip(attack.not_in_containers)
    control(attack, worlds)
    seen = worlds.seen(engine.name, attack)
    if words := attack.refused.get(CONTAINER):
        assert (seen.started, seen.breached, words in seen.output) == (False, False, True)
        return
    assert seen.started, seen.output
    if not attack.up_to_engine:
        assert seen.breached == (CONTAINER in attack.not_held), seen.output
