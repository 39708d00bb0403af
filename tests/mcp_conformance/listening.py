"""A server of ours in a process of its own, for the length of a block."""

import queue
import re
import subprocess
import threading
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

__all__ = ("listening",)

_ADDRESS = re.compile(r"listening at (http://\S+)")
_START_SECONDS = 60.0
_END_SECONDS = 20.0


@contextmanager
def listening(words: Sequence[str], cwd: Path, variables: Mapping[str, str]) -> Generator[str]:
    """Start a server that says where it listens; the address. It has ended after the block.

    Raises:
        RuntimeError: If it does not say so in time.
    """
    process = subprocess.Popen(
        words, cwd=cwd, env=variables, stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
    )
    said: queue.SimpleQueue[str] = queue.SimpleQueue()
    stderr = process.stderr
    assert stderr is not None
    reader = threading.Thread(target=_read, args=(stderr, said))
    reader.start()
    try:
        yield _address(said)
    finally:
        process.terminate()
        try:
            process.wait(_END_SECONDS)
        finally:
            process.kill()
            process.wait()
            reader.join()
            stderr.close()


def _read(stream: IO[str], said: queue.SimpleQueue[str]) -> None:
    for line in stream:
        said.put(line)
    said.put("")


def _address(said: queue.SimpleQueue[str]) -> str:
    lines: list[str] = []
    with suppress(queue.Empty):
        while not lines or lines[-1]:
            lines.append(said.get(timeout=_START_SECONDS))
            if found := _ADDRESS.search(lines[-1]):
                return found[1]
    raise RuntimeError(f"the server did not start: {''.join(lines)}")
