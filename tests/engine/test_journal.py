"""The journal: nothing lost, nothing changed unseen, nothing slow."""

import json
import logging
import os
import secrets
import shutil
import signal
import sqlite3
import subprocess
import time
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from functools import partial
from itertools import islice, pairwise
from pathlib import Path
from typing import cast

import anyio
import pytest

from hosts import finish, nacre, start_host
from nacre import Bash, CancelToken, ToolContext
from nacre.engine.chain import forget, read_back
from nacre.engine.entries import BEGAN
from nacre.engine.journal import JOURNAL, Journal, JournalEntry, read_journal
from nacre.engine.proof import prove, set_aside
from nacre.errors import StateError
from nacre.model.call import Run
from nacre.model.transcript import Limit
from processes import alive, journal_open, tag, threads


def told(entry: JournalEntry) -> Mapping[str, object]:
    return cast("Mapping[str, object]", json.loads(entry.text))


def entries(state: Path) -> list[Mapping[str, object]]:
    """What is in the journal, without what only says that a call has begun."""
    found = [told(entry) for entry in read_journal(state / JOURNAL)]
    return [each for each in found if each.get("outcome") != BEGAN]


def written(state: Path, count: int) -> None:
    """Have a journal with so many entries."""
    journal = Journal(state / JOURNAL)
    for number in range(count):
        journal.write({"n": number, "at": f"2020-01-{number + 1:02}"})
    journal.close()


@contextmanager
def ending(host: subprocess.Popen[bytes]) -> Generator[subprocess.Popen[bytes]]:
    try:
        yield host
    finally:
        finish(host)


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
        "writable": None, "network": "deny",
    }.items()  # fmt: skip
    assert str(ran["at"]) <= str(ran["ended"]) <= str(denied["ended"])
    assert (denied["decision"], denied["rule"], denied["outcome"]) == (
        "deny",
        "hazards.git-add",
        "denied",
    )
    assert "nonsense" in str(refused["error"])
    assert len({each["call"] for each in (ran, denied, refused)}) == 3


async def test_neither_output_nor_values_of_variables_are_in_it(
    workspace: Path, state: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CANARY_SECRET", "feathers-everywhere")
    async with Bash(workspace=workspace, state=state, pass_env=["CANARY_SECRET"]) as tool:
        await tool.call("Bash", {"command": "printf 'pri%s' nted-words; env"})
        limit = Limit(head=1000, tail=1000)
        run = Run(script="cat", limit=limit, environ={"TOKEN": "s3cr3t"}, stdin=b"eaten-seeds")
        await tool.carry_out(run)
    raw = b"".join(file.read_bytes() for file in state.glob(f"{JOURNAL}*"))
    for word in (b"printed-words", b"feathers-everywhere", b"s3cr3t", b"eaten-seeds"):
        assert word not in raw
    fed = entries(state)[1]
    assert (fed["variables"], fed["stdin_bytes"], fed["said"]) == (["TOKEN"], 11, 11)


async def test_an_answer_is_written_down(workspace: Path, state: Path) -> None:
    rules = {"ask": ["Bash(echo:*)"]}
    for answer in (True, False):
        async with Bash(
            workspace=workspace, state=state, rules=rules, approver=lambda _, a=answer: a
        ) as tool:
            await tool.call("Bash", {"command": "echo hi"})
    assert [(each["decision"], each["approved"], each["consent"]) for each in entries(state)] == [
        ("ask", True, "once"),
        ("ask", False, "no"),
    ]


async def test_whatever_a_call_holds_its_entry_is_small_and_can_be_read(
    workspace: Path, state: Path
) -> None:
    odd = "\0\ud800\x1b[2J\u202e\N{PILE OF POO}"
    huge = odd + "x" * 1_000_000
    calls: list[tuple[str, dict[str, object]]] = [
        ("Bash", {"command": huge, "description": huge}),
        ("Bash", {"command": f"true {'x' * 100_000}", "description": huge}),
        ("Bash", {"command": "true", "working_directory": huge}),
        ("BashOutput", {"id": huge}),
        (huge, {}),
        ("Bash", {huge: huge}),
    ]
    async with Bash(workspace=workspace, state=state, sandbox="none", confinement="open") as tool:
        for name, arguments in calls:
            context = ToolContext(working_dir=workspace, conversation=huge)
            await tool.call(name, arguments, context)
    found = list(read_journal(state / JOURNAL))
    assert len(entries(state)) == len(calls)
    assert all(len(each.text) < 100_000 for each in found)
    assert all(each.text.isascii() and each.text.isprintable() for each in found)
    assert str(told(found[-1])["conversation"]).startswith("\0")
    assert prove(state / JOURNAL).entries == len(found)


async def test_a_call_that_takes_its_time_is_there_before_it_ends(
    workspace: Path, state: Path
) -> None:
    cancel = CancelToken()
    context = ToolContext(working_dir=workspace, cancel=cancel)
    async with (
        Bash(workspace=workspace, state=state, sandbox="none", confinement="open") as tool,
        anyio.create_task_group() as tasks,
    ):
        call = {"command": f"sleep {tag()}", "description": "wait"}
        tasks.start_soon(tool.call, "Bash", call, context)
        await journal_open(state)
        assert entries(state) == []
        cancel.cancel()
    first, last = (told(each) for each in read_journal(state / JOURNAL))
    assert (first["outcome"], last["outcome"]) == (BEGAN, "stopped")
    same = ("call", "at", "script", "description", "tool")
    assert [first[name] for name in same] == [last[name] for name in same]


def _numbered(number: int) -> Mapping[str, object]:
    return {"n": number}


def test_a_call_that_ended_at_once_has_one_entry(state: Path) -> None:
    journal = Journal(state / JOURNAL)
    for number in range(200):
        journal.end(journal.begin(lambda: {"outcome": BEGAN}), partial(_numbered, number))
    journal.close()
    assert [each["n"] for each in entries(state)] == list(range(200))
    # On a machine that stands still for a while, some may have been told beforehand.
    assert prove(state / JOURNAL).entries < 400


def test_a_script_that_ran_when_its_host_was_killed_is_seen(state: Path, workspace: Path) -> None:
    mark = tag()
    code = f"""
        from nacre import Bash
        tool = Bash(workspace={str(workspace)!r}, sandbox="none", confinement="open")
        tool.call_sync("Bash", {{"command": "sleep {mark}"}})
    """
    with ending(start_host(code, state)) as host:
        while not (alive(mark) and list(read_journal(state / JOURNAL))):
            assert host.poll() is None
    (begun,) = read_journal(state / JOURNAL)
    assert (told(begun)["outcome"], told(begun)["script"]) == (BEGAN, f"sleep {mark}")
    shown = nacre("journal", state=state).out
    assert "began" in shown
    assert mark in shown


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


def test_what_comes_after_the_end_of_a_tool_is_written_and_keeps_no_thread(state: Path) -> None:
    journal = Journal(state / JOURNAL)
    number = journal.begin(lambda: {"outcome": BEGAN})
    journal.close()
    before = threads()
    journal.end(number, lambda: {"late": True})
    deadline = time.monotonic() + 20
    while not entries(state) or threads() > before:
        assert time.monotonic() < deadline
    assert [told(each) for each in read_journal(state / JOURNAL)] == [
        {"outcome": BEGAN},
        {"late": True},
    ]
    journal.close()


def test_a_host_that_ends_without_closing_loses_nothing(state: Path) -> None:
    code = f"""
        from nacre.engine.journal import Journal
        from pathlib import Path
        journal = Journal(Path({str(state / JOURNAL)!r}))
        for number in range(100):
            journal.write({{"n": number}})
    """
    with ending(start_host(code, state)) as host:
        assert host.wait(30) == 0
    assert [each["n"] for each in entries(state)] == list(range(100))


def test_a_forked_child_writes_its_own_entries_only(state: Path) -> None:
    code = f"""
        import os
        from nacre.engine.journal import Journal, read_journal
        from pathlib import Path
        path = Path({str(state / JOURNAL)!r})
        journal = Journal(path)
        journal.write({{"by": "parent"}})
        while not any(read_journal(path)):
            pass
        child = os.fork()
        journal.write({{"by": "child" if child == 0 else "parent again"}})
        journal.close()
        if child:
            os.waitpid(child, 0)
    """
    with ending(start_host(code, state)) as host:
        assert host.wait(30) == 0
    assert sorted(str(each["by"]) for each in entries(state)) == ["child", "parent", "parent again"]
    assert prove(state / JOURNAL).broken is None


def test_entries_of_several_processes_make_one_unbroken_chain(state: Path) -> None:
    """Each has several journals, and opens and closes them while others write."""
    code = f"""
        import sys
        from nacre.engine.journal import Journal
        from pathlib import Path
        sys.stdin.read(1)
        for _ in range(8):
            journals = [Journal(Path({str(state / JOURNAL)!r})) for _ in range(3)]
            for number in range(30):
                journals[number % 3].write({{"n": number}})
            for journal in journals:
                journal.close()
    """
    hosts = [start_host(code, state) for _ in range(3)]
    try:
        for host in hosts:
            assert host.stdin is not None
            host.stdin.write(b"x")
            host.stdin.flush()
        assert [host.wait(60) for host in hosts] == [0, 0, 0]
    finally:
        for host in hosts:
            finish(host)
    found = sorted(cast("list[int]", [each["n"] for each in entries(state)]))
    assert found == sorted([*range(30)] * 3 * 8)
    assert prove(state / JOURNAL).broken is None
    assert set_aside(state / JOURNAL) == []


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


async def test_a_state_directory_that_cannot_be_made_costs_no_call(
    workspace: Path, tmp_path: Path
) -> None:
    (tmp_path / "file").touch()
    async with Bash(
        workspace=workspace, state=tmp_path / "file" / "state", sandbox="none", confinement="open"
    ) as tool:
        reply = await tool.call("Bash", {"command": "echo still"})
    assert reply.text == "still"


def test_what_could_not_wait_any_longer_is_counted(
    state: Path, caplog: pytest.LogCaptureFixture
) -> None:
    state.touch()  # a file, where a folder should be
    journal = Journal(state / JOURNAL)
    with caplog.at_level(logging.INFO, "nacre"):
        for number in range(25_000):
            journal.write({"n": number})
        deadline = time.monotonic() + 20
        while not caplog.records:
            assert time.monotonic() < deadline
    state.unlink()
    journal.close()
    counted, *kept = entries(state)
    assert cast("int", counted["lost"]) + len(kept) == 25_000
    assert [each["n"] for each in kept] == list(range(25_000 - len(kept), 25_000))
    assert "the journal is not as it should be" in caplog.text


def test_a_state_directory_that_was_removed_gets_a_new_journal(state: Path) -> None:
    journal = Journal(state / JOURNAL)
    journal.write({"n": 0})
    while not entries(state):
        pass
    shutil.rmtree(state)
    journal.write({"n": 1})
    journal.close()
    assert [each["n"] for each in entries(state)] == [1]


def change(state: Path, *statements: str) -> None:
    """Do what triggers forbid, as somebody does who means it."""
    db = sqlite3.connect(state / JOURNAL, isolation_level=None)
    for trigger in ("journal_stays", "journal_is_kept"):
        db.execute(f"DROP TRIGGER {trigger}")
    for statement in statements:
        db.execute(statement)
    db.close()


@pytest.mark.parametrize(
    ("statement", "broken", "why"),
    [
        ("UPDATE journal SET entry = '{}' WHERE number = 7", 7, "its hash is not that of"),
        ("UPDATE journal SET entry = 'no JSON' WHERE number = 7", 7, "its hash is not that of"),
        ("UPDATE journal SET entry = CAST(x'ff00' AS TEXT) WHERE number = 7", 7, "its hash is"),
        ("UPDATE journal SET hash = 'x' WHERE number = 1", 1, "its hash is not that of"),
        ("DELETE FROM journal WHERE number = 3", 4, "entry 3 is missing"),
        ("DELETE FROM journal WHERE number BETWEEN 3 AND 6", 7, "entry 3 is missing"),
        ("DELETE FROM journal WHERE number <= 4", 5, "the entries before it are missing"),
        ("INSERT INTO journal VALUES (11, '{}', 'x')", 11, "its hash is not that of"),
        ("INSERT INTO journal VALUES (0, '{}', 'x')", 0, "entry 1 is missing"),
        ("INSERT INTO journal VALUES (-5, '{}', 'x')", -5, "entry 1 is missing"),
        ("UPDATE journal SET number = 12 WHERE number = 10", 12, "entry 10 is missing"),
        ("UPDATE journal SET number = 1 - number", -9, "entry 1 is missing"),
    ],
)
def test_what_was_changed_is_found(statement: str, broken: int, why: str, state: Path) -> None:
    written(state, 10)
    change(state, statement)
    proof = prove(state / JOURNAL)
    assert proof.broken == broken
    assert proof.why.startswith(why)


def test_entries_that_took_each_others_place_are_found(state: Path) -> None:
    written(state, 10)
    change(
        state,
        "DELETE FROM journal WHERE number = 5",
        "UPDATE journal SET number = 99 WHERE number = 6",
        "UPDATE journal SET number = 5 WHERE number = 99",
        "UPDATE journal SET number = 6 WHERE number = 10",
    )
    assert prove(state / JOURNAL).broken == 5


@pytest.mark.parametrize("statement", ["UPDATE journal SET entry = '{}'", "DELETE FROM journal"])
def test_a_mistake_changes_nothing(statement: str, state: Path) -> None:
    written(state, 3)
    db = sqlite3.connect(state / JOURNAL)
    with pytest.raises(sqlite3.IntegrityError, match="only added to"):
        db.execute(statement)
    db.close()
    assert prove(state / JOURNAL).entries == 3


def test_an_end_that_was_cut_off_is_found_by_who_noted_a_hash(state: Path) -> None:
    written(state, 10)
    noted = prove(state / JOURNAL).hash
    assert prove(state / JOURNAL, noted).found
    assert prove(state / JOURNAL, noted[:12]).found
    change(state, "DELETE FROM journal WHERE number > 8")
    cut = prove(state / JOURNAL, noted)
    assert (cut.entries, cut.broken, cut.found) == (8, None, False)


def test_there_need_be_none(state: Path) -> None:
    assert list(read_journal(state / JOURNAL)) == []
    assert prove(state / JOURNAL).entries == 0
    state.mkdir()
    (state / JOURNAL).touch()
    assert list(read_back(state / JOURNAL)) == []
    assert prove(state / JOURNAL).broken is None


def test_reading_a_broken_file_leaves_it_where_it_is(state: Path) -> None:
    state.mkdir()
    (state / JOURNAL).write_bytes(b"no database at all" * 1000)
    for _ in range(2):
        with pytest.raises(StateError, match="cannot be read: file is not a database"):
            prove(state / JOURNAL)
    assert [each.name for each in state.iterdir()] == [JOURNAL]


def test_a_journal_of_a_newer_nacre_is_not_read_as_if_it_were_known(state: Path) -> None:
    written(state, 3)
    change(state, "PRAGMA user_version = 7")
    with pytest.raises(StateError, match=r"newer nacre \(version 7, this one knows 1\)"):
        list(read_journal(state / JOURNAL))


def test_writing_to_a_broken_file_sets_it_aside_and_the_new_one_says_so(
    state: Path, caplog: pytest.LogCaptureFixture
) -> None:
    state.mkdir()
    (state / JOURNAL).write_bytes(b"no database at all" * 1000)
    with caplog.at_level(logging.INFO, "nacre"):
        written(state, 1)
    first, second = entries(state)
    assert first["n"] == 0
    assert "it was set aside as" in str(second["set_aside"])
    assert [each.read_bytes()[:2] for each in set_aside(state / JOURNAL)] == [b"no"]


def scribble(state: Path) -> None:
    """Spoil what lies in the middle of the file."""
    with open(state / JOURNAL, "r+b") as file:
        size = os.fstat(file.fileno()).st_size
        file.seek(size // 4096 // 3 * 4096)
        file.write(secrets.token_bytes(4096 * 3))


def test_a_file_that_is_spoiled_in_the_middle_is_never_called_unbroken(state: Path) -> None:
    journal = Journal(state / JOURNAL)
    for number in range(2_000):
        journal.write({"n": number, "script": "x" * 200})
    journal.close()
    scribble(state)
    proof = prove(state / JOURNAL)
    assert proof.broken is not None
    assert 0 < proof.entries < 2_000
    # Whoever wants the last ones reads no others.
    newest = islice(read_back(state / JOURNAL), 100)
    assert [each.number for each in newest] == list(range(2_000, 1_900, -1))


def test_what_a_person_removed_leaves_a_rest_that_can_be_proved(state: Path) -> None:
    written(state, 10)
    path = state / JOURNAL
    assert forget(path, 0, "now") == forget(path, 11, "now") == 0
    assert forget(path, 4, "now") == 4
    assert (prove(path).entries, prove(path).forgotten, prove(path).broken) == (7, 4, None)
    assert forget(path, 11, "now") == 7
    assert (prove(path).entries, prove(path).forgotten, prove(path).broken) == (1, 11, None)
    journal = Journal(path)
    journal.write({"n": 10})
    journal.close()
    assert (prove(path).entries, prove(path).broken) == (2, None)
    assert [each.number for each in read_journal(path)] == [12, 13]
    db = sqlite3.connect(path)
    with pytest.raises(sqlite3.IntegrityError, match="only added to"):
        db.execute("DELETE FROM journal")
    db.close()


def test_nothing_of_what_was_removed_stays_in_the_file(state: Path) -> None:
    journal = Journal(state / JOURNAL)
    for _ in range(500):
        journal.write({"script": "export TOKEN=feathers-everywhere"})
    journal.close()
    before = (state / JOURNAL).stat().st_size
    forget(state / JOURNAL, 500, "now")
    assert (state / JOURNAL).stat().st_size < before / 4
    raw = b"".join(file.read_bytes() for file in state.glob(f"{JOURNAL}*"))
    assert b"feathers-everywhere" not in raw


@pytest.mark.parametrize(
    ("statement", "broken"),
    [
        ("DELETE FROM journal WHERE number = 5", 6),
        ("UPDATE journal SET entry = '{}' WHERE number = 5", 5),
        ("DELETE FROM journal WHERE number = 11", 5),
    ],
)
def test_what_somebody_else_did_beside_it_is_found(
    state: Path, statement: str, broken: int
) -> None:
    written(state, 10)
    forget(state / JOURNAL, 4, "now")
    change(state, statement)
    assert prove(state / JOURNAL).broken == broken


_HOST = """
    import os, sys, threading, time
    from pathlib import Path
    from nacre import Bash
    from nacre.engine.journal import JOURNAL, read_journal

    tool = Bash(workspace={workspace!r}, sandbox="none", confinement="open")
    tool.call_sync("Bash", {{"command": "git add -A"}})
    while not any(read_journal(Path({state!r}, JOURNAL))):
        time.sleep(0.01)
    told = os.open({told!r}, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)

    def kept_waiting():
        tasks = Path("/proc/self/task").iterdir()
        return sum(int((each / "schedstat").read_text().split()[1]) for each in tasks)

    def beat():
        while True:
            os.write(told, f"beat {{kept_waiting()}} {{time.monotonic()}}\\n".encode())
            time.sleep(0.01)

    threading.Thread(target=beat, daemon=True).start()
    for number in range(1_000_000):
        tool.call_sync("Bash", {{"command": "git add -A", "description": str(number)}})
        os.write(told, f"call {{number}} {{time.monotonic()}}\\n".encode())
        time.sleep(0.003)
"""
_BOUND = 0.1


def undisturbed(beats: list[tuple[int, float]], until: float) -> bool:
    """Whether the machine let a host run, by its own pulse, and by how long its threads were
    ready and had no processor: one that was kept waiting proves nothing.
    """
    late = [(waited, at) for waited, at in beats if until - 3 * _BOUND < at < until]
    moments = [*(at for _, at in late), until]
    waited = [each for each, _ in late]
    return (
        len(late) > 5
        and max(after - before for before, after in pairwise(moments)) < _BOUND / 4
        and waited[-1] - waited[0] < _BOUND / 4 * 1e9
    )


def test_a_host_that_is_killed_loses_no_call_that_ended_a_tenth_of_a_second_before(
    tmp_path: Path, workspace: Path
) -> None:
    proved = 0
    for number in range(6):
        state, file = tmp_path / f"state{number}", tmp_path / f"told{number}"
        code = _HOST.format(told=str(file), workspace=str(workspace), state=str(state))
        with ending(start_host(code, state)) as host:
            while not file.exists():
                assert host.poll() is None
            signal.sigtimedwait([], 0.35 + secrets.randbelow(100) / 1000)
            killed = time.monotonic()
        lines = [line.split() for line in file.read_text().splitlines()]
        ended = {int(n): float(at) for kind, n, at in lines if kind == "call"}
        beats = [(int(waited), float(at)) for kind, waited, at in lines if kind == "beat"]
        found = [int(str(each["description"] or -1)) for each in entries(state)]
        # Whatever the machine was doing: no gap, and no entry that was not asked for.
        assert found == list(range(-1, len(found) - 1))
        assert prove(state / JOURNAL).broken is None
        if undisturbed(beats, killed):
            proved += 1
            lost = [killed - at for n, at in ended.items() if n not in set(found)]
            assert max(lost, default=0) < _BOUND
        if proved == 2:
            return
    if not proved:
        pytest.skip("this machine is too busy to tell what a killed host lost from what it waited")
