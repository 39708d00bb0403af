"""The command as a person should see it: REQ-BASH-011."""

from pathlib import Path

import pytest

from nacre import Bash, ToolContext


def shown(workspace: Path, state: Path, command: str, folder: str) -> str:
    """What a host is told to display; nothing of it can do harm."""
    with Bash(dialect="phoenix", workspace=workspace, state=state) as tool:
        reply = tool.call_sync("bash", {"command": command}, ToolContext(working_dir=folder))
    details = reply.details or {}
    assert details["command"] == command
    assert {*details} == {"success", "command", "display"}
    return str(details["display"])


@pytest.mark.requirement("phoenix.display-simplified", "phoenix.display-field")
def test_the_display_is_beside_the_command_and_simpler(workspace: Path, state: Path) -> None:
    with Bash(dialect="phoenix", workspace=workspace, state=state) as tool:
        command = f"cd {workspace} && pwd"
        reply = tool.call_sync("bash", {"command": command}, ToolContext(working_dir=workspace))
    assert reply.details == {"success": True, "command": command, "display": "pwd"}
    assert reply.text == f"{workspace}\n"


@pytest.mark.requirement("phoenix.display-and")
@pytest.mark.parametrize(
    ("command", "display"),
    [
        ("cd /usr && echo test", "echo test"),
        ("cd /usr/ && echo test", "echo test"),
        ("cd . && echo hello && ls -d", "echo hello && ls -d"),
        ("cd '/usr' && echo a | cat", "echo a | cat"),
        ("cd -- /usr && ls -d", "ls -d"),
        ("cd /usr", "cd /usr"),
    ],
)
def test_a_cd_to_where_it_is_anyway_is_left_out(
    command: str, display: str, workspace: Path, state: Path
) -> None:
    assert shown(workspace, state, command, "/usr") == display


@pytest.mark.requirement("phoenix.display-elsewhere")
@pytest.mark.parametrize(
    "command",
    [
        "cd /etc && echo test",
        "cd lib && ls -d",
        "cd && ls -d",
        "cd /usr/lib; ls -d",
        "cd - && ls -d",
    ],
)
def test_a_cd_to_another_place_stays(command: str, workspace: Path, state: Path) -> None:
    assert shown(workspace, state, command, "/usr") == command


@pytest.mark.requirement("phoenix.display-semicolon")
@pytest.mark.parametrize(
    ("command", "display"),
    [
        ("cd /usr; echo test", "echo test"),
        ("cd /usr\necho test", "echo test"),
        ("cd /; cd /etc; cd /usr; echo arg", "cd /; cd /etc; echo arg"),
    ],
)
def test_a_semicolon_is_as_good(command: str, display: str, workspace: Path, state: Path) -> None:
    assert shown(workspace, state, command, "/usr") == display


@pytest.mark.requirement("phoenix.display-or")
@pytest.mark.parametrize(
    "command",
    ['cat /nowhere || echo "NOT FOUND"', "cd /usr || echo gone", "false || cd /usr && echo a"],
)
def test_what_stands_before_an_or_stays(command: str, workspace: Path, state: Path) -> None:
    assert shown(workspace, state, command, "/usr") == command


@pytest.mark.requirement("phoenix.display-mixed")
@pytest.mark.parametrize(
    ("folder", "display"),
    [("/usr", "cat nope || echo fallback"), ("/etc", "cd /usr && cat nope || echo fallback")],
)
def test_of_mixed_operators_only_the_matching_cd_is_left_out(
    folder: str, display: str, workspace: Path, state: Path
) -> None:
    command = "cd /usr && cat nope || echo fallback"
    assert shown(workspace, state, command, folder) == display


def test_what_cannot_be_parsed_and_what_is_half_a_character_is_shown_as_it_is(
    workspace: Path, state: Path
) -> None:
    assert shown(workspace, state, "cd /usr && echo 'unterminated", "/usr") == (
        "cd /usr && echo 'unterminated"
    )
    with Bash(dialect="phoenix", workspace=workspace, state=state) as tool:
        reply = tool.call_sync("bash", {"command": "cd . && echo \ud800"})
    assert (reply.details or {})["display"] == "echo \\ud800"
