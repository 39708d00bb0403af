import sqlite3
import threading
from pathlib import Path

import pytest

from nacre.engine.store import VERSION, JobRow, Store
from nacre.errors import StateError


def _row(job_id: str = "job", **changes: object) -> JobRow:
    fields: dict[str, object] = {
        "id": job_id, "conversation": "c", "script": "true", "description": "", "cwd": "/",
        "detached": 0, "pid": 1, "mark": 1 << 62, "place": "here", "born": 1, "streams": 1, "started": 1.0, "stopping": 0,
    }  # fmt: skip
    return JobRow(**{**fields, **changes})  # pyright: ignore[reportArgumentType]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "state" / "nacre.db"


def test_a_job_comes_back_as_it_was_written(path: Path) -> None:
    store = Store(path)
    store.insert(_row())
    assert store.find("job") == _row()
    assert store.find("other") is None
    store.close()


def test_jobs_are_listed_by_conversation_and_age(path: Path) -> None:
    store = Store(path)
    store.insert(_row("b", started=2.0))
    store.insert(_row("a", started=1.0))
    store.insert(_row("c", conversation="other"))
    assert [row.id for row in store.jobs("c")] == ["a", "b"]
    assert len(store.jobs(None)) == 3
    store.close()


def test_the_first_end_that_is_noted_counts(path: Path) -> None:
    store = Store(path)
    store.insert(_row())
    store.settle(_row(outcome="exited", number=3, said=10, ended=5.0))
    store.settle(_row(outcome="lost", ended=6.0, stopping=1))
    found = store.find("job")
    assert found is not None
    assert found == _row(outcome="exited", number=3, said=10, ended=5.0)
    store.close()


def test_a_cursor_moves_only_from_where_it_was(path: Path) -> None:
    store = Store(path)
    store.insert(_row())
    assert store.advance("job", "c", {0: (0, 5), 1: (0, 7)})
    assert not store.advance("job", "c", {0: (0, 9), 1: (7, 9)})
    assert [store.cursor("job", "c", stream) for stream in (0, 1)] == [5, 7]
    assert store.cursor("job", "other", 0) == 0
    store.close()


def test_those_whose_end_is_not_known_are_found_without_the_others(path: Path) -> None:
    store = Store(path)
    for number in range(200):
        store.insert(_row(f"{number:03}", started=float(number), conversation=f"c{number % 2}"))
    store.settle(*(_row(f"{n:03}", outcome="exited", number=0, said=0, ended=1.0) for n in range(195)))  # fmt: skip
    assert [row.id for row in store.open("c1")] == ["195", "197", "199"]
    assert [row.id for row in store.open(None)] == ["195", "196", "197", "198", "199"]
    plan = "EXPLAIN QUERY PLAN SELECT * FROM jobs WHERE +conversation = 'c1' AND ended IS NULL"
    with sqlite3.connect(path) as database:
        assert "jobs_by_end (ended=?)" in str(database.execute(plan).fetchall())
    database.close()
    store.close()


def test_a_few_of_those_are_other_ones_each_time_and_all_of_them_in_time(path: Path) -> None:
    store = Store(path)
    assert store.some_open(4) == []
    for number in range(40):
        store.insert(_row(f"{number:03}"))
    store.settle(*(_row(f"{n:03}", outcome="exited", number=0, said=0, ended=1.0) for n in range(30)))  # fmt: skip
    seen: set[str] = set()
    for _ in range(1000):
        some = store.some_open(4)
        assert 1 <= len(some) <= 4
        seen |= {row.id for row in some}
        if len(seen) == 10:
            break
    assert seen == {f"{number:03}" for number in range(30, 40)}
    store.close()


def test_ended_jobs_expire_some_at_a_time(path: Path) -> None:
    store = Store(path)
    for number in range(20):
        store.insert(_row(f"{number:03}"))
    store.settle(*(_row(f"{n:03}", outcome="exited", number=0, said=0, ended=float(n)) for n in range(20)))  # fmt: skip
    while expired := store.expired(keep=5, oldest=3.0, most=4):
        assert len(expired) <= 8
        store.forget(expired)
    assert store.ids() == {f"{number:03}" for number in range(15, 20)}
    store.close()


def test_ended_jobs_expire_by_count_and_by_age_and_running_ones_never(path: Path) -> None:
    store = Store(path)
    for number in range(4):
        store.insert(_row(str(number)))
    for number in range(3):
        store.settle(_row(str(number), outcome="exited", number=0, said=0, ended=float(number)))
    assert store.expired(keep=2, oldest=0.0) == ["0"]
    assert sorted(store.expired(keep=9, oldest=4.0)) == ["0", "1", "2"]
    store.forget(["0", "1"])
    assert [row.id for row in store.jobs(None)] == ["2", "3"]
    store.close()


def test_a_database_that_is_none_is_set_aside_and_reported(path: Path) -> None:
    path.parent.mkdir()
    path.write_bytes(b"this is no database at all, however long it goes on" * 100)
    store = Store(path)
    store.insert(_row())
    (report,) = store.reports()
    assert report.startswith("the job database is broken (file is not a database); it was set")
    assert store.reports() == ()
    (aside,) = path.parent.glob("nacre.db.aside-*")
    assert aside.read_bytes().startswith(b"this is no database")
    store.close()


def test_a_torn_database_is_set_aside_and_reported(path: Path) -> None:
    store = Store(path)
    for number in range(300):
        store.insert(_row(f"{number:04}", script="x" * 500))
    store.close()
    whole = bytearray(path.read_bytes())
    whole[8192 : len(whole) - 4096 : 3] = b"\xaa" * len(whole[8192 : len(whole) - 4096 : 3])
    path.write_bytes(whole)
    again = Store(path)
    assert again.jobs(None) == []
    assert "is broken" in again.reports()[0]
    again.close()


def test_a_database_of_a_newer_version_is_set_aside_and_reported(path: Path) -> None:
    Store(path).insert(_row())
    with sqlite3.connect(path) as database:
        database.execute(f"PRAGMA user_version = {VERSION + 1}")
    database.close()
    store = Store(path)
    assert store.jobs(None) == []
    assert "is of a newer nacre (version 2, this one knows 1)" in store.reports()[0]
    (aside,) = [
        p
        for p in path.parent.glob("nacre.db.aside-*")
        if "-wal" not in p.name and "-shm" not in p.name
    ]
    with sqlite3.connect(aside) as database:
        assert database.execute("SELECT count(*) FROM jobs").fetchone() == (1,)
    database.close()
    store.close()


@pytest.mark.parametrize("statement", ["PRAGMA user_version = 1", "CREATE TABLE jobs (x)"])
def test_a_database_with_other_tables_is_set_aside(path: Path, statement: str) -> None:
    path.parent.mkdir()
    with sqlite3.connect(path) as database:
        database.execute(statement)
    database.close()
    store = Store(path)
    store.insert(_row())
    assert "other tables than it should" in store.reports()[0]
    store.close()


def test_a_folder_that_cannot_be_made_is_an_error_in_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(StateError, match=r"nacre\.db\.lock cannot be made: Not a directory"):
        Store(tmp_path / "file" / "nacre.db").jobs(None)


def test_many_connections_write_at_once_and_lose_nothing(path: Path) -> None:
    def work(name: int) -> None:
        store = Store(path)
        for number in range(20):
            store.insert(_row(f"{name}-{number}"))
        store.close()

    threads = [threading.Thread(target=work, args=(name,)) for name in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    store = Store(path)
    assert len(store.jobs(None)) == 160
    store.close()
