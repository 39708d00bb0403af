"""Looking at an engine's containers from outside."""

import json
import time
from collections.abc import Mapping, Sequence
from http import HTTPStatus
from typing import cast
from urllib.parse import quote

from engines import Engine

_MINE = "dev.nacre=1"
# Podman fails to list its containers while one of them goes.
_TRIES = 20


def containers(engine: Engine) -> list[dict[str, object]]:
    """Those of nacre's, running or not."""
    wanted = quote(json.dumps({"label": [_MINE]}))
    path = f"/v1.40/containers/json?all=1&filters={wanted}"
    tries = 1
    while (answer := engine.ask("GET", path)).status != HTTPStatus.OK and tries < _TRIES:
        tries += 1
    assert answer.status == HTTPStatus.OK, answer.body
    return cast("list[dict[str, object]]", json.loads(answer.body))


def names(engine: Engine) -> list[str]:
    return [str(each["Id"]) for each in containers(engine)]


def none_left(engine: Engine, within: float, *, but: tuple[str, ...] = ()) -> None:
    deadline = time.monotonic() + within
    while left := [name for name in names(engine) if name not in but]:
        assert time.monotonic() < deadline, left


def kill(engine: Engine, name: str) -> None:
    assert engine.ask("POST", f"/v1.40/containers/{name}/kill").status == 204


def made(
    engine: Engine,
    command: Sequence[str] = ("sleep", "600"),
    environ: Sequence[str] = (),
    labels: Mapping[str, str] | None = None,
    **host: object,
) -> str:
    """A container that somebody else made and runs."""
    wanted = {
        "Image": engine.image,
        "Cmd": command,
        "Env": environ,
        "Labels": labels or {},
        "StopTimeout": 0,
        "HostConfig": {"NetworkMode": "none", **host},
    }
    body = json.dumps(wanted).encode()
    answer = engine.ask("POST", "/v1.40/containers/create", body, kind="application/json")
    assert answer.status == 201, answer.body
    name = cast("str", json.loads(answer.body)["Id"])
    assert engine.ask("POST", f"/v1.40/containers/{name}/start").status == 204
    return name


def runs(engine: Engine, name: str) -> bool:
    answer = engine.ask("GET", f"/v1.40/containers/{name}/json")
    return answer.status == 200 and bool(json.loads(answer.body)["State"]["Running"])


def remove(engine: Engine, name: str) -> None:
    engine.ask("DELETE", f"/v1.40/containers/{name}?force=1")
