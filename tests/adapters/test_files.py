"""File operations as programs: what they do, what stops them, and which exception says so."""

import errno
import os
import stat
import threading
from contextlib import suppress
from pathlib import Path

import anyio
import anyio.to_thread
import pytest

from nacre import Bash, Consent, NacreError, Question, ToolContext
from nacre.adapters.files import (
    Operation,
    listing,
    looking,
    making,
    perform,
    reading,
    removing,
    resolving,
    writing,
)
from nacre.engine.journal import JOURNAL, read_journal
from processes import gone, tag

pytestmark = pytest.mark.anyio

MOST = 1 << 20
NAMES = (
    "a\nb",
    "\n",
    "q'u\"o$(te)`w`",
    "-rf",
    "--",
    "-",
    "*",
    " ",
    "a\\b",
    "~",
    "&& touch wrong",
    "x: No such file or directory",
    "ü",
    os.fsdecode(b"\xff\xfe"),
)


@pytest.fixture
def context(workspace: Path) -> ToolContext:
    return ToolContext(working_dir=workspace)


def looking_on(path: str) -> list[Operation]:
    return [reading(path, most=MOST), looking(path), listing(path)]


def names(said: bytes) -> set[str]:
    return {os.fsdecode(line).split("/", 3)[3] for line in said.split(b"\0") if line}


async def test_whatever_a_name_is_made_of_it_is_that_name(
    tool: Bash, workspace: Path, context: ToolContext
) -> None:
    for name in NAMES:
        # From the working directory, where a leading dash is the first character of the path.
        await perform(tool, writing(name, os.fsencode(name)), context)
    assert {each.name: each.read_bytes() for each in workspace.iterdir()} == {
        name: os.fsencode(name) for name in NAMES
    }
    assert names(await perform(tool, listing("."), context)) == set(NAMES)
    for name in NAMES:
        path = str(workspace / name)
        assert await perform(tool, reading(name, most=MOST), context) == os.fsencode(name)
        assert await perform(tool, resolving(path), context) == os.fsencode(path) + b"\0"
        mode, size = (await perform(tool, looking(path), context)).split()
        assert (stat.S_ISREG(int(mode, 16)), int(size)) == (True, len(os.fsencode(name)))
        await perform(tool, removing(name), context)
        await perform(tool, making(name), context)
    assert all(each.is_dir() for each in workspace.iterdir())
    assert len(list(workspace.iterdir())) == len(NAMES)


async def test_bytes_come_back_as_they_were_written(
    tool: Bash, workspace: Path, context: ToolContext
) -> None:
    data = bytes(range(256)) * 40_000 + b"\0\r\n\xff"
    path = str(workspace / "deep" / "er" / "file")
    await perform(tool, writing(path, data), context)
    assert await perform(tool, reading(path, most=len(data)), context) == data
    await perform(tool, writing(path, b""), context)
    assert await perform(tool, reading(path, most=MOST), context) == b""


async def test_of_a_huge_file_one_byte_more_than_asked_for_is_read(
    tool: Bash, workspace: Path, context: ToolContext
) -> None:
    os.truncate(os.open(workspace / "huge", os.O_CREAT | os.O_WRONLY), 1 << 40)
    said = await perform(tool, reading(str(workspace / "huge"), most=1000), context)
    assert said == bytes(1001)


@pytest.mark.parametrize("sandbox", ["auto", "landlock"])
async def test_no_link_leads_a_change_out_of_the_workspace(
    sandbox: str, workspace: Path, state: Path, context: ToolContext, tmp_path: Path
) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "file").write_bytes(b"kept")
    (workspace / "folder").symlink_to(outside)
    (workspace / "file").symlink_to(outside / "file")
    (workspace / "dangling").symlink_to(outside / "new")
    async with Bash(workspace=workspace, state=state, sandbox=sandbox) as tool:
        for operation in (
            writing("file", b"changed"),
            writing("dangling", b"new"),
            writing("folder/new", b"new"),
            writing("folder/new/er", b"new"),
            making("folder/new"),
            removing("folder/file"),
            writing("../outside/new", b"new"),
        ):
            # A room has a /tmp of its own: there it is no error, and no change of the host's.
            refused = pytest.raises(PermissionError) if sandbox == "landlock" else suppress(OSError)
            with refused:
                await perform(tool, operation, context)
        await perform(tool, removing("folder"), context)
    assert {each.name: each.read_bytes() for each in outside.iterdir()} == {"file": b"kept"}
    assert not (workspace / "folder").is_symlink()


async def test_a_file_of_secrets_is_not_read_through_a_link(
    workspace: Path, state: Path, context: ToolContext, tmp_path: Path
) -> None:
    secret = tmp_path / "secret"
    secret.write_bytes(b"hush")
    (workspace / "notes").symlink_to(secret)
    async with Bash(workspace=workspace, state=state, deny_read=[secret]) as tool:
        with pytest.raises(PermissionError):
            await perform(tool, reading(str(workspace / "notes"), most=MOST), context)
        with pytest.raises(PermissionError):
            await perform(tool, reading(str(secret), most=MOST), context, judged=False)


async def test_what_is_missing_says_so(tool: Bash, workspace: Path, context: ToolContext) -> None:
    missing = str(workspace / "missing")
    (workspace / "dangling").symlink_to(missing)
    for operation in (
        *looking_on(missing),
        removing(missing),
        *looking_on(f"{workspace}/dangling"),
    ):
        with pytest.raises(FileNotFoundError) as caught:
            await perform(tool, operation, context)
        assert caught.value.filename == operation.path
    assert await perform(tool, resolving(missing), context) == f"{missing}\0".encode()


async def test_a_folder_is_no_file_and_a_file_no_folder(
    tool: Bash, workspace: Path, context: ToolContext
) -> None:
    folder, file = workspace / "folder", workspace / "file"
    folder.mkdir()
    file.write_bytes(b"")
    for operation in (reading(str(folder), most=MOST), writing(str(folder), b"")):
        with pytest.raises(IsADirectoryError):
            await perform(tool, operation, context)
    for operation in (
        listing(str(file)),
        looking(f"{file}/child"),
        reading(f"{file}/child", most=MOST),
        writing(f"{file}/child", b""),
        writing(f"{file}/child/child", b""),
        making(f"{file}/child"),
    ):
        with pytest.raises(NotADirectoryError):
            await perform(tool, operation, context)
    with pytest.raises(FileExistsError):
        await perform(tool, making(str(file)), context)


async def test_a_pipe_is_not_waited_for(tool: Bash, workspace: Path, context: ToolContext) -> None:
    os.mkfifo(workspace / "pipe")
    for operation in (reading(str(workspace / "pipe"), most=MOST), writing("pipe", b"")):
        with anyio.fail_after(20), pytest.raises(OSError, match="Not a regular file"):
            await perform(tool, operation, context)


async def test_a_loop_of_links_is_an_error_of_its_own(
    tool: Bash, workspace: Path, context: ToolContext
) -> None:
    (workspace / "loop").symlink_to("loop")
    for operation in (*looking_on("loop"), writing("loop", b"")):
        with pytest.raises(OSError, match="Too many levels") as caught:
            await perform(tool, operation, context)
        assert caught.value.errno == errno.ELOOP
    assert names(await perform(tool, listing("."), context)) == {"loop"}


@pytest.mark.needs("ordinary-user")
async def test_what_the_user_may_not_is_a_permission_error(
    tool: Bash, workspace: Path, context: ToolContext
) -> None:
    (workspace / "closed").touch(mode=0)
    for operation in (reading("closed", most=MOST), writing("closed", b"")):
        with pytest.raises(PermissionError):
            await perform(tool, operation, context)


@pytest.mark.parametrize(
    ("path", "error"),
    [
        ("", FileNotFoundError),
        ("a\0b", ValueError),
        ("\ud800", ValueError),
        ("x" * 256, OSError),
        ("x/" * 100_000, OSError),
    ],
)
async def test_what_is_no_path_at_all_is_refused_in_python(
    tool: Bash, context: ToolContext, path: str, error: type[Exception]
) -> None:
    for operation in (*looking_on(path), writing(path, b""), making(path), removing(path)):
        with pytest.raises(error):
            await perform(tool, operation, context)


async def test_many_writes_at_once_do_not_mix_their_data(
    tool: Bash, workspace: Path, context: ToolContext
) -> None:
    data = {f"file-{number}": str(number).encode() * 100_000 for number in range(8)}
    async with anyio.create_task_group() as group:
        for name, each in data.items():
            group.start_soon(perform, tool, writing(name, each), context)
    assert {each.name: each.read_bytes() for each in workspace.iterdir()} == data


async def test_a_folder_in_which_files_come_and_go_can_be_listed(
    tool: Bash, workspace: Path, context: ToolContext
) -> None:
    (workspace / "stays").touch()
    enough = threading.Event()

    def come_and_go() -> None:
        coming = [workspace / str(number) for number in range(200)]
        while not enough.is_set():
            for file in coming:
                file.touch()
            for file in coming:
                file.unlink()

    async with anyio.create_task_group() as group:
        group.start_soon(anyio.to_thread.run_sync, come_and_go)
        try:
            for _ in range(25):
                assert "stays" in names(await perform(tool, listing("."), context))
        finally:
            enough.set()


async def test_a_list_that_is_too_long_is_no_shorter_list(
    tool: Bash, workspace: Path, context: ToolContext
) -> None:
    for number in range(50):
        (workspace / f"{number}-{'x' * 200}").touch()
    operation = listing(".")
    assert len(names(await perform(tool, operation, context))) == 50
    with pytest.raises(OSError, match="more than 1000 bytes") as caught:
        await perform(
            tool, Operation(path=".", script="#", program=operation.program, most=1000), context
        )
    assert caught.value.errno == errno.EFBIG


@pytest.mark.needs("bubblewrap")
async def test_a_path_that_is_protected_cannot_be_changed(
    workspace: Path, state: Path, context: ToolContext
) -> None:
    kept = workspace / "kept"
    kept.write_bytes(b"kept")
    async with Bash(workspace=workspace, state=state, protect=[kept]) as tool:
        for operation in (writing("kept", b"changed"), removing("kept")):
            with pytest.raises(PermissionError, match="is protected"):
                await perform(tool, operation, context)
    assert kept.read_bytes() == b"kept"


@pytest.mark.parametrize("sandbox", ["auto", "landlock"])
async def test_a_change_that_was_put_back_is_not_called_done(
    sandbox: str, workspace: Path, state: Path, context: ToolContext
) -> None:
    (workspace / ".git").mkdir()
    async with Bash(workspace=workspace, state=state, sandbox=sandbox) as tool:
        with pytest.raises(PermissionError, match="was put back"):
            await perform(tool, writing(".git/hooks/pre-commit", b"echo mine"), context)
    assert not (workspace / ".git/hooks/pre-commit").exists()


async def test_rules_judge_an_operation_by_the_script_a_person_would_write(
    workspace: Path, state: Path, context: ToolContext
) -> None:
    (workspace / "file").touch()
    asked: list[str] = []

    def approve(question: Question) -> Consent:
        asked.append(question.script)
        return Consent.NO

    async with Bash(
        workspace=workspace, state=state, rules={"ask": ["Bash(rm:*)"]}, approver=approve
    ) as tool:
        with pytest.raises(PermissionError):
            await perform(tool, removing("file"), context)
        assert (asked, (workspace / "file").exists()) == (["rm -rf ./file"], True)
        await perform(tool, removing("file"), context, judged=False)
    assert (len(asked), (workspace / "file").exists()) == (1, False)


async def test_a_guard_that_refuses_says_why(tool: Bash, context: ToolContext) -> None:
    with pytest.raises(PermissionError, match="secrets"):
        await perform(tool, reading("/etc/shadow", most=MOST), context)


async def test_the_journal_has_what_was_done_and_not_what_was_written(
    tool: Bash, state: Path, context: ToolContext
) -> None:
    await perform(tool, writing("file", b"hush-hush"), context)
    await perform(tool, looking("file"), context)
    await tool.aclose()
    written = "".join(entry.text for entry in read_journal(state / JOURNAL))
    found = [each in written for each in ("> ./file", "stat ./file", "hush-hush")]
    assert found == [True, True, False]


async def test_an_operation_that_is_cancelled_leaves_no_process(
    tool: Bash, context: ToolContext
) -> None:
    mark = tag()
    slow = Operation(path=".", script="# sleep", program=f"sleep {mark}")
    with anyio.move_on_after(0.5):
        await perform(tool, slow, context)
    await gone(mark)


async def test_a_tool_that_was_closed_says_so(tool: Bash, context: ToolContext) -> None:
    await tool.aclose()
    with pytest.raises(NacreError, match="closed"):
        await perform(tool, looking("."), context)
