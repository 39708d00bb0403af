import os
from pathlib import Path

import pytest

from nacre.capture.spill import SpillFile
from nacre.model.transcript import Spill


def _prepared(folder: Path) -> Path:
    folder.mkdir(exist_ok=True)
    return folder / "spill.log"


def _spill(folder: Path, cap: int = 1000) -> SpillFile:
    return SpillFile(cap, lambda: _prepared(folder))


def test_no_file_is_made_before_the_first_byte(tmp_path: Path) -> None:
    spill = _spill(tmp_path / "spills")
    spill.write(b"")
    assert spill.value() is None
    assert not (tmp_path / "spills").exists()


def test_the_raw_bytes_are_kept_for_their_owner_only(tmp_path: Path) -> None:
    spill = _spill(tmp_path)
    spill.write(b"\x1b[31mred\r\n\xff")
    spill.close()
    assert spill.path is not None
    assert spill.path.read_bytes() == b"\x1b[31mred\r\n\xff"
    assert spill.path.stat().st_mode & 0o777 == 0o600


def test_it_is_full_when_nothing_more_would_be_written(tmp_path: Path) -> None:
    spill, impossible = _spill(tmp_path, cap=5), _spill(tmp_path / "no" / "such", cap=5)
    spill.write(b"abcd")
    assert not spill.full
    spill.write(b"ef")
    impossible.write(b"a")
    assert (spill.full, impossible.full) == (True, True)


def test_a_cap_keeps_the_first_bytes(tmp_path: Path) -> None:
    spill = _spill(tmp_path, cap=5)
    spill.write(b"abc")
    spill.write(b"defgh")
    spill.write(b"i")
    spill.close()
    assert spill.path is not None
    assert spill.path.read_bytes() == b"abcde"
    assert spill.value() == Spill(path=spill.path, kept=5)


def test_a_full_disk_costs_the_file_and_says_why(tmp_path: Path) -> None:
    """/dev/full answers every write as a full disk does."""
    spill = _spill(tmp_path)
    spill.write(b"a")
    assert spill._file is not None
    os.dup2(os.open("/dev/full", os.O_WRONLY), spill._file)
    spill.write(b"b")
    spill.write(b"c")
    assert spill.value() == Spill(path=None, kept=0, failure="No space left on device")
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_cannot_be_made_costs_the_file_and_says_why(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    spill = SpillFile(10, lambda: _prepared(tmp_path / "file" / "x"))
    spill.write(b"a")
    assert spill.value() == Spill(path=None, kept=0, failure="Not a directory")


@pytest.mark.needs("ordinary-user")
def test_a_folder_that_may_not_be_written_costs_the_file_and_says_why(tmp_path: Path) -> None:
    (tmp_path / "spills").mkdir(mode=0o500)
    spill = _spill(tmp_path / "spills")
    spill.write(b"a")
    assert spill.value() == Spill(path=None, kept=0, failure="Permission denied")
