"""The engines that the tests of containers are given, and what is left of them."""

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import cast

import pytest

import engines
from engines import Engine
from processes import alive, come_blocking, gone_blocking, tag


def _run(engine: Engine, image: str, *words: str) -> str:
    """Start a container, and give its id."""
    wanted = {
        "Image": image,
        "Cmd": words,
        "StopTimeout": 0,
        "HostConfig": {"NetworkMode": "none"},
    }
    made = engine.ask(
        "POST", "/v1.40/containers/create", json.dumps(wanted).encode(), kind="application/json"
    )
    assert made.status == 201, made.body
    name = cast("str", json.loads(made.body)["Id"])
    started = engine.ask("POST", f"/v1.40/containers/{name}/start")
    assert started.status == 204, started.body
    return name


def _code(engine: Engine, name: str) -> int:
    """Wait for a container's end."""
    ended = engine.ask("POST", f"/v1.40/containers/{name}/wait")
    return cast("int", json.loads(ended.body)["StatusCode"])


def test_an_engine_answers_on_its_socket(engine: Engine) -> None:
    assert engine.ask("GET", "/_ping").body == b"OK"


def test_an_engine_has_both_images(engine: Engine) -> None:
    for image in (engine.image, engine.bashless):
        assert engine.ask("GET", f"/v1.40/images/{image}/json").status == 200


def test_one_image_has_bash_and_the_other_has_not(engine: Engine) -> None:
    script = ("sh", "-c", "command -v bash")
    assert _code(engine, _run(engine, engine.image, *script)) == 0
    assert _code(engine, _run(engine, engine.bashless, *script)) == 127


@pytest.mark.parametrize("end", [Engine.stop, Engine.kill])
def test_an_engine_of_ones_own_can_be_ended(
    own_engine: Engine, end: Callable[[Engine], None]
) -> None:
    end(own_engine)
    with pytest.raises(OSError, match=r"refused|No such file"):
        own_engine.ask("GET", "/_ping")


@pytest.mark.parametrize("how", ["stopped", "killed"])
@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.needs(name)) for name in engines.NAMES]
)
def test_nothing_is_left_of_an_engine(name: str, how: str) -> None:
    mark = tag()
    with engines.start(name) as engine:
        _run(engine, engine.image, "bash", "-c", f"sleep {mark}; true")
        come_blocking(mark)
        if how == "stopped":
            engine.stop()
        elif how == "killed":
            engine.kill()
    gone_blocking(mark)
    assert not engine.folder.exists()
    assert not alive(str(engine.folder))
    assert str(engine.folder) not in Path("/proc/self/mountinfo").read_text("utf-8")
    with pytest.raises(ProcessLookupError):
        os.kill(engine.pid, 0)
