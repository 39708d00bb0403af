"""Hosts that do what hosts do: fork, run out of things, are cancelled, nest, die."""

import asyncio
import os
import signal
import subprocess
import sys
from pathlib import Path

from hosts import Finished, finish, start_host
from nacre import Bash, Reply
from processes import descriptors, gone_blocking, journal_open, kill_all, no_more_descriptors, tag


def _detail(reply: Reply, key: str) -> object:
    return (reply.details or {})[key]


def test_a_worker_that_the_host_forked_does_not_keep_a_call_alive(state: Path) -> None:
    mark = tag()
    host = start_host(
        f"""
        import os, sys, threading
        from nacre import Bash
        tool = Bash()
        tool.call_sync("Bash", {{"command": "true"}})
        said = threading.Event()
        def fork(_):
            if not said.is_set():
                said.set()
                if os.fork() == 0:
                    os.read(0, 1)  # a worker that lives on, with all that the host had open
                    os._exit(0)
        script = "echo up; sleep 0.2; setsid sleep {mark} & sleep 0.2"
        tool.call_sync("Bash", {{"command": script}}, on_output=fork)
        print("done", flush=True)
        sys.stdin.read()
        """,
        state,
    )
    try:
        assert host.stdout is not None
        assert host.stdout.readline() == b"done\n"
        gone_blocking(f"sleep\0{mark}")
    finally:
        finish(host)
        kill_all(f"sleep\0{mark}")


def test_a_dead_host_is_noticed_although_a_worker_it_forked_lives(state: Path) -> None:
    mark = tag()
    host = start_host(
        f"""
        import os
        from nacre import Bash
        tool = Bash()
        tool.call_sync("Bash", {{"command": "sleep {mark}", "background": True}})
        worker = os.fork()
        if worker == 0:
            os.read(0, 1)
            os._exit(0)
        print(worker, flush=True)
        os.read(0, 1)
        """,
        state,
    )
    assert host.stdout is not None
    worker = int(host.stdout.readline())
    try:
        host.kill()
        gone_blocking(f"sleep\0{mark}")
    finally:
        os.kill(worker, signal.SIGKILL)
        finish(host)
        kill_all(f"sleep\0{mark}")


def test_a_file_size_limit_of_the_host_costs_output_and_not_the_warden(state: Path) -> None:
    done = _run_host(
        """
        import resource
        resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))
        from nacre import Bash
        with Bash() as tool:
            other = tool.call_sync("Bash", {"command": "sleep 60", "background": True})
            job = tool.call_sync("Bash", {"command": "seq 100000", "background": True})
            reply = tool.call_sync("BashOutput", {"id": job.details["id"], "wait_for": "exit"})
            print("could not be kept: File too large" in reply.text, reply.details["outcome"])
            print(tool.call_sync("BashOutput", {"id": other.details["id"]}).details["outcome"])
        """,
        state,
    )
    assert done == Finished(code=0, out="True exited\nrunning\n", err="")


def test_two_nacres_inside_a_call_leave_each_other_alone(state: Path, workspace: Path) -> None:
    python = f"{sys.executable} -m nacre run --"
    script = f"{python} 'echo begun; sleep 1; echo finished' & {python} 'echo short'; wait"
    with Bash(state=state, workspace=workspace, pass_env=["NACRE_STATE"]) as tool:
        reply = tool.call_sync("Bash", {"command": script})
    assert sorted(reply.text.splitlines()) == ["begun", "finished", "short"]


def test_a_script_that_lowers_the_limit_of_its_mark_is_ended_all_the_same(state: Path) -> None:
    mark = tag()
    with Bash(state=state) as tool:
        tool.call_sync("Bash", {"command": "sleep 60", "background": True})
        tool.call_sync("Bash", {"command": f"(ulimit -x 77; setsid sleep {mark} &); true"})
        tool.call_sync("Bash", {"command": "true"})
        gone_blocking(f"sleep\0{mark}")


def test_a_shell_that_sheds_its_own_mark_is_ended_in_every_way(state: Path) -> None:
    mark = tag()
    script = f"ulimit -x 5; trap '' TERM; echo hi; sleep {mark}; sleep {mark}"
    try:
        with Bash(state=state, on_timeout="kill") as tool:
            tool.call_sync("Bash", {"command": script, "timeout": 0.5})
            gone_blocking(f"sleep\0{mark}")
            job = tool.call_sync("Bash", {"command": script, "background": True})
            stopped = tool.call_sync("KillBash", {"id": _detail(job, "id")})
            assert _detail(stopped, "outcome") == "stopped"
            gone_blocking(f"sleep\0{mark}")
            tool.call_sync("Bash", {"command": script, "background": True})
        gone_blocking(f"sleep\0{mark}")
        host = start_host(
            f"""
            from nacre import Bash
            Bash().call_sync(
                "Bash", {{"command": {script!r}}}, on_output=lambda _: print(flush=True))
            """,
            state,
        )
        assert host.stdout is not None
        host.stdout.readline()
        finish(host)
        gone_blocking(f"sleep\0{mark}")
    finally:
        kill_all(f"sleep\0{mark}")


def test_three_hundred_calls_of_a_killed_host_are_gone_in_time(state: Path) -> None:
    mark = tag()
    host = start_host(
        f"""
        import anyio
        from nacre import Bash
        async def main():
            async with Bash() as tool:
                async with anyio.create_task_group() as tasks:
                    for _ in range(300):
                        script = "sleep {mark} & echo; wait"
                        tasks.start_soon(lambda: tool.call(
                            "Bash", {{"command": script}}, on_output=lambda _: print(flush=True)))
        anyio.run(main)
        """,
        state,
    )
    try:
        assert host.stdout is not None
        for _ in range(300):
            assert host.stdout.readline() == b"\n"
        finish(host)
        gone_blocking(f"sleep\0{mark}")
    finally:
        kill_all(f"sleep\0{mark}")


def test_asyncios_own_cancellation_leaves_no_descriptor_and_no_process(state: Path) -> None:
    mark = tag()

    async def main() -> None:
        async with Bash(state=state) as tool:
            await tool.call("Jobs", {})
            for _ in range(4):  # as many spares wait by then as ever will
                await tool.call("Bash", {"command": "true"})
            await journal_open(state)
            before = descriptors()
            for number in range(40):
                background = {"command": f"sleep {mark}", "background": True}
                task = asyncio.get_running_loop().create_task(tool.call("Bash", background))
                await asyncio.sleep(number / 4000)
                task.cancel()
                await asyncio.wait([task])
                if not task.cancelled():
                    await tool.call("KillBash", {"id": _detail(task.result(), "id")})
            await no_more_descriptors(before)

    asyncio.run(main())
    gone_blocking(f"sleep\0{mark}")


def test_a_host_without_descriptors_does_not_take_a_running_job_for_lost(state: Path) -> None:
    done = _run_host(
        """
        import os, resource
        from nacre import Bash
        with Bash() as tool:
            job = tool.call_sync("Bash", {"command": "sleep 1; exit 7", "background": True})
            job = {"id": job.details["id"]}
            held = []
            soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
            resource.setrlimit(resource.RLIMIT_NOFILE, (64, hard))
            try:
                while True:
                    held.append(os.dup(0))
            except OSError:
                os.close(held.pop()), os.close(held.pop()), os.close(held.pop()), os.close(held.pop())
            try:
                tool.call_sync("BashOutput", job)
            except OSError:
                pass  # not even an event loop can be made
            for fd in held:
                os.close(fd)
            print(tool.call_sync("BashOutput", {**job, "wait_for": "exit"}).details["exit_code"])
        """,
        state,
    )
    assert done == Finished(code=0, out="7\n", err="")


def test_closing_the_tool_during_a_call_stops_the_call(state: Path) -> None:
    done = _run_host(
        """
        import threading
        from nacre import Bash
        tool = Bash()
        threading.Timer(0.5, tool.close).start()
        print(tool.call_sync("Bash", {"command": "echo hi; sleep 60"}).details["outcome"])
        """,
        state,
    )
    assert done == Finished(code=0, out="stopped\n", err="")


def _run_host(code: str, state: Path) -> Finished:
    host = start_host(code, state, stderr=subprocess.PIPE)
    out, err = host.communicate(timeout=60)
    return Finished(code=host.returncode, out=out.decode(), err=err.decode())
