"""What a host gives has to fit together."""

from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from nacre import Bash
from nacre.errors import ConfigError


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (partial(Bash, image="example/tools"), "image='example/tools'"),
        (partial(Bash, container="mine"), "container='mine'"),
    ],
)
def test_an_image_without_its_sandbox_is_refused_in_words(
    workspace: Path, state: Path, given: Callable[..., Bash], said: str
) -> None:
    with pytest.raises(ConfigError) as caught:
        given(workspace=workspace, state=state)
    assert str(caught.value) == (
        f"{said} is of use with sandbox='container' only, and the sandbox is 'auto';"
        " say sandbox='container' too, or leave it out"
    )


def test_a_container_may_be_idle_for_ever(workspace: Path, state: Path) -> None:
    with Bash(
        workspace=workspace,
        state=state,
        sandbox="container",
        image="any",
        idle_timeout=float("inf"),
    ) as tool:
        assert tool.specs()


@pytest.mark.parametrize("spares", [-1, 17, 1.5, "3"])
def test_a_number_of_spares_that_is_none_is_refused_in_words(
    workspace: Path, state: Path, spares: int
) -> None:
    with pytest.raises(ConfigError) as caught:
        Bash(workspace=workspace, state=state, spares=spares)
    assert str(caught.value) == f"spares={spares!r} cannot be used; give a number from 0 to 16"
