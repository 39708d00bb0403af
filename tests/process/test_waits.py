"""Waiting without an event loop, and in one."""

import os
import signal
import threading
import time
from collections.abc import Generator

import anyio
import pytest

from nacre.process.waits import (
    aside,
    is_alone,
    loop_runs,
    now,
    pause,
    readable,
    run_alone,
    wholly,
)


@pytest.fixture
def pipe() -> Generator[tuple[int, int]]:
    ends = os.pipe()
    yield ends
    for end in ends:
        os.close(end)


async def test_in_a_loop_it_waits_for_a_descriptor_or_a_deadline(pipe: tuple[int, int]) -> None:
    assert not await readable(pipe[0], now() + 0.01)
    os.write(pipe[1], b"x")
    assert await readable(pipe[0])
    await pause(0.001)
    assert not is_alone()
    assert loop_runs()


def test_alone_it_waits_for_a_descriptor_or_a_deadline(pipe: tuple[int, int]) -> None:
    async def call() -> tuple[bool, bool]:
        early = await readable(pipe[0], now() + 0.01)
        threading.Timer(0.01, os.write, (pipe[1], b"x")).start()
        return early, await readable(pipe[0])

    assert run_alone(call) == (False, True)


def test_a_deadline_that_is_over_is_no_reason_not_to_look(pipe: tuple[int, int]) -> None:
    async def call() -> tuple[bool, bool]:
        nothing = await readable(pipe[0], now() - 1)
        os.write(pipe[1], b"x")
        return nothing, await readable(pipe[0], now() - 1)

    assert run_alone(call) == (False, True)


def test_alone_a_pause_takes_its_time() -> None:
    begun = time.monotonic()
    run_alone(lambda: pause(0.05))
    assert time.monotonic() - begun >= 0.05


def test_alone_work_is_done_on_the_same_thread() -> None:
    done: list[int] = []

    async def call() -> int:
        await wholly(lambda: done.append(threading.get_ident()))
        return await aside(threading.get_ident)

    assert run_alone(call) == threading.get_ident()
    assert done == [threading.get_ident()]


async def test_in_a_loop_work_is_done_on_another_thread() -> None:
    done: list[int] = []
    await wholly(lambda: done.append(threading.get_ident()))
    assert threading.get_ident() not in {*done, await aside(threading.get_ident)}


def test_an_interrupt_is_raised_where_the_call_waits(pipe: tuple[int, int]) -> None:
    seen: list[str] = []

    async def call() -> None:
        here = threading.get_ident()
        threading.Timer(0.01, signal.pthread_kill, (here, signal.SIGINT)).start()
        try:
            await readable(pipe[0])
        except KeyboardInterrupt:
            seen.append("interrupted")
            raise
        finally:
            seen.append("cleared up")

    with pytest.raises(KeyboardInterrupt):
        run_alone(call)
    assert seen == ["interrupted", "cleared up"]
    assert not is_alone()


def test_an_interrupt_between_two_waits_is_raised_at_the_next(pipe: tuple[int, int]) -> None:
    seen: list[str] = []

    async def call() -> None:
        signal.raise_signal(signal.SIGINT)
        seen.append("put back")
        try:
            await readable(pipe[0])
        finally:
            seen.append("cleared up")

    with pytest.raises(KeyboardInterrupt):
        run_alone(call)
    assert seen == ["put back", "cleared up"]
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_a_second_interrupt_is_not_waited_with() -> None:
    seen: list[str] = []

    async def call() -> None:
        signal.raise_signal(signal.SIGINT)
        seen.append("once")
        signal.raise_signal(signal.SIGINT)
        seen.append("twice")

    with pytest.raises(KeyboardInterrupt):
        run_alone(call)
    assert seen == ["once"]


def test_a_host_that_heeds_interrupts_itself_goes_on_doing_so(pipe: tuple[int, int]) -> None:
    heard: list[int] = []

    def heed(number: int, _: object) -> None:
        heard.append(number)
        os.write(pipe[1], b"x")

    async def call() -> bool:
        signal.raise_signal(signal.SIGINT)
        return await readable(pipe[0])

    before = signal.signal(signal.SIGINT, heed)
    try:
        assert run_alone(call)
    finally:
        signal.signal(signal.SIGINT, before)
    assert heard == [signal.SIGINT]


def test_what_a_call_raises_is_raised(pipe: tuple[int, int]) -> None:
    async def call() -> None:
        await readable(pipe[0], now())
        raise LookupError("here")

    with pytest.raises(LookupError, match="here"):
        run_alone(call)
    assert not is_alone()


def test_what_needs_a_loop_is_refused_in_words() -> None:
    class Elsewhere:
        def __await__(self) -> Generator[object]:
            yield "a future"

    async def call() -> None:
        await Elsewhere()

    with pytest.raises(TypeError, match="'a future' can be waited for in an event loop only"):
        run_alone(call)


def test_a_descriptor_that_was_closed_is_not_waited_for() -> None:
    read, write = os.pipe()
    os.close(write)
    os.close(read)

    async def call() -> bool:
        return await readable(read)

    assert run_alone(call)


def test_one_may_be_within_another_and_within_that_a_loop(pipe: tuple[int, int]) -> None:
    os.write(pipe[1], b"x")

    async def innermost() -> bool:
        return is_alone() or not await readable(pipe[0])

    async def inner() -> bool:
        return anyio.run(innermost)

    async def outer() -> tuple[bool, bool, bool]:
        return is_alone(), run_alone(inner), is_alone()

    assert run_alone(outer) == (True, False, True)
    assert not is_alone()


def test_another_thread_is_not_alone() -> None:
    async def call() -> bool:
        found: list[bool] = []
        thread = threading.Thread(target=lambda: found.append(is_alone()))
        thread.start()
        thread.join()
        return found[0]

    assert not run_alone(call)
