"""What `nacre doctor` finds of engines, and that its attempts come through where nothing holds them."""

import json
from pathlib import Path
from typing import cast

from containers.seen import containers, made, remove
from engines import Engine
from hosts import nacre
from nacre.cli.diagnosis.inside import attempts_of, script

_LIMITS = {"memory_limit", "process_limit"}
_TRIED = {
    "kernel_calls", "privileges", "protected", "read", "tcp", "udp", "view_of_others", "write",
    *_LIMITS,
}  # fmt: skip


def _engines(host: str, state: Path) -> list[dict[str, object]]:
    done = nacre("doctor", "--json", state=state, variables={"DOCKER_HOST": host})
    assert (done.code, done.err) == (0, "")
    return cast("list[dict[str, object]]", json.loads(done.out)["engines"])


def test_an_engine_is_tried_and_nothing_is_left_there(engine: Engine, state: Path) -> None:
    found = _engines(engine.host, state)[0]
    product = "docker" if engine.name == "dockerd" else "podman"
    assert (found["address"], found["product"], found["works"]) == (engine.host, product, True)
    rootless = engine.name == "rootless-podman"
    assert found["rootless"] == rootless
    probed = cast("dict[str, str]", found["probed"])
    # This rootless engine takes limits, and ignores them.
    ignored = _LIMITS if rootless else set[str]()
    assert {name for name, how in probed.items() if how == "held"} == _TRIED - ignored
    assert {name for name, how in probed.items() if how == "open"} == ignored
    enforced = cast("dict[str, str]", found["enforced"])
    assert {name for name in _LIMITS if enforced[name] == "none"} == ignored
    assert found["contradictions"] == []
    assert b"nacre-doctor" not in engine.ask("GET", "/v1.40/images/json").body
    assert containers(engine) == []


def test_an_engine_that_does_not_answer_is_told_with_the_reason(
    tmp_path: Path, state: Path
) -> None:
    host = f"unix://{tmp_path}/none.sock"
    found = _engines(host, state)[0]
    assert (found["address"], found["works"], found["product"]) == (host, False, None)
    assert "no engine answers" in str(found["why_not"])


def test_each_attempt_comes_through_in_a_container_that_is_held_to_nothing(engine: Engine) -> None:
    # As if its first process were another one's.
    words = ["sh", "-c", 'bash -c "$SCRIPT"; true']
    environ = ["SECRET=/bin/bash", "PROCESSES=8", f"SCRIPT={script()}"]
    name = made(
        engine,
        command=words,
        environ=environ,
        NetworkMode="host",
        SecurityOpt=["seccomp=unconfined"],
    )
    try:
        engine.ask("POST", f"/v1.40/containers/{name}/wait")
        said = engine.ask("GET", f"/v1.40/containers/{name}/logs?stdout=1&stderr=1").body
    finally:
        remove(engine, name)
    # What was said comes in frames, each with a head of eight bytes.
    lines = b"\n".join(line[8:] if line[:1] == b"\1" else line for line in said.splitlines())
    tried = attempts_of(lines)
    assert set(tried) == _TRIED - {"protected"}
    assert {name for name, went in tried.items() if not went} == set()
