"""Rooms: what launches in one share, how long it lives, and what it must be to serve at all."""

import os
import stat
import sys
from collections.abc import Callable, Generator, Sequence
from pathlib import Path
from typing import NamedTuple

import pytest

from hosts import finish, start_host
from nacre import Bash, Reply
from nacre.errors import WardenError
from nacre.model.launch import Hold, Room
from nacre.process import rooms as module
from nacre.process.afresh import require_files
from nacre.process.rooms import Rooms
from nacre.sandbox.bubblewrap import own_python
from nacre.sandbox.probe import probe_bwrap
from process.runs import Said, launch, linked, run
from processes import alive, gone_blocking, kill_all, tag

pytestmark = pytest.mark.needs("bubblewrap")

# The kernel gives the number of a namespace that is gone to the next one; its first process
# began at another time.
WHICH_ROOM = "readlink /proc/self/ns/mnt; cut -d ' ' -f 22 /proc/1/stat"


class Place(NamedTuple):
    """A tool that uses rooms, with its workspace."""

    tool: Bash
    workspace: Path

    def bash(self, script: str, **more: object) -> Reply:
        return self.tool.call_sync("Bash", {"command": script, **more})

    def job(self, script: str) -> str:
        reply = self.bash(script, background=True)
        assert reply.details is not None, reply.text
        return str(reply.details["id"])

    def poll(self, job: str, **more: object) -> Reply:
        return self.tool.call_sync("BashOutput", {"id": job, "timeout": 20, **more})


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Generator[Place]:
    workspace, state = tmp_path_factory.mktemp("workspace"), tmp_path_factory.mktemp("state")
    with Bash(workspace=workspace, state=state, sandbox="bubblewrap") as tool:
        yield Place(tool, workspace)


def test_calls_of_one_room_share_its_tmp_and_its_processes(place: Place) -> None:
    mark = tag()
    place.bash(f"echo {mark} > /tmp/note; echo {mark} > /var/tmp/note2; echo shared > /dev/shm/x")
    assert place.bash("cat $TMPDIR/note /tmp/note2 /dev/shm/x").text == f"{mark}\n{mark}\nshared"
    assert not Path("/tmp/note").exists()
    job = place.job(f"sleep {mark}")
    assert place.bash(f"pgrep -fc '^sleep {mark}'").text == "1"
    place.tool.call_sync("KillBash", {"id": job})


def test_a_job_is_listed_and_stopped_with_all_it_started(place: Place) -> None:
    mark = tag()
    job = place.job(f"(setsid sleep {mark} &); echo up; sleep {mark}")
    assert "up" in place.poll(job, wait_for="up").text
    assert f"{job}  running" in place.tool.call_sync("Jobs", {}).text
    assert len(alive(f"sleep\0{mark}")) == 2
    reply = place.tool.call_sync("KillBash", {"id": job})
    assert f"[job {job} stopped]" in reply.text
    assert alive(f"sleep\0{mark}") == []


def test_a_job_is_stopped_although_its_shell_shed_its_mark(place: Place) -> None:
    mark = tag()
    job = place.job(f"ulimit -x 77; echo up; while :; do sleep {mark}; done")
    place.poll(job, wait_for="up")
    try:
        reply = place.tool.call_sync("KillBash", {"id": job})
        assert f"[job {job} stopped]" in reply.text
        gone_blocking(f"sleep\0{mark}")
    finally:
        kill_all(f"sleep\0{mark}")


def test_a_port_and_a_file_inside_are_waited_for(place: Place) -> None:
    """Nothing listens there outside, and the file is in the private /tmp."""
    server = (
        "import socket, sys; s = socket.create_server(('127.0.0.1', 0));"
        " print('port', s.getsockname()[1], flush=True); open('/tmp/here', 'w').close();"
        " sys.stdin.read(); import time; time.sleep(99)"
    )
    job = place.job(f'{sys.executable} -c "{server}"')
    said = place.poll(job, wait_for={"regex": r"port \d+"}).text
    port = int(said.partition("port ")[2].split()[0])
    assert f"[port {port} accepts connections]" in place.poll(job, wait_for={"port": port}).text
    assert "[/tmp/here exists]" in place.poll(job, wait_for={"file": "/tmp/here"}).text
    assert "[nothing new]" in place.poll(job, wait_for={"file": "/tmp/absent"}, timeout=0.05).text
    place.tool.call_sync("KillBash", {"id": job})


@pytest.fixture
def own(workspace: Path, state: Path) -> Generator[Callable[..., Place]]:
    made: list[Bash] = []

    def make(*, deny_read: Sequence[str] = (), protect: Sequence[str] = ()) -> Place:
        made.append(
            Bash(
                workspace=workspace,
                state=state,
                sandbox="bubblewrap",
                deny_read=deny_read,
                protect=protect,
            )
        )
        return Place(made[-1], workspace)

    yield make
    for tool in made:
        tool.close()


def test_a_room_ends_with_its_tool(own: Callable[..., Place]) -> None:
    place = own()
    mark = tag()
    place.poll(place.job(f"setsid sleep {mark} & echo up; wait"), wait_for="up")
    launchers = f"\0{place.workspace}\0"
    assert alive(launchers)
    place.tool.close()
    assert alive(f"sleep\0{mark}") == []
    gone_blocking(launchers)


def test_a_host_has_no_child_left_when_its_tool_with_a_room_is_closed(
    workspace: Path, state: Path
) -> None:
    """Not even one that has ended: the warden outside ends a moment after the room."""
    host = start_host(
        f"""
        import threading
        from nacre import Bash
        with Bash(workspace={str(workspace)!r}, sandbox="bubblewrap") as tool:
            tool.call_sync("Bash", {{"command": "true"}})
        children = f"/proc/self/task/{{threading.get_native_id()}}/children"
        print("left:", open(children).read())
        """,
        state,
    )
    out, _ = host.communicate(timeout=60)
    assert out == b"left: \n"


def test_a_killed_host_leaves_nothing_of_its_rooms(workspace: Path, state: Path) -> None:
    mark = tag()
    host = start_host(
        f"""
        import sys
        from nacre import Bash
        tool = Bash(workspace={str(workspace)!r}, sandbox="bubblewrap")
        script = "setsid sleep {mark} & sleep {mark}"
        print(tool.call_sync("Bash", {{"command": script, "background": True}}).text, flush=True)
        tool.call_sync("Bash", {{"command": "sleep {mark}"}})
        """,
        state,
    )
    try:
        assert host.stdout is not None
        assert b"was started" in host.stdout.readline()
        assert alive(f"\0{workspace}\0")
        finish(host)
        gone_blocking(f"sleep\0{mark}")
        gone_blocking(f"\0{workspace}\0")
    finally:
        kill_all(f"sleep\0{mark}")


def test_a_denied_file_that_is_replaced_stays_denied(own: Callable[..., Place]) -> None:
    place = own(deny_read=["secret"])
    secret = place.workspace / "secret"
    secret.write_text("first")
    assert "first" not in place.bash("cat secret").text
    before = place.bash(WHICH_ROOM).text
    other = place.workspace / "other"
    other.write_text("second")
    other.replace(secret)  # now the mount that hid it is gone, in every namespace
    assert "second" not in place.bash("cat secret").text
    after = place.bash(WHICH_ROOM).text
    assert before != after
    assert place.bash(WHICH_ROOM).text == after


def test_a_denied_path_that_comes_to_be_is_denied(own: Callable[..., Place]) -> None:
    place = own(deny_read=["later"])
    place.bash("true")
    folder = place.workspace / "later"
    folder.mkdir()
    (folder / "key").write_text("opened")
    assert "opened" not in place.bash("ls later; cat later/key").text


def test_a_protected_folder_that_is_replaced_stays_protected(own: Callable[..., Place]) -> None:
    memo = own().workspace / "memo"
    memo.mkdir()
    (memo / "note").write_text("kept")
    place = own(protect=["memo"])
    assert place.bash("echo x > memo/note").is_error
    memo.rename(memo.with_name("old"))
    memo.mkdir()
    (memo / "note").write_text("kept")
    assert place.bash("echo x > memo/note").is_error
    assert place.bash("echo y > memo/other").is_error
    assert [path.name for path in memo.iterdir()] == ["note"]
    assert (memo / "note").read_text() == "kept"


def test_a_job_lives_on_in_its_room_when_another_is_opened(own: Callable[..., Place]) -> None:
    place = own(deny_read=["secret"])
    secret = place.workspace / "secret"
    secret.write_text("first")
    job = place.job("until [ -e go ]; do sleep 0.02; done; echo went")
    (place.workspace / "other").write_text("second")
    (place.workspace / "other").replace(secret)
    place.bash("touch go")
    assert "went" in place.poll(job, wait_for="exit").text


# -- rooms without a sandbox around them -------------------------------------


def made_of(*words: str, expected: tuple[str, ...] = ()) -> Room:
    """A room that is told from others by its words."""
    bwrap, _ = probe_bwrap(())
    assert bwrap is not None
    shown = [word for path in own_python() for word in ("--ro-bind", str(path), str(path))]
    argv = (bwrap, "--unshare-user", "--unshare-pid", "--die-with-parent", "--ro-bind", "/", "/")
    return Room(
        argv=(*argv, "--dev", "/dev", "--proc", "/proc", *shown, *words, "--"), expected=expected
    )


@pytest.fixture(scope="module")
def rooms() -> Generator[Rooms]:
    with linked() as outside:
        made = Rooms(outside)
        yield made
        made.close()


def inside(rooms: Rooms, room: Room, script: str) -> Said:
    return run(rooms.link(room), launch(script, Hold(room=room)))


def word(path: Path, wanted: str = "=", number: int | None = None) -> str:
    file = path.lstat()
    return f"{wanted}{file.st_dev}:{number or file.st_ino}:{path}"


def test_a_room_serves_if_it_is_what_it_was_meant_to_be(rooms: Rooms, tmp_path: Path) -> None:
    expected = (word(tmp_path), word(Path("/etc/passwd"), "!", 1), f"!1:1:{tmp_path}/absent")
    assert inside(rooms, made_of(expected=expected), "echo $$ served").text.endswith(" served\n")


@pytest.mark.parametrize("how", ["another is there", "it is there", "nothing is there"])
def test_a_room_that_is_another_does_not_serve(rooms: Rooms, tmp_path: Path, how: str) -> None:
    expected = {
        "another is there": word(tmp_path, "=", 1),
        "it is there": word(tmp_path, "!"),
        "nothing is there": f"=1:1:{tmp_path}/absent",
    }[how]
    room = made_of(expected=(expected,))
    with pytest.raises(WardenError):
        inside(rooms, room, "true")
    with pytest.raises(SystemExit, match=r"the room was not made as planned: .* is another file"):
        require_files([expected])
    assert "the room was not made as planned" in rooms.link(room).last_words()


def test_a_link_in_the_way_is_another_file(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    expected = word(tmp_path / "folder")
    (tmp_path / "folder").rename(tmp_path / "moved")
    (tmp_path / "folder").symlink_to("moved")
    assert stat.S_ISDIR(os.stat(tmp_path / "folder").st_mode)
    with pytest.raises(SystemExit):
        require_files([expected])


def test_a_room_is_reused_and_gives_way_to_one_with_the_same_words(
    rooms: Rooms, tmp_path: Path
) -> None:
    mark = tag()
    for name in ("older", "younger"):
        (tmp_path / f"{name}{mark}").mkdir()
    older, younger = (
        made_of("--setenv", "TAG", mark, expected=(word(tmp_path / f"{name}{mark}"),))
        for name in ("older", "younger")
    )
    first = inside(rooms, older, WHICH_ROOM).text
    assert inside(rooms, older, WHICH_ROOM).text == first
    assert alive(f"older{mark}")
    assert inside(rooms, younger, WHICH_ROOM).text != first
    gone_blocking(f"older{mark}")
    assert alive(f"younger{mark}")


def test_the_longest_unused_of_too_many_ends(rooms: Rooms, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_MOST_ROOMS", 2)
    marks = [tag() for _ in range(3)]
    first, second, third = (made_of("--setenv", "TAG", mark) for mark in marks)
    for room in (first, second, first, third):
        inside(rooms, room, "true")
    gone_blocking(marks[1])
    assert alive(marks[0])
    assert alive(marks[2])


def test_a_room_that_cannot_be_made_says_why(rooms: Rooms) -> None:
    room = made_of("--ro-bind", "/nowhere/at/all", "/mnt")
    with pytest.raises(WardenError):
        inside(rooms, room, "true")
    assert "/nowhere/at/all" in rooms.link(room).last_words()
