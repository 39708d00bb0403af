"""Every attempt goes through when nothing holds it, and ends as the data say under each backend."""

import os
from collections.abc import Generator, Iterable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait

import pytest

from attacks.attack import BACKENDS, Attack, load
from attacks.world import Seen, World

ATTACKS = load()
_USER = "root" if os.getuid() == 0 else "ordinary-user"


class Worlds:
    """A world for each runner, in a thread of its own: what one is told to try, it tries in turn."""

    def __init__(self) -> None:
        self._threads = {runner: ThreadPoolExecutor(1) for runner in (None, *BACKENDS)}
        self._worlds = {
            runner: thread.submit(World, runner) for runner, thread in self._threads.items()
        }
        self._seen: dict[tuple[str | None, str], Future[dict[str, Seen]]] = {}

    def begin(self, runner: str | None, attacks: Iterable[Attack]) -> None:
        """Have attempts made, each once; those that mind no others in one call."""
        new = [attack for attack in attacks if (runner, attack.id) not in self._seen]
        together = [attack for attack in new if attack.together]
        alone = [[attack] for attack in new if not attack.together]
        for group in [together, *alone] if together else alone:
            seen = self._threads[runner].submit(self._carry_out, runner, group)
            self._seen |= {(runner, attack.id): seen for attack in group}

    def seen(self, runner: str | None, attack: Attack) -> Seen:
        """What came of an attempt by plain bash (None), or under a backend."""
        if attack.heavy:
            # One user's processes are counted together: a bomb of one world starves the others.
            wait(self._seen.values())
        self.begin(runner, [attack])
        return self._seen[runner, attack.id].result()[attack.id]

    def close(self) -> None:
        for seen in self._seen.values():
            seen.cancel()
        ends = [thread.submit(self._leave, runner) for runner, thread in self._threads.items()]
        for end in ends:
            end.result()
        for thread in self._threads.values():
            thread.shutdown()

    def _leave(self, runner: str | None) -> None:
        self._worlds[runner].result().__exit__()

    def _carry_out(self, runner: str | None, attacks: Sequence[Attack]) -> dict[str, Seen]:
        return self._worlds[runner].result().carry_out(attacks)


@pytest.fixture(scope="module")
def worlds(request: pytest.FixtureRequest) -> Generator[Worlds]:
    """The worlds, at work on the selected attacks; those that need the host alone come later."""
    worlds = Worlds()
    chosen: dict[str, list[Attack]] = {backend: [] for backend in BACKENDS}
    for item in request.session.items:
        if isinstance(item, pytest.Function) and item.path == request.path and _chosen(item):
            attack = item.callspec.params["attack"]
            assert isinstance(attack, Attack)
            if not attack.heavy and attack.needs in {"", _USER}:
                chosen[str(item.callspec.params["backend"])].append(attack)
    controlled = {attack.id: attack for attacks in chosen.values() for attack in attacks}
    worlds.begin(None, [attack for attack in controlled.values() if not attack.no_control])
    for backend, attacks in chosen.items():
        worlds.begin(backend, attacks)
    yield worlds
    worlds.close()


def _chosen(item: pytest.Function) -> bool:
    return hasattr(item, "callspec") and "attack" in item.callspec.params


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("attack", ATTACKS, ids=lambda attack: attack.id)
def test_an_attempt_ends_as_the_list_says(attack: Attack, backend: str, worlds: Worlds) -> None:
    if attack.needs not in {"", _USER}:
        pytest.skip(f"only for {attack.needs}: {attack.excuse}")
    if not attack.no_control:
        control = worlds.seen(None, attack)
        assert control.started, control.output
        if not control.breached:
            assert attack.excuse, f"the control does not breach: {control.output}"
            pytest.skip(f"plain bash does not get through here: {attack.excuse}")
    seen = worlds.seen(backend, attack)
    if words := attack.refused.get(backend):
        assert (seen.started, seen.breached, words in seen.output) == (False, False, True)
        return
    assert seen.started, seen.output
    assert seen.breached == (backend in attack.not_held), seen.output
