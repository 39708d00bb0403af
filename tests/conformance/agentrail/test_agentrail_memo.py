"""The memo folder of the workspace, which commands may read and may not write."""

from collections.abc import Callable
from pathlib import Path

import pytest

from nacre import Bash, Reply
from processes import gone, tag

Make = Callable[..., Bash]

NOTES = "memo/session/NOTES.md"


@pytest.fixture(autouse=True)
def memo(workspace: Path) -> Path:
    (workspace / "memo" / "session").mkdir(parents=True)
    (workspace / NOTES).write_text("kept\n")
    return workspace / "memo"


def stderr(reply: Reply) -> str:
    assert reply.details is not None
    return str(reply.details["stderr"])


@pytest.mark.needs("bubblewrap")
@pytest.mark.requirement("agentrail.memo-read-only", "agentrail.memo-error")
@pytest.mark.parametrize(
    "command",
    [
        f"echo changed > {NOTES}",
        f"echo more >> $PWD/{NOTES}",
        f"rm -f {NOTES}",
        "rm -rf memo",
        "mv memo gone",
        "touch memo/new",
        f"python3 -c \"open('{NOTES}', 'w')\"",
        f"ln {NOTES} other && echo changed > other",
        "sudo -n true 2>/dev/null; mount -o remount,rw memo; touch memo/new",
    ],
)
def test_writing_to_memo_fails_and_says_why(make: Make, workspace: Path, command: str) -> None:
    with make() as tool:
        reply = tool.call_sync("Bash", {"command": command})
    assert reply.details is not None
    assert reply.details["exit_code"] != 0
    assert stderr(reply)
    assert sorted(path.name for path in (workspace / "memo").rglob("*")) == ["NOTES.md", "session"]
    assert (workspace / NOTES).read_text() == "kept\n"


@pytest.mark.needs("bubblewrap")
async def test_everything_beside_memo_is_open(make: Make, workspace: Path, tmp_path: Path) -> None:
    async with make() as tool:
        reply = await tool.call(
            "Bash", {"command": f"cat {NOTES}; echo x > file; echo x > {tmp_path}/outside"}
        )
    assert reply.text == "kept\n\n\n[exit code: 0]"
    assert (workspace / "file").exists()
    assert (tmp_path / "outside").exists()


@pytest.mark.needs("bubblewrap")
async def test_the_background_cannot_write_memo_either(make: Make, workspace: Path) -> None:
    mark = tag()
    async with make() as tool:
        command = f"echo $$ > pid; echo changed > {NOTES}; exec sleep {mark}"
        reply = await tool.call("Bash", {"command": command, "timeout": 1000})
        assert reply.details is not None
        assert reply.details["mode"] == "background"
        assert "Read-only file system" in stderr(reply)
        ended = await tool.call("Bash", {"command": "kill $(cat pid)"})
        assert ended.text == "(no output)\n\n[exit code: 0]"
        await gone(mark)
    assert (workspace / NOTES).read_text() == "kept\n"


async def test_without_a_sandbox_in_words_memo_is_a_folder_like_any_other(
    make: Make, workspace: Path
) -> None:
    async with make(sandbox="none") as tool:
        reply = await tool.call("Bash", {"command": f"echo changed > {NOTES}"})
    assert reply.text == "(no output)\n\n[exit code: 0]"
    assert (workspace / NOTES).read_text() == "changed\n"
