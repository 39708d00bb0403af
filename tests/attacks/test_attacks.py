"""Every attempt goes through when nothing holds it, and ends as the data say under each backend."""

from collections.abc import Generator
from functools import partial

import pytest

from attacks.attack import BACKENDS, Attack, load
from attacks.world import World
from attacks.worlds import Worlds, chosen, control, skip_others

ATTACKS = load()


@pytest.fixture(scope="module")
def worlds(request: pytest.FixtureRequest) -> Generator[Worlds]:
    """The worlds, at work on the selected attacks; those that need the host alone come later."""
    worlds = Worlds({backend: partial(World, backend) for backend in BACKENDS})
    worlds.begin_all(chosen(request, "backend"))
    yield worlds
    worlds.close()


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("attack", ATTACKS, ids=lambda attack: attack.id)
def test_an_attempt_ends_as_the_list_says(attack: Attack, backend: str, worlds: Worlds) -> None:
    skip_others(attack)
    control(attack, worlds)
    seen = worlds.seen(backend, attack)
    if words := attack.refused.get(backend):
        assert (seen.started, seen.breached, words in seen.output) == (False, False, True)
        return
    assert seen.started, seen.output
    assert seen.breached == (backend in attack.not_held), seen.output
