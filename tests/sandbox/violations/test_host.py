"""What this host lets its user do, asked for real."""

import os
import socket
import subprocess
from pathlib import Path

import pytest

from nacre.sandbox.violations.host import ThisHost

HOST = ThisHost()


def test_a_file_that_is_there_may_be_read_and_written(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_text("x")
    assert HOST.exists(str(file))
    assert HOST.may(str(file), os.R_OK | os.W_OK)
    assert HOST.owns(str(file))
    assert not HOST.is_folder(str(file))
    assert HOST.is_folder(str(tmp_path))


def test_what_is_not_there_may_not_be_anything(tmp_path: Path) -> None:
    nowhere = str(tmp_path / "nowhere")
    assert not HOST.exists(nowhere)
    assert not HOST.may(nowhere, os.R_OK)
    assert not HOST.owns(nowhere)


@pytest.mark.needs("ordinary-user")
def test_unix_permissions_count(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.touch(0o400)
    assert HOST.may(str(file), os.R_OK)
    assert not HOST.may(str(file), os.W_OK)
    assert not HOST.may("/etc", os.W_OK)
    assert not HOST.owns("/etc")
    assert not HOST.owns_process(1)


@pytest.mark.parametrize("path", ["/x\0y", "", "/" + "a" * 5000, "/a/" * 3000, "/\udcff"])
def test_no_path_is_too_odd_to_ask_about(path: str) -> None:
    assert not HOST.exists(path)
    assert not HOST.may(path, os.R_OK)
    assert not HOST.is_socket(path)
    assert isinstance(HOST.real(path), str)


def test_a_pipe_that_nobody_reads_does_not_hold_it_up(tmp_path: Path) -> None:
    os.mkfifo(pipe := str(tmp_path / "pipe"))
    assert HOST.exists(pipe)
    assert HOST.may(pipe, os.W_OK)
    assert not HOST.is_socket(pipe)


def test_links_in_a_circle_lead_nowhere(tmp_path: Path) -> None:
    (tmp_path / "a").symlink_to("b")
    (tmp_path / "b").symlink_to("a")
    assert HOST.exists(str(tmp_path / "a"))
    assert not HOST.is_folder(str(tmp_path / "a"))


def test_it_knows_where_a_link_leads(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to("/etc")
    assert HOST.real(str(tmp_path / "link/new")) == os.path.realpath("/etc") + "/new"


def test_a_port_is_listened_on_as_long_as_someone_does() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        assert HOST.listens(port)
    assert not HOST.listens(port)


def test_a_unix_socket_is_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)  # the path of a socket may have 107 characters
    with socket.socket(socket.AF_UNIX) as server:
        server.bind("s")
        assert HOST.is_socket(str(tmp_path / "s"))


def test_its_own_process_could_be_signalled_and_one_that_is_gone_could_not() -> None:
    with subprocess.Popen(["true"]) as process:
        process.wait()
    assert HOST.owns_process(os.getpid())
    assert not HOST.owns_process(process.pid)
    assert not HOST.owns_process(1)


def test_numbers_of_the_kernel_are_read_or_not_known() -> None:
    assert HOST.setting("kernel/pid_max") is not None
    assert HOST.setting("kernel/nonsense") is None
