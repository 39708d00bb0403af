"""What will hold a script can be started before the script comes."""

from pathlib import Path

import pytest

from nacre import Bash, ConfigError, ToolContext
from processes import alive, come_blocking, gone_blocking

pytestmark = pytest.mark.needs("bubblewrap")


def test_a_room_is_there_before_the_script_and_is_the_one_it_runs_in(
    workspace: Path, state: Path
) -> None:
    with Bash(workspace=workspace, state=state, spares=0) as tool:
        assert alive(str(state)) == []
        tool.prepare()
        come_blocking(str(state))
        before = alive(str(state))
        assert tool.call_sync("Bash", {"command": "echo in"}).text == "in"
        room = alive(str(state))
        assert set(before) <= set(room)
        assert len(_launchers(room)) == 1
    gone_blocking(str(state))


def _launchers(pids: list[int]) -> list[int]:
    """Those that no other one of them began."""
    begun = {
        int(child)
        for pid in pids
        for child in Path(f"/proc/{pid}/task/{pid}/children").read_text("ascii").split()
    }
    return [pid for pid in pids if pid not in begun]


def test_a_tool_that_is_closed_at_once_leaves_nothing_of_it(workspace: Path, state: Path) -> None:
    with Bash(workspace=workspace, state=state) as tool:
        tool.prepare(ToolContext(working_dir=workspace))
        tool.prepare(ToolContext(working_dir=workspace))
    gone_blocking(str(state))
    assert [path for path in state.rglob("*") if path.is_file()] == []


def test_what_cannot_be_had_is_told_when_the_script_comes(workspace: Path, state: Path) -> None:
    absent = workspace.parent / "absent"
    with Bash(workspace=workspace, state=state, write=[absent]) as tool:
        tool.prepare()
        reply = tool.call_sync("Bash", {"command": "true"})
    assert "there is no such folder" in reply.text


def test_a_closed_tool_prepares_nothing(workspace: Path, state: Path) -> None:
    tool = Bash(workspace=workspace, state=state)
    tool.close()
    with pytest.raises(ConfigError, match="closed"):
        tool.prepare()
