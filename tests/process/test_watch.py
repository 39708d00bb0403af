from pathlib import Path

import anyio
import pytest

from nacre.process.watch import FileWatch

pytestmark = pytest.mark.anyio


async def test_a_write_wakes_the_one_who_waits(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.touch()

    async def write() -> None:
        await anyio.sleep(0.05)
        path.write_text("a")

    with FileWatch([path]) as watch, anyio.fail_after(5):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(write)
            await watch.wait(60)
    assert path.read_text() == "a"


async def test_without_a_write_the_wait_ends_in_time(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.touch()
    with FileWatch([path]) as watch, anyio.fail_after(5):
        await watch.wait(0.05)


async def test_a_blind_watch_looks_again_by_itself(tmp_path: Path) -> None:
    watch = FileWatch([tmp_path])
    watch.__exit__()
    watch._fd = None
    with anyio.fail_after(5):
        await watch.wait(60)
    watch.wait_blocking(0.01)
