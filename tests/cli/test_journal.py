"""`nacre journal` through real processes: shown, followed, proved, shortened."""

import json
import os
import select
import sqlite3
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path

import pytest

from hosts import Finished, nacre
from nacre.engine.entries import BEGAN
from nacre.engine.journal import JOURNAL, Journal, moment

HOSTILE = "echo \x1b[2J\x9b31m\u202e\x07\r\nfake line\t\x7f"


def write(state: Path, *entries: Mapping[str, object]) -> None:
    journal = Journal(state / JOURNAL)
    for entry in entries:
        journal.write(
            {"at": "2024-05-06T07:08:09.123Z", "dialect": "nacre", "tool": "Bash", **entry}
        )
    journal.close()


def journal(state: Path, *words: str) -> Finished:
    return nacre("journal", *words, state=state)


def numbers(done: Finished) -> list[int]:
    return [int(line.split()[0]) for line in done.out.splitlines()]


def test_calls_are_shown_with_how_they_ended(state: Path) -> None:
    nacre("run", "--", "echo hello; exit 3", state=state)
    nacre("run", "--", "git add -A", state=state)
    call = json.dumps({"command": "true", "description": "do nothing"})
    nacre("call", "nacre", "Bash", call, state=state)
    ran, denied, called = (line.split() for line in journal(state).out.splitlines())
    assert ran[2:] == ["nacre.Run", "allow", "exited", "3", "echo", "hello;", "exit", "3"]
    assert denied[2:] == ["nacre.Run", "deny", "denied", "git", "add", "-A"]
    assert called[2:] == ["nacre.Bash", "allow", "exited", "0", "true", "#", "do", "nothing"]


def test_a_beginning_is_left_out_once_its_end_is_there(state: Path) -> None:
    begun = {"outcome": BEGAN}
    write(state, begun | {"call": "a"}, begun | {"call": "b"}, {"call": "a"}, begun | {"call": "c"})
    assert numbers(journal(state)) == [2, 3, 4]
    assert [json.loads(line)["number"] for line in journal(state, "--json").out.splitlines()] == [
        1,
        2,
        3,
        4,
    ]
    assert numbers(journal(state, "--last", "2")) == [3, 4]
    assert numbers(journal(state, "--last", "3")) == [2, 3, 4]
    assert journal(state, "--last", "0").out == ""
    assert numbers(journal(state, "--last", "99")) == [2, 3, 4]


def test_what_a_script_holds_is_shown_and_not_obeyed(state: Path) -> None:
    write(state, {"script": HOSTILE, "description": HOSTILE, "tool": HOSTILE, "decision": HOSTILE})
    shown = journal(state).out
    assert shown.count("\n") == 1
    assert all(each == "\n" or each.isprintable() for each in shown)
    assert "\\x1b[2J\\x9b31m\\u202e" in shown
    assert json.loads(journal(state, "--json").out)["script"] == HOSTILE


def test_an_entry_that_somebody_spoiled_is_shown_all_the_same(state: Path) -> None:
    write(state, {}, {}, {})
    db = sqlite3.connect(state / JOURNAL, isolation_level=None)
    db.execute("DROP TRIGGER journal_stays")
    for number, entry in ((1, "no JSON \x1b[2J"), (2, '["a list"]')):
        db.execute("UPDATE journal SET entry = ? WHERE number = ?", (entry, number))
    db.execute("UPDATE journal SET entry = CAST(x'ff' AS TEXT) WHERE number = 3")
    db.close()
    done = journal(state)
    assert (done.code, done.err) == (0, "")
    assert "no JSON \\x1b[2J" in done.out
    texts = [json.loads(line)["text"] for line in journal(state, "--json").out.splitlines()]
    assert texts == ["no JSON \x1b[2J", '["a list"]', "\udcff"]


def test_verify_proves_it_and_prints_a_hash_to_note_elsewhere(state: Path) -> None:
    assert journal(state, "verify").out == "0 entries, unbroken\n"
    write(state, {})
    first = journal(state, "verify").out
    assert first.startswith("1 entry, unbroken; the hash of the last is ")
    noted = first.split()[-1]
    write(state, {}, {})
    done = journal(state, "verify", "--has", noted)
    assert (done.code, done.out.startswith("3 entries, unbroken; ")) == (0, True)
    assert journal(state, "verify", "--has", noted[:16].upper()).code == 0
    assert journal(state, "verify", "--has", noted[:8]).code == 2
    done = journal(state, "verify", "--has", "f" * 64)
    assert (done.code, done.err) == (1, f"nacre: no entry has the hash {'f' * 64}\n")


def test_verify_names_the_first_broken_entry(state: Path) -> None:
    write(state, *({"script": f"true {number}"} for number in range(5)))
    db = sqlite3.connect(state / JOURNAL, isolation_level=None)
    db.execute("DROP TRIGGER journal_stays")
    db.execute("""UPDATE journal SET entry = '{"script":"all is \x1b[8m well"}' WHERE number > 2""")
    db.close()
    done = journal(state, "verify")
    assert done.code == 1
    assert done.out.splitlines() == [
        "entry 3 is broken: its hash is not that of its text and of the entry before",
        'it says: {"script":"all is \\x1b[8m well"}',
    ]


def test_verify_of_what_is_no_journal_is_one_sentence_and_touches_nothing(state: Path) -> None:
    state.mkdir()
    (state / JOURNAL).write_bytes(b"nonsense" * 1000)
    done = journal(state, "verify")
    assert (done.code, done.out) == (1, "")
    assert "journal.db cannot be read: file is not a database" in done.err
    assert done.err.count("\n") == 1
    assert (state / JOURNAL).read_bytes() == b"nonsense" * 1000


def test_verify_does_not_forget_a_journal_that_was_set_aside(state: Path) -> None:
    state.mkdir()
    (state / JOURNAL).write_bytes(b"nonsense" * 1000)
    nacre("run", "--", "true", state=state)
    done = journal(state, "verify")
    assert (done.code, "unbroken" in done.out) == (1, True)
    assert "an earlier journal could not be gone on with, and is not proved here: " in done.err
    assert "set aside" in journal(state).out


def test_old_entries_are_removed_when_a_person_says_so(state: Path) -> None:
    old, new = moment(time.time() - 9 * 24 * 3600), moment(time.time())
    write(state, {"at": old}, {"at": old}, {"at": new}, {"at": old})
    done = journal(state, "forget", "--older-than", "7")
    assert (done.code, done.out) == (0, "2 entries removed\n")
    assert numbers(journal(state)) == [3, 4, 5]
    shown = journal(state, "verify")
    assert (shown.code, shown.out[:44]) == (0, "3 entries after 2 that were removed, unbroke")
    assert journal(state, "forget", "--older-than", "7").out == "0 entries removed\n"


def test_no_number_of_days_removes_what_is_new(state: Path) -> None:
    write(state, {"at": moment(time.time())}, {})
    assert journal(state, "forget", "--older-than", "18000").out == "0 entries removed\n"
    for days in ("525600", "9" * 22, "-1"):
        done = journal(state, "forget", "--older-than", days)
        assert done.code == 2
        assert "is not in the range" in done.err
    assert numbers(journal(state)) == [1, 2]


def test_a_broken_journal_is_not_shortened(state: Path) -> None:
    write(state, {}, {}, {})
    db = sqlite3.connect(state / JOURNAL, isolation_level=None)
    db.execute("DROP TRIGGER journal_is_kept")
    db.execute("DELETE FROM journal WHERE number = 2")
    db.close()
    done = journal(state, "forget", "--older-than", "0")
    assert (done.code, done.out) == (1, "")
    assert "entry 3 is broken: entry 2 is missing; nothing was removed" in done.err
    assert numbers(journal(state)) == [1, 3]


@pytest.mark.parametrize("existing", [True, False], ids=["begun", "not-begun"])
def test_following_shows_what_other_processes_do(state: Path, *, existing: bool) -> None:
    if existing:
        write(state, {"script": "true before"})
    following = subprocess.Popen(
        [sys.executable, "-m", "nacre", "journal", "--follow", "--last", "1"],
        stdout=subprocess.PIPE,
        env={**os.environ, "NACRE_STATE": str(state)},
    )
    assert following.stdout is not None
    try:
        if existing:
            assert b"true before" in following.stdout.readline()
        write(state, {"script": "true after"})
        assert b"true after" in following.stdout.readline()
        write(state, {"script": "true later"}, {"script": "true last"})
        assert b"true later" in following.stdout.readline()
        assert b"true last" in following.stdout.readline()
        assert not select.select([following.stdout], [], [], 0)[0]
    finally:
        following.kill()
        following.wait()
        following.stdout.close()


def test_following_ends_when_nobody_reads_any_more(state: Path) -> None:
    write(state, {"script": "true"})
    done = subprocess.run(
        ["bash", "-c", f"{sys.executable} -m nacre journal --follow | head -1"],
        capture_output=True,
        check=False,
        timeout=30,
        env={**os.environ, "NACRE_STATE": str(state)},
    )
    assert (done.stdout.count(b"\n"), done.stderr) == (1, b"")


def test_help_has_examples_and_exit_codes(state: Path) -> None:
    for words in (["journal"], ["grants"]):
        done = nacre(*words, "--help", state=state)
        assert done.code == 0
        assert "Examples:" in done.out
    assert "0  every entry is as it was written" in journal(state, "--help").out
