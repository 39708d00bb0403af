import os
from pathlib import Path, PurePath

import pytest

from nacre.sandbox.anchors import Anchors, identities
from processes import descriptors


def replace_file(path: Path) -> None:
    """Another file at a path, as most editors save one."""
    other = path.with_name(f"{path.name}.new")
    other.write_text("other")
    other.replace(path)


def test_nothing_has_moved_at_first(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    anchors = Anchors([tmp_path, tmp_path / "file", tmp_path / "absent"])
    try:
        assert not anchors.moved()
        (tmp_path / "file").write_text("another content is the same file")
        (tmp_path / "beside").touch()
        assert not anchors.moved()
    finally:
        anchors.close()


@pytest.mark.parametrize("folder", [False, True])
def test_a_file_that_is_made_anew_is_seen_whatever_its_number(
    tmp_path: Path, *, folder: bool
) -> None:
    """Each time at once: a file system gives the number that was freed last."""
    path = tmp_path / "file"

    def make() -> None:
        if folder:
            path.mkdir()
        else:
            path.touch()

    make()
    for _ in range(50):
        anchors = Anchors([path])
        try:
            if folder:
                path.rmdir()
            else:
                path.unlink()
            make()
            assert anchors.moved()
        finally:
            anchors.close()


def test_a_replaced_a_removed_and_a_new_file_are_seen(tmp_path: Path) -> None:
    path, absent = tmp_path / "file", tmp_path / "absent"
    path.touch()
    steps = (lambda: replace_file(path), path.unlink, absent.touch, lambda: absent.rename(path))
    for step in steps:
        anchors = Anchors([path, absent])
        try:
            step()
            assert anchors.moved()
        finally:
            anchors.close()


def test_closing_lets_go_of_every_file_and_can_be_repeated(tmp_path: Path) -> None:
    before = descriptors()
    anchors = Anchors([tmp_path, PurePath("/"), tmp_path / "absent"])
    assert descriptors() == before + 2
    anchors.close()
    anchors.close()
    assert descriptors() == before


def test_a_path_that_leads_through_a_link_is_astray(tmp_path: Path) -> None:
    real = Path(os.path.realpath(tmp_path))
    (real / "folder").mkdir()
    (real / "link").symlink_to("folder")
    straight, astray = Anchors([real / "folder"]), Anchors([real / "folder", real / "link"])
    try:
        assert straight.stray() is None
        assert astray.stray() == str(real / "link")
    finally:
        straight.close()
        astray.close()


def test_a_file_that_was_removed_is_astray(tmp_path: Path) -> None:
    path = Path(os.path.realpath(tmp_path)) / "file"
    path.touch()
    anchors = Anchors([path])
    try:
        path.unlink()
        assert anchors.stray() == str(path)
    finally:
        anchors.close()


def test_words_name_the_files_that_are_there(tmp_path: Path) -> None:
    path = tmp_path / "a:b"
    path.touch()
    file = path.stat()
    anchors = Anchors([path, tmp_path / "absent"])
    try:
        assert anchors.words("!") == (f"!{file.st_dev}:{file.st_ino}:{path}",)
    finally:
        anchors.close()


def test_neither_fifo_nor_device_is_opened(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "fifo")
    anchors = Anchors([tmp_path / "fifo", PurePath("/dev/ptmx")])
    anchors.close()
    assert 0 not in anchors.files


def test_what_is_not_there_has_no_identity(tmp_path: Path) -> None:
    (tmp_path / "loop").symlink_to("loop")
    names = [str(tmp_path), f"{tmp_path}/absent", f"{tmp_path}/loop", f"{tmp_path}/."]
    first, *none, same = identities(names)
    assert none == [0, 0]
    assert first == same != 0
