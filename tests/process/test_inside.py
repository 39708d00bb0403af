"""Looking into the namespaces of a process from outside."""

import os
import socket
import subprocess
import sys
from collections.abc import Generator
from pathlib import Path
from typing import NamedTuple

import pytest

from nacre.process.inside import listens_inside, path_inside
from nacre.sandbox.probe import probe_bwrap
from processes import alive, tag

_CODE = """
import socket, sys
four = socket.create_server(("127.0.0.1", 0))
six = socket.create_server(("::1", 0), family=socket.AF_INET6)
client = socket.create_connection(four.getsockname())
open("/tmp/made", "w").close()
print(*(each.getsockname()[1] for each in (four, six, client)), flush=True)
sys.stdin.read()
"""


class Inside(NamedTuple):
    """A process in namespaces of its own, with the ports it listens on, and one it only has."""

    pid: int
    four: int
    six: int
    client: int


@pytest.fixture(scope="module")
def inside() -> Generator[Inside]:
    bwrap, _ = probe_bwrap(())
    assert bwrap is not None
    mark = tag()
    words = [bwrap, "--unshare-user", "--unshare-net", "--ro-bind", "/", "/", "--tmpfs", "/tmp"]
    words += ["--ro-bind-try", sys.prefix, sys.prefix, "--proc", "/proc", "--die-with-parent"]
    process = subprocess.Popen(
        [*words, os.path.realpath(sys.executable), "-IS", "-c", _CODE, mark],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    assert process.stdin is not None
    assert process.stdout is not None
    with process, process.stdin, process.stdout:
        ports = map(int, process.stdout.readline().split())
        (pid,) = [
            pid
            for pid in alive(mark)
            if "python" in os.path.basename(os.readlink(f"/proc/{pid}/exe"))
        ]
        yield Inside(pid, *ports)
        process.stdin.close()


@pytest.mark.needs("bubblewrap")
def test_a_port_is_seen_exactly_if_something_listens_there_inside(inside: Inside) -> None:
    assert listens_inside(inside.pid, inside.four) is True
    assert listens_inside(inside.pid, inside.six) is True
    assert listens_inside(inside.pid, inside.client) is False
    with socket.create_server(("127.0.0.1", 0)) as ours:
        port = ours.getsockname()[1]
        assert listens_inside(inside.pid, port) is (port in {inside.four, inside.six})


@pytest.mark.needs("bubblewrap")
def test_a_file_is_seen_where_the_process_has_it(inside: Inside) -> None:
    assert path_inside(inside.pid, Path("/"), Path("/tmp/made")).exists()
    assert not path_inside(inside.pid, Path("/"), Path("/tmp/absent")).exists()
    assert path_inside(inside.pid, Path("here"), Path("relative")) == Path("here/relative")


def test_a_process_without_namespaces_of_its_own_is_looked_at_as_ourselves(
    tmp_path: Path,
) -> None:
    assert path_inside(os.getpid(), Path("/"), tmp_path) == tmp_path
    assert listens_inside(os.getpid(), 1) is None


def test_a_process_that_is_gone_is_no_way_into_anywhere(tmp_path: Path) -> None:
    ended = subprocess.Popen(["true"])
    ended.wait()
    assert path_inside(ended.pid, Path("/"), tmp_path) == tmp_path
    assert listens_inside(ended.pid, 1) is None
