from contextlib import ExitStack
from pathlib import Path

import anyio
import anyio.lowlevel
import pytest

from nacre.process.watch import BlockingFileWatch, FileWatch
from processes import descriptors

pytestmark = pytest.mark.anyio


def _files(folder: Path, count: int) -> list[Path]:
    paths = [folder / str(number) for number in range(count)]
    for path in paths:
        path.touch()
    return paths


async def test_a_write_wakes_the_one_who_waits(tmp_path: Path) -> None:
    [path] = _files(tmp_path, 1)

    async def write() -> None:
        await anyio.sleep(0.05)
        path.write_text("a")

    with FileWatch([path]) as watch, anyio.fail_after(5):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(write)
            await watch.wait(60)
    assert path.read_text() == "a"


async def test_a_write_between_two_waits_is_not_missed(tmp_path: Path) -> None:
    [path] = _files(tmp_path, 1)
    with FileWatch([path]) as watch, anyio.fail_after(5):
        for text in "abc":
            path.write_text(text)
            await watch.wait(60)


async def test_without_a_write_the_wait_ends_in_time(tmp_path: Path) -> None:
    with FileWatch(_files(tmp_path, 1)) as watch, anyio.fail_after(5):
        await watch.wait(0.05)
        await watch.wait(0.05)


async def test_hundreds_share_one_descriptor_and_each_is_woken_by_its_own_file(
    tmp_path: Path,
) -> None:
    """Whoever reads for the others is woken as well, cancelled, or out of time before them."""
    paths = _files(tmp_path, 300)
    before = descriptors()
    woken: list[int] = []

    async def wait(number: int, seconds: float) -> None:
        await watches[number].wait(seconds)
        woken.append(number)

    with ExitStack() as stack, anyio.fail_after(20):
        watches = [stack.enter_context(FileWatch([path])) for path in paths]
        assert descriptors() == before + 1
        async with anyio.create_task_group() as tasks:
            async with anyio.create_task_group() as given_up:
                for number in range(100):
                    given_up.start_soon(wait, number, 60)
                await anyio.sleep(0.01)
                for number in range(100, 300):
                    tasks.start_soon(wait, number, 60 if number < 299 else 0.05)
                await anyio.sleep(0.05)
                given_up.cancel_scope.cancel()
            for number in range(100, 299):
                paths[number].write_text("a")
                while number not in woken:
                    await anyio.lowlevel.checkpoint()
    assert sorted(woken) == list(range(100, 300))
    assert descriptors() == before


async def test_two_may_watch_one_file_and_one_that_goes_takes_nothing_from_the_other(
    tmp_path: Path,
) -> None:
    [path] = _files(tmp_path, 1)
    with FileWatch([path]) as one, anyio.fail_after(5):
        with FileWatch([path]) as other:
            path.write_text("a")
            await one.wait(60)
            await other.wait(60)
        path.write_text("b")
        await one.wait(60)


async def test_a_watch_whose_file_is_removed_does_not_harm_others(tmp_path: Path) -> None:
    gone, path = _files(tmp_path, 2)
    with FileWatch([path]) as watch, anyio.fail_after(5):
        with FileWatch([gone]):
            gone.unlink()
            path.write_text("a")
        await watch.wait(60)


async def test_a_blind_watch_looks_again_by_itself(tmp_path: Path) -> None:
    before = descriptors()
    with FileWatch([tmp_path / "missing"]) as watch, anyio.fail_after(5):
        await watch.wait(60)
    assert descriptors() == before


def test_a_thread_without_a_loop_is_woken_by_a_write_that_came_before(tmp_path: Path) -> None:
    [path] = _files(tmp_path, 1)
    before = descriptors()
    with BlockingFileWatch([path]) as watch:
        path.write_text("a")
        watch.wait(60)
        watch.wait(0.01)
    assert descriptors() == before


def test_a_blind_thread_waits_no_longer_than_it_was_told(tmp_path: Path) -> None:
    with BlockingFileWatch([tmp_path / "missing"]) as watch:
        watch.wait(0.01)
