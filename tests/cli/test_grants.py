"""`nacre grants` through real processes: what was allowed for always, and how it is taken back."""

import json
from pathlib import Path

import pytest

from hosts import nacre
from nacre.engine.grants import GRANTS, Grants
from nacre.model.approval import Scope


@pytest.fixture
def grants(state: Path) -> Grants:
    found = Grants(state / GRANTS)
    for conversation in ("a", "b"):
        found.add("Bash(npm publish)", Scope(conversation=conversation, folder="/w", held="open"))
    found.close()
    return found


def test_they_are_listed_with_their_scope(state: Path, grants: Grants) -> None:
    first, second = grants.all()
    lines = nacre("grants", state=state).out.splitlines()
    assert lines[0].startswith(first.id)
    assert lines[0].endswith("Bash(npm publish)")
    assert lines[1].strip() == "conversation a, in /w, held to: open"
    assert lines[2].startswith(second.id)
    done = nacre("grants", "--conversation", "b", "--json", state=state)
    (only,) = json.loads(done.out)
    assert only == {
        "id": second.id,
        "rule": "Bash(npm publish)",
        "conversation": "b",
        "folder": "/w",
        "held": "open",
        "at": second.at.isoformat(),
    }


def test_one_is_revoked_by_its_id(state: Path, grants: Grants) -> None:
    first, second = grants.all()
    done = nacre("grants", "revoke", first.id, state=state)
    assert (done.code, done.out) == (0, f"{first.id} revoked\n")
    assert grants.all() == (second,)
    done = nacre("grants", "revoke", first.id, second.id, state=state)
    assert (done.code, done.out) == (1, f"{second.id} revoked\n")
    assert done.err == f"nacre: there is no grant '{first.id}'; 'nacre grants' lists them\n"


def test_all_are_revoked_in_one_word_and_never_by_none(state: Path, grants: Grants) -> None:
    done = nacre("grants", "revoke", state=state)
    assert (done.code, len(grants.all())) == (2, 2)
    assert "give the ids of grants, or --all" in done.err
    assert nacre("grants", "revoke", "--all", state=state).code == 0
    assert grants.all() == ()


def test_there_need_be_none(state: Path) -> None:
    done = nacre("grants", state=state)
    assert (done.code, done.out, done.err) == (0, "", "no grants\n")
    assert nacre("grants", "--json", state=state).out == "[]\n"
    assert nacre("grants", "revoke", "--all", state=state).code == 0
    assert not state.exists()


def test_a_conversation_of_any_name_is_shown_on_its_line(state: Path) -> None:
    grants = Grants(state / GRANTS)
    scope = Scope(conversation="\x1b[2J\nnacre: all is well\u202e", folder="/w", held="open")
    grants.add("Bash(npm publish)", scope)
    grants.close()
    shown = nacre("grants", state=state).out
    assert shown.count("\n") == 2
    assert "conversation \\x1b[2J\\nnacre: all is well\\u202e, in /w" in shown
