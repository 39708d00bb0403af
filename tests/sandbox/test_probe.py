"""Bubblewrap, tried before anybody asks."""

import os
from pathlib import Path

import pytest

from nacre.sandbox.probe import bwrap_ahead, probe


def _children() -> list[str]:
    return Path(f"/proc/self/task/{os.getpid()}/children").read_text("ascii").split()


@pytest.mark.needs("bubblewrap")
def test_the_first_who_asks_has_the_answer_to_what_was_tried_before() -> None:
    before = _children()
    with bwrap_ahead(()):
        (trial,) = set(_children()) - set(before)
        os.waitid(os.P_PID, int(trial), os.WEXITED | os.WNOWAIT)
        assert probe().bwrap
        assert trial not in _children()
        assert probe().bwrap
    assert _children() == before


@pytest.mark.needs("bubblewrap")
def test_what_nobody_asked_for_is_waited_for_and_forgotten() -> None:
    before = _children()
    with bwrap_ahead(()):
        assert len(_children()) == len(before) + 1
    assert _children() == before


def test_a_program_in_an_untrusted_folder_is_not_tried(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("nacre.sandbox.bubblewrap._USUAL", ())
    monkeypatch.setenv("PATH", str(tmp_path))
    (tmp_path / "bwrap").write_text("#!/bin/sh\ntouch tried\n", "utf-8")
    (tmp_path / "bwrap").chmod(0o755)
    before = _children()
    with bwrap_ahead([tmp_path]):
        assert _children() == before
        assert probe([tmp_path]).no_bwrap == "bubblewrap is not installed"
