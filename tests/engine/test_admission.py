"""Calls wait their turn in a host that may have few descriptors."""

import subprocess
from pathlib import Path

import pytest

from hosts import Finished, start_host

_LIMITED = """
import os, resource, threading, anyio
from nacre import Bash, CancelToken, ToolContext
resource.setrlimit(resource.RLIMIT_NOFILE, ({soft}, resource.getrlimit(resource.RLIMIT_NOFILE)[1]))
"""


def _run(code: str, state: Path, soft: int = 128) -> Finished:
    lines = _LIMITED.format(soft=soft).strip().splitlines() + code.splitlines()
    host = start_host("\n".join(line.removeprefix("    ") for line in lines), state, stderr=subprocess.PIPE)  # fmt: skip
    out, err = host.communicate(timeout=60)
    return Finished(code=host.returncode, out=out.decode(), err=err.decode())


@pytest.mark.parametrize("backend", ["asyncio", "trio"])
@pytest.mark.parametrize("background", [False, True])
def test_more_calls_than_there_are_descriptors_for_all_succeed(
    state: Path, backend: str, *, background: bool
) -> None:
    """Also if each comes to need one more, for its spill, or becomes a job."""
    done = _run(
        f"""
    async def main():
        said = []
        async with Bash(sandbox="none", on_timeout="background") as tool:
            async def call(number):
                script = f"sleep 0.1; seq 20000; echo {{number}}"
                arguments = {{"command": script, "background": {background}}}
                reply = await tool.call("Bash", arguments)
                if {background}:
                    job = {{"id": reply.details["id"], "wait_for": "exit"}}
                    reply = await tool.call("BashOutput", job)
                said.append(not reply.is_error and f"{{number}}" in reply.text.splitlines()[-2:])
            async with anyio.create_task_group() as tasks:
                for number in range(150):
                    tasks.start_soon(call, number)
        print(len(said), all(said))
    anyio.run(main, backend="{backend}")
    """,
        state,
    )
    assert done == Finished(code=0, out="150 True\n", err="")


def test_calls_from_many_threads_wait_for_each_other(state: Path) -> None:
    """Each has an event loop of its own, which costs descriptors as well."""
    done = _run(
        """
    said = []
    with Bash(sandbox="none") as tool:
        def call(number):
            said.append(tool.call_sync("Bash", {"command": f"sleep 0.1; echo {number}"}).text)
        threads = [threading.Thread(target=call, args=(number,)) for number in range(25)]
        [thread.start() for thread in threads]
        [thread.join() for thread in threads]
    print(sorted(map(int, said)) == list(range(25)))
    """,
        state,
    )
    assert done == Finished(code=0, out="True\n", err="")


def test_a_call_that_waits_for_its_turn_can_be_cancelled_and_given_up(state: Path) -> None:
    done = _run(
        """
    async def main():
        ended = []
        async with Bash(sandbox="none") as tool:
            async def call(name, seconds, token=None):
                context = ToolContext(working_dir=".", cancel=token)
                reply = await tool.call("Bash", {"command": f"touch ran-{name}; sleep {seconds}"}, context)
                ended.append((name, reply.details["outcome"]))
            async with anyio.create_task_group() as long:
                for _ in range(60):
                    long.start_soon(call, "long", 30)
                await anyio.sleep(0.3)
                token = CancelToken()
                with anyio.fail_after(5):
                    async with anyio.create_task_group() as waiting:
                        waiting.start_soon(call, "cancelled", 0, token)
                        with anyio.move_on_after(0.3):
                            await call("given up", 0)
                        token.cancel()
                print(ended, os.path.exists("ran-cancelled"))
                long.cancel_scope.cancel()
            ended.clear()
            with anyio.fail_after(5):
                await call("next", 0)
            print(ended)
    os.chdir(os.environ["NACRE_STATE"])
    anyio.run(main)
    """,
        _made(state),
    )
    out = "[('cancelled', 'stopped')] False\n[('next', 'exited')]\n"
    assert done == Finished(code=0, out=out, err="")


def test_a_host_that_has_used_up_its_descriptors_is_told_and_nothing_runs(state: Path) -> None:
    done = _run(
        """
    with Bash(sandbox="none") as tool:
        print(tool.call_sync("Bash", {"command": "echo before"}).text)
        held = []
        try:
            while True:
                held.append(os.dup(0))
        except OSError:
            for _ in range(10):
                os.close(held.pop())
        reply = tool.call_sync("Bash", {"command": "echo ran"})
        print(reply.text, reply.details["outcome"])
        while held:
            os.close(held.pop())
        print(tool.call_sync("Bash", {"command": "echo after"}).text)
    """,
        state,
    )
    told = (
        "[not started: this process has nearly as many files open as it may have (128);"
        " close some, or raise the limit (ulimit -n)] unstarted"
    )
    assert done == Finished(code=0, out=f"before\n{told}\nafter\n", err="")


def _made(folder: Path) -> Path:
    folder.mkdir()
    return folder
