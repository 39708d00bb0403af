"""The price of a container: `true` in one that runs, against an exec for each command."""

import os
import time
from collections.abc import Awaitable, Callable
from statistics import median

import anyio

from nacre.cli.benchmarks.row import FailedToRunError, Row, Scale, at_most
from nacre.cli.benchmarks.subject import details_of, opened_tool, temporary_folder
from nacre.container.address import address
from nacre.container.client import open_client
from nacre.container.engine import Engine
from nacre.container.request import LABEL
from nacre.errors import SandboxError

__all__ = ("measure",)

_BAR = 0.1
_WORK = "`true` by call in a container that runs, median, to one exec of it through the SDK"
# An agent needs longer between two calls.
_PAUSE_SECONDS = 0.005


async def measure(scale: Scale) -> list[Row]:
    """Time `true` in a running container against an exec of the engine's, some of each in turn.

    An engine is busy with an exec for a while after it has answered, so they are not mixed. Before
    each there is a pause; calls without any are in the note.
    """
    if not os.environ.get("NACRE_IMAGE"):
        why = "set NACRE_IMAGE to an image that has bash, and have an engine run"
        return [Row(name="container", work=_WORK, measured="-", note=why)]
    found = address(os.environ)
    if found is None:
        return [Row(name="container", work=_WORK, measured="-", note="no engine answers here")]
    rounds, each = scale.of(10, quick=1), 10
    ours: list[float] = []
    theirs: list[float] = []
    hurried: list[float] = []
    with temporary_folder() as folder:
        async with opened_tool("container", folder) as tool:

            async def call() -> None:
                details_of(await tool.call("Bash", {"command": "true"}))

            exec_once = _exec(found, folder)
            for _ in range(rounds):
                theirs += [await _seconds_of(exec_once, _PAUSE_SECONDS) for _ in range(each)]
                ours += [await _seconds_of(call, _PAUSE_SECONDS) for _ in range(each)]
                hurried += [await _seconds_of(call, 0) for _ in range(each)]
    mine, other = median(ours), median(theirs)
    note = (
        f"{mine * 1e3:.2f} ms to {other * 1e3:.2f} ms, each {_PAUSE_SECONDS * 1e3:.0f} ms after the"
        f" last; calls back to back {median(hurried) * 1e3:.2f} ms"
    )
    return [at_most("container", mine / other, _BAR, "x", work=_WORK, note=note)]


def _exec(found: str, folder: str) -> Callable[[], Awaitable[None]]:
    """One exec of `bash -c true`, with its exit code, in the container that has this workspace."""
    api = open_client(found)
    facts = Engine(found).facts()
    for each in api.containers(filters={"label": [f"{LABEL}=1"]}):
        mounts = api.inspect_container(each["Id"])["Mounts"]
        if any(mount["Source"] == os.path.realpath(folder) for mount in mounts):
            name = str(each["Id"])
            break
    else:
        raise SandboxError(f"{facts.product} does not list the container that was just made")

    async def run() -> None:
        made = api.exec_create(name, ["bash", "-c", "true"])
        api.exec_start(made["Id"])
        if api.exec_inspect(made["Id"])["ExitCode"] != 0:
            raise FailedToRunError("`true` has failed in the container")

    return run


async def _seconds_of(run: Callable[[], Awaitable[None]], pause: float) -> float:
    await anyio.sleep(pause)
    began = time.perf_counter()
    await run()
    return time.perf_counter() - began
