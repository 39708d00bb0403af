"""Several worlds at work at once, each in a thread of its own."""

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait

import pytest

from attacks.attack import Attack
from attacks.world import Seen, World

__all__ = ("Worlds", "chosen", "control", "skip_others")

_USER = "root" if os.getuid() == 0 else "ordinary-user"


class Worlds:
    """A world for each runner, in a thread of its own: what one is told to try, it tries in turn.

    Plain bash, the runner None, is always among them.
    """

    def __init__(self, makers: Mapping[str, Callable[[], World]]) -> None:
        made: dict[str | None, Callable[[], World]] = {None: lambda: World(None), **makers}
        self._threads = {runner: ThreadPoolExecutor(1) for runner in made}
        self._worlds = {
            runner: thread.submit(made[runner]) for runner, thread in self._threads.items()
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

    def begin_all(self, chosen: Mapping[str, Sequence[Attack]]) -> None:
        """Have attempts made under several runners, and by plain bash; the heavy ones come later."""
        light = {
            runner: [each for each in attacks if not each.heavy and each.needs in {"", _USER}]
            for runner, attacks in chosen.items()
        }
        every = {each.id: each for attacks in light.values() for each in attacks}
        self.begin(None, [each for each in every.values() if not each.no_control])
        for runner, attacks in light.items():
            self.begin(runner, attacks)

    def seen(self, runner: str | None, attack: Attack) -> Seen:
        """What came of an attempt by plain bash (None), or under a backend."""
        if attack.heavy:
            # One user's processes are counted together: a bomb of one world starves the others.
            wait(self._seen.values())
        self.begin(runner, [attack])
        return self._seen[runner, attack.id].result()[attack.id]

    def close(self) -> None:
        """End them."""
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


def chosen(request: pytest.FixtureRequest, parameter: str) -> dict[str, list[Attack]]:
    """The attacks of a module's selected tests, by the runner that a parameter of theirs names."""
    found: dict[str, list[Attack]] = {}
    for item in request.session.items:
        if isinstance(item, pytest.Function) and item.path == request.path and _is_attack(item):
            attack = item.callspec.params["attack"]
            assert isinstance(attack, Attack)
            found.setdefault(str(item.callspec.params[parameter]), []).append(attack)
    return found


def _is_attack(item: pytest.Function) -> bool:
    return hasattr(item, "callspec") and "attack" in item.callspec.params


def skip_others(attack: Attack) -> None:
    """Skip, in words, what another user is to try."""
    if attack.needs not in {"", _USER}:
        pytest.skip(f"only for {attack.needs}: {attack.excuse}")


def control(attack: Attack, worlds: Worlds) -> None:
    """See that an attempt gets through where nothing holds it; skip what cannot here."""
    if attack.no_control:
        return
    seen = worlds.seen(None, attack)
    assert seen.started, seen.output
    if not seen.breached:
        assert attack.excuse, f"the control does not breach: {seen.output}"
        pytest.skip(f"plain bash does not get through here: {attack.excuse}")
