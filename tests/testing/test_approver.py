"""The approver that answers from a list."""

from pathlib import Path

import pytest

from nacre import Bash
from nacre.testing import ScriptedApprover


def test_answers_come_in_their_order_and_questions_are_kept(workspace: Path, state: Path) -> None:
    approver = ScriptedApprover(False, True)
    rules = {"ask": ["Bash(echo:*)"]}
    with Bash(workspace=workspace, state=state, rules=rules, approver=approver) as tool:
        denied = tool.call_sync("Bash", {"command": "echo one"})
        allowed = tool.call_sync("Bash", {"command": "echo two"})
        with pytest.raises(AssertionError, match="no answer is left for 'echo three'"):
            tool.call_sync("Bash", {"command": "echo three"})
    assert (denied.is_error, allowed.text) == (True, "two")
    assert [each.script for each in approver.questions] == ["echo one", "echo two", "echo three"]
