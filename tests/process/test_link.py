import ctypes
import os
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import anyio
import pytest

import nacre
from hosts import finish, start_host
from nacre.errors import WardenError
from nacre.model.call import Streams
from nacre.process.events import Event, Gone, ShellExited, Started
from nacre.process.link import Link, shared_link
from nacre.process.live import Process
from nacre.process.spawn import spawn
from process.runs import shell

pytestmark = pytest.mark.anyio


async def _events(process: Process) -> list[Event]:
    found: list[Event] = []
    while not found or not isinstance(found[-1], Gone):
        await anyio.wait_readable(process.fileno())
        found += process.events()
    return found


async def test_a_launch_is_started_reaped_and_gone(tmp_path: Path) -> None:
    link = Link()
    link.acquire()
    launch = shell("exit 3", tmp_path, {})
    process = await spawn(link, launch, Streams.MERGED)
    assert await _events(process) == [ShellExited(3 << 8), Gone()]
    process.close()
    link.release()


async def test_a_process_is_named_when_asked_for_also_after_its_end(tmp_path: Path) -> None:
    link = Link()
    link.acquire()
    launch = shell("echo $$", tmp_path, {})
    process = await spawn(link, launch, Streams.MERGED)
    await _events(process)
    process.ask_who()
    await anyio.wait_readable(process.fileno())
    (started,) = process.events()
    assert isinstance(started, Started)
    said = [os.read(pipe, 100) for pipe in process.pipes]
    assert said == [f"{started.pid}\n".encode()]
    process.close()
    link.release()


async def test_a_warden_that_has_marked_enough_calls_is_replaced_and_keeps_its_jobs(
    tmp_path: Path,
) -> None:
    link = Link(most_runs=3)
    link.acquire()
    launch = shell("sleep 60", tmp_path, {})
    processes = [await spawn(link, launch, Streams.MERGED) for _ in range(8)]
    wardens = set[int]()
    for process in processes:
        process.ask_who()
        await anyio.wait_readable(process.fileno())
        (started,) = process.events()
        assert isinstance(started, Started)
        wardens.add(int(Path(f"/proc/{started.pid}/stat").read_text().split()[3]))
        process.close()
    assert len(wardens) == 3
    link.release()
    assert not [pid for pid in wardens if os.path.exists(f"/proc/{pid}")]


async def test_the_last_release_ends_the_warden_and_reaps_it(tmp_path: Path) -> None:
    link = Link()
    link.acquire()
    link.acquire()
    launch = shell("true", tmp_path, {})
    (await spawn(link, launch, Streams.MERGED)).close()
    pid = link._pid
    assert pid is not None
    link.release()
    assert os.path.exists(f"/proc/{pid}")
    link.release()
    assert not os.path.exists(f"/proc/{pid}")
    assert link._pid is None


async def test_a_large_request_arrives_whole(tmp_path: Path) -> None:
    link = Link()
    link.acquire()
    environ = {f"V{number}": "x" * 1000 for number in range(300)}
    launch = shell("exit ${#V299}", tmp_path, environ)
    process = await spawn(link, launch, Streams.MERGED)
    assert await _events(process) == [ShellExited((1000 % 256) << 8), Gone()]
    process.close()
    link.release()


def test_a_process_has_one_link_and_a_forked_child_another() -> None:
    assert shared_link() is shared_link()
    mine = id(shared_link())
    read, write = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.write(write, str(int(id(shared_link()) != mine)).encode())
        os._exit(0)
    os.waitpid(pid, 0)
    assert os.read(read, 1) == b"1"
    os.close(read)
    os.close(write)


def test_a_forked_child_that_exits_does_not_end_its_parents_warden(tmp_path: Path) -> None:
    host = start_host(
        """
        import os, sys
        from nacre import Bash
        tool = Bash()
        tool.call_sync("Bash", {"command": "true"})
        warden = tool._engine._link._pid
        if os.fork() == 0:
            sys.exit(0)  # runs what Python runs at exit
        os.wait()
        print(tool.call_sync("Bash", {"command": "echo fine"}).text)
        print(tool._engine._link._pid == warden, flush=True)
        """,
        tmp_path,
    )
    assert host.stdout is not None
    assert host.stdout.read() == b"fine\nTrue\n"
    finish(host)


@pytest.mark.needs("root")  # others cannot look into a warden
def test_the_warden_holds_nothing_of_its_host(tmp_path: Path) -> None:
    """Not its standard streams, not its sockets, not its environment."""
    host = start_host(
        """
        import os, sys
        from nacre import Bash
        fds = [os.open("/etc/passwd", os.O_RDONLY) for _ in range(3)]
        for fd in fds: os.set_inheritable(fd, True)
        tool = Bash()
        tool.call_sync("Bash", {"command": "true"})
        print(tool._engine._link._pid, flush=True)
        sys.stdin.read()
        """,
        tmp_path,
        SECRET_TOKEN="hunter2",  # noqa: S106
    )
    assert host.stdout is not None
    warden = int(host.stdout.readline())
    held: set[str] = set()
    for fd in os.listdir(f"/proc/{warden}/fd"):
        with suppress(FileNotFoundError):  # it opens and closes some of its own meanwhile
            held.add(os.readlink(f"/proc/{warden}/fd/{fd}"))
    assert held
    assert not [name for name in held if "passwd" in name]
    assert os.readlink(f"/proc/{warden}/fd/1") == "/dev/null"
    assert b"hunter2" not in Path(f"/proc/{warden}/environ").read_bytes()
    assert host.stdin is not None
    host.stdin.close()
    host.wait()
    host.stdout.close()


async def test_the_host_is_not_made_a_subreaper(tmp_path: Path) -> None:
    link = Link()
    link.acquire()
    launch = shell("true", tmp_path, {})
    (await spawn(link, launch, Streams.MERGED)).close()
    flag = ctypes.c_int(-1)
    ctypes.CDLL(None).prctl(37, ctypes.byref(flag), 0, 0, 0)  # PR_GET_CHILD_SUBREAPER
    assert flag.value == 0
    link.release()


def test_the_warden_imports_only_what_it_needs() -> None:
    """Its start is part of the first call: the modules it may load are listed."""
    root = str(Path(nacre.__file__).parents[1])
    code = (
        f"import sys; sys.path.append({root!r}); import nacre.process.warden; print(*sys.modules)"
    )
    done = subprocess.run([sys.executable, "-I", "-S", "-c", code], check=True, capture_output=True)
    found = set(done.stdout.decode().split())
    assert {name for name in found if name.startswith("nacre")} == {
        "nacre",
        "nacre.process",
        "nacre.process.afresh",
        "nacre.process.census",
        "nacre.process.children",
        "nacre.process.descriptors",
        "nacre.process.grip",
        "nacre.process.held",
        "nacre.process.keeper",
        "nacre.process.limits",
        "nacre.process.living",
        "nacre.process.marks",
        "nacre.process.reserve",
        "nacre.process.restricted",
        "nacre.process.spare",
        "nacre.process.spawner",
        "nacre.process.warden",
        "nacre.process.wire",
    }
    heavy = {
        "anyio",
        "asyncio",
        "dataclasses",
        "inspect",
        "logging",
        "pathlib",
        "sqlite3",
        "typing",
    }
    assert found & heavy == set()


def test_a_warden_at_hand_is_there_before_it_is_needed_and_goes_with_its_block() -> None:
    link = Link()
    with link.at_hand():
        warden = int(repr(link).split()[-1].rstrip(">"))
        os.kill(warden, 0)
    with pytest.raises(ProcessLookupError):
        os.kill(warden, 0)
    assert "not started" in repr(link)


def test_one_that_cannot_be_started_is_missed_when_it_is_needed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(sys, "executable", "")
    link = Link()
    with link.at_hand(), pytest.raises(WardenError, match=r"sys\.executable"):
        link.send({}, [])
