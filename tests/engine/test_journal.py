"""The journal: nothing lost, nothing changed unseen, nothing slow."""

import json
import sqlite3
import subprocess
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import cast

import anyio
import pytest

from hosts import finish, start_host
from nacre import Bash, ToolContext
from nacre.engine.journal import JOURNAL, Journal, JournalEntry, read_journal, verify_journal


def told(entry: JournalEntry) -> Mapping[str, object]:
    return cast("Mapping[str, object]", json.loads(entry.text))


def entries(state: Path) -> list[Mapping[str, object]]:
    return [told(entry) for entry in read_journal(state / JOURNAL)]


async def test_a_call_is_written_down_with_its_description_verdict_and_end(
    workspace: Path, state: Path
) -> None:
    context = ToolContext(working_dir=workspace, conversation="c")
    async with Bash(workspace=workspace, state=state, sandbox="none", confinement="open") as tool:
        call = {"command": "echo hello; exit 3", "description": "greet and fail"}
        await tool.call("Bash", call, context)
        await tool.call("Bash", {"command": "git add -A"}, context)
        await tool.call("Bash", {"nonsense": 1}, context)
    ran, denied, refused = entries(state)
    assert ran.items() >= {
        "dialect": "nacre", "tool": "Bash", "conversation": "c", "script": "echo hello; exit 3",
        "description": "greet and fail", "decision": "allow", "outcome": "exited", "exit_code": 3,
        "said": 6, "cwd": str(workspace), "confinement": "open", "approved": None,
    }.items()  # fmt: skip
    assert (denied["decision"], denied["rule"], denied["outcome"]) == (
        "deny",
        "hazards.git-add",
        "denied",
    )
    assert "nonsense" in str(refused["error"])


async def test_neither_output_nor_variables_are_in_it(
    workspace: Path, state: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CANARY_SECRET", "feathers-everywhere")
    async with Bash(workspace=workspace, state=state) as tool:
        await tool.call("Bash", {"command": "printf 'pri%s' nted-words"})
    raw = (state / JOURNAL).read_bytes()
    assert b"printed-words" not in raw
    assert b"feathers-everywhere" not in raw


async def test_an_answer_is_written_down(workspace: Path, state: Path) -> None:
    rules = {"ask": ["Bash(echo:*)"]}
    for answer in (True, False):
        async with Bash(
            workspace=workspace, state=state, rules=rules, approver=lambda _, a=answer: a
        ) as tool:
            await tool.call("Bash", {"command": "echo hi"})
    assert [(each["decision"], each["approved"]) for each in entries(state)] == [
        ("ask", True),
        ("ask", False),
    ]


def test_entries_of_several_writers_make_one_unbroken_chain(state: Path) -> None:
    journals = [Journal(state / JOURNAL) for _ in range(4)]
    for number in range(200):
        journals[number % 4].write({"n": number})
    for journal in journals:
        journal.close()
    found = [each["n"] for each in entries(state)]
    assert sorted(cast("list[int]", found)) == list(range(200))
    assert verify_journal(state / JOURNAL) == (200, None)


@pytest.mark.parametrize(
    ("change", "broken"),
    [
        ("UPDATE journal SET entry = '{}' WHERE number = 7", 7),
        ("DELETE FROM journal WHERE number = 3", 4),
        ("UPDATE journal SET hash = 'x' WHERE number = 1", 1),
        ("INSERT INTO journal VALUES (11, '{}', 'x')", 11),
    ],
)
def test_what_was_changed_is_found(change: str, broken: int, state: Path) -> None:
    journal = Journal(state / JOURNAL)
    for number in range(10):
        journal.write({"n": number})
    journal.close()
    db = sqlite3.connect(state / JOURNAL)
    if not change.startswith("INSERT"):
        with pytest.raises(sqlite3.IntegrityError, match="only added to"):
            db.execute(change)
    db.executescript(f"DROP TRIGGER journal_stays; DROP TRIGGER journal_is_kept; {change};")
    db.close()
    _, first = verify_journal(state / JOURNAL)
    assert first is not None
    assert first.number == broken


def test_there_need_be_none(state: Path) -> None:
    assert list(read_journal(state / JOURNAL)) == []
    assert verify_journal(state / JOURNAL) == (0, None)


async def test_a_state_directory_that_cannot_be_made_costs_no_call(
    workspace: Path, tmp_path: Path
) -> None:
    (tmp_path / "file").touch()
    async with Bash(
        workspace=workspace, state=tmp_path / "file" / "state", sandbox="none", confinement="open"
    ) as tool:
        reply = await tool.call("Bash", {"command": "echo still"})
    assert reply.text == "still"


def test_a_host_that_is_killed_leaves_a_chain_without_gaps(state: Path) -> None:
    code = f"""
        import sys, time
        from nacre.engine.journal import Journal
        from pathlib import Path
        journal = Journal(Path({str(state / JOURNAL)!r}))
        for number in range(100_000):
            journal.write({{"n": number}})
            time.sleep(0.001)
    """
    host = start_host(code, state)
    with ending(host):
        while len(entries(state)) < 100:
            assert host.poll() is None
    found = [each["n"] for each in entries(state)]
    assert found == list(range(len(found)))
    assert verify_journal(state / JOURNAL) == (len(found), None)


@contextmanager
def ending(host: subprocess.Popen[bytes]) -> Generator[None]:
    try:
        yield
    finally:
        finish(host)


async def test_writing_waits_for_nobody(state: Path) -> None:
    """Another process holds the database; entries wait in memory, and come later."""
    journal = Journal(state / JOURNAL)
    journal.write({"n": 0})
    with anyio.fail_after(10):
        while not entries(state):
            await anyio.sleep(0.01)
    db = sqlite3.connect(state / JOURNAL, isolation_level=None)
    db.execute("BEGIN IMMEDIATE")
    for number in range(1, 50):
        journal.write({"n": number})
    db.execute("COMMIT")
    db.close()
    journal.close()
    assert [each["n"] for each in entries(state)] == list(range(50))


async def test_a_call_that_was_given_up_is_in_it_too(workspace: Path, state: Path) -> None:
    async with (
        Bash(workspace=workspace, state=state, sandbox="none", confinement="open") as tool,
        anyio.create_task_group() as tasks,
    ):
        tasks.start_soon(tool.call, "Bash", {"command": "touch begun; sleep 60"})
        while not (workspace / "begun").exists():
            await anyio.sleep(0.01)
        tasks.cancel_scope.cancel()
    (given_up,) = entries(state)
    assert given_up["script"] == "touch begun; sleep 60"
    assert str(given_up["error"]).startswith("given up: Cancelled")
