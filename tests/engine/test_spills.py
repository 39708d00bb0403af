import gc
import os
import time
from datetime import timedelta
from pathlib import Path

import pytest

from nacre.capture.spill import SpillFile
from nacre.engine.assemble import Settings, assemble
from nacre.engine.occasion import Occasion
from nacre.engine.retention import Retention
from nacre.engine.spills import Spills
from nacre.errors import StateError
from nacre.model.call import Run
from nacre.model.outcome import Exited
from nacre.model.transcript import Limit
from nacre.testing import AllowEverything

SAVED = Limit(head=0, tail=1000, spill=1 << 30, inline=10)


@pytest.fixture
def given(tmp_path: Path) -> Path:
    """A folder that a caller names; not made yet."""
    return tmp_path / "deep" / "given"


def written(spills: Spills, text: bytes = b"text") -> SpillFile:
    file = spills.file(1000)
    file.write(text)
    file.close()
    return file


def names(folder: Path) -> list[str]:
    return sorted(os.listdir(folder))


def test_a_given_folder_is_made_when_it_is_needed(state: Path, given: Path) -> None:
    spills = Spills(state, given=given)
    file = spills.file(1000)
    assert not given.exists()
    file.write(b"text")
    assert file.path is not None
    assert file.path.parent == given
    assert file.path.read_bytes() == b"text"
    assert not state.exists()
    file.close()
    spills.close()


def test_a_given_folder_is_made_by_asking_for_it(state: Path, given: Path) -> None:
    Spills(state, given=given).require()
    assert names(given) == []


def test_nothing_is_required_where_no_folder_was_given(state: Path) -> None:
    Spills(state).require()
    assert not state.exists()


def test_closing_removes_our_files_from_a_given_folder_and_no_others(
    state: Path, given: Path
) -> None:
    given.mkdir(parents=True)
    (given / "bash-0123456789ab.log").write_text("somebody else's")
    (given / "notes").write_text("somebody else's")
    spills = Spills(state, given=given)
    first, second = written(spills), written(spills)
    assert first.path is not None
    assert second.path is not None
    first.path.unlink()
    assert len(names(given)) == 3
    spills.close()
    assert names(given) == ["bash-0123456789ab.log", "notes"]
    spills.close()


def test_files_stay_in_a_given_folder_where_they_are_kept(state: Path, given: Path) -> None:
    spills = Spills(state, Retention(), given)
    file = written(spills)
    spills.close()
    assert file.path is not None
    assert file.path.read_bytes() == b"text"


def test_what_is_kept_too_long_is_removed_by_the_next_that_spills(state: Path, given: Path) -> None:
    given.mkdir(parents=True)
    (given / "notes.log").write_text("somebody else's")
    first = Spills(state, Retention(), given)
    old, young = written(first), written(first)
    first.close()
    assert old.path is not None
    assert young.path is not None
    long_ago = time.time() - 1000
    os.utime(old.path, (long_ago, long_ago))
    os.utime(given / "notes.log", (long_ago, long_ago))
    second = Spills(state, Retention(age=timedelta(seconds=500)), given)
    new = written(second)
    second.close()
    assert new.path is not None
    assert names(given) == sorted(["notes.log", young.path.name, new.path.name])


@pytest.mark.parametrize(("below", "reason"), [("", "File exists"), ("x", "Not a directory")])
def test_a_folder_that_cannot_be_made_is_named_with_the_reason(
    state: Path, tmp_path: Path, below: str, reason: str
) -> None:
    (tmp_path / "file").write_text("")
    folder = tmp_path / "file" / below
    with pytest.raises(StateError) as refused:
        Spills(state, given=folder).require()
    assert str(refused.value) == f"{folder}: {reason}"
    assert isinstance(refused.value.__cause__, OSError)


@pytest.mark.needs("ordinary-user")
def test_a_folder_that_cannot_be_written_is_named(state: Path, given: Path) -> None:
    given.mkdir(parents=True)
    given.chmod(0o500)
    with pytest.raises(StateError, match="cannot be written"):
        Spills(state, given=given).require()


async def test_no_script_runs_where_its_output_could_not_be_saved(
    state: Path, workspace: Path, tmp_path: Path, occasion: Occasion
) -> None:
    (tmp_path / "file").write_text("")
    settings = Settings(state=state, output_dir=tmp_path / "file")
    engine = assemble(settings, AllowEverything())
    with pytest.raises(StateError):
        await engine.run(Run(script="touch ran", limit=SAVED), occasion)
    engine.close()
    assert names(workspace) == []


@pytest.mark.parametrize(("detached", "left"), [(False, 0), (True, 1)])
async def test_an_engine_s_spills_go_with_it_unless_its_jobs_stay(
    state: Path, given: Path, occasion: Occasion, left: int, *, detached: bool
) -> None:
    settings = Settings(state=state, output_dir=given, detached=detached)
    engine = assemble(settings, AllowEverything())
    result = await engine.run(Run(script="seq 100", limit=SAVED), occasion)
    spill = result.transcript.spill
    assert result.outcome == Exited(0)
    assert spill is not None
    assert spill.path is not None
    assert names(given) == [spill.path.name]
    engine.close()
    assert len(names(given)) == left


async def test_a_program_carries_a_script_out_that_is_checked_as_it_is(
    state: Path, workspace: Path, occasion: Occasion
) -> None:
    engine = assemble(Settings(state=state), AllowEverything())
    run = Run(script="echo script", program="echo before; echo script; touch ran", limit=SAVED)
    result = await engine.run(run, occasion)
    engine.close()
    assert result.transcript.tail == b"before\nscript\n"
    assert names(workspace) == ["ran"]


def test_a_tool_that_nobody_closes_takes_its_files_along(tmp_path: Path) -> None:
    given = tmp_path / "given"
    spills = Spills(tmp_path / "spills", given=given)
    spill = spills.file(1000)
    spill.write(b"said")
    spill.close()
    assert len(list(given.iterdir())) == 1
    pid = os.fork()
    if not pid:
        del spill, spills
        gc.collect()
        os._exit(0)
    os.waitpid(pid, 0)
    assert len(list(given.iterdir())) == 1  # a forked process owns none of them
    del spill, spills
    gc.collect()
    assert list(given.iterdir()) == []
