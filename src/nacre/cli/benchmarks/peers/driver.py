"""A peer's driver, seen from the host: asked for one call at a time."""

import json
import math
import os
import signal
from contextlib import suppress
from pathlib import Path
from typing import Self, cast

import anyio
from anyio.abc import Process
from anyio.streams.buffered import BufferedByteReceiveStream

from nacre.cli.benchmarks.peers.entrant import Answer
from nacre.cli.benchmarks.row import Scale
from nacre.errors import NacreError

__all__ = ("Driver", "DriverError")

# The slowest of them imports for some seconds where all start at once, and takes less than one for a call.
_READY_SECONDS, _CALL_SECONDS = 90, 20
_EXIT_SECONDS = 5.0
# What says more than this without ending its line is no driver.
_MOST_BYTES = 1024 * 1024


class DriverError(NacreError):
    """A driver did not do what it was asked; the sentence says what it did."""


class Driver:
    """The host's end of the wire that `drivers/wire.py` describes."""

    def __init__(self, process: Process, log: Path, scale: Scale) -> None:
        if process.stdin is None or process.stdout is None:
            raise DriverError("its driver has no pipes")
        self._process = process
        self._stdin = process.stdin
        self._answers = BufferedByteReceiveStream(process.stdout)
        self._log = log
        self._scale = scale

    @classmethod
    async def start(
        cls, words: tuple[str, ...], scratch: Path, environ: dict[str, str], scale: Scale
    ) -> Self:
        """Start one in the workspace of its own scratch folder; it is not waited for.

        Raises:
            DriverError: If its program cannot be started.
        """
        log, folder = scratch / "stderr", scratch / "workspace"
        descriptor = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            process = await anyio.open_process(
                words, stderr=descriptor, cwd=folder, env=environ, start_new_session=True
            )
        except OSError as error:
            raise DriverError(f"its driver cannot be started: {error}") from error
        finally:
            os.close(descriptor)
        return cls(process, log, scale)

    async def ready(self) -> str:
        """Wait until its peer can be called; the peer's version.

        Raises:
            DriverError: If that does not come to be.
        """
        message = await self._message(self._scale.of(_READY_SECONDS, quick=20))
        return str(message.get("version", ""))

    async def call(self, script: str) -> Answer:
        """One call of its peer.

        Raises:
            DriverError: If it does not say in time, or not in order, what that came to.
        """
        try:
            await self._stdin.send(f"{json.dumps(script)}\n".encode())
        except (anyio.BrokenResourceError, anyio.ClosedResourceError):
            raise DriverError(await self._ending()) from None
        message = await self._message(self._scale.of(_CALL_SECONDS, quick=2))
        seconds = message.get("seconds")
        if not isinstance(seconds, int | float) or not 0 < seconds < math.inf:
            raise DriverError(f"it answered {message!r:.80}, which has no time")
        return Answer(float(seconds), str(message.get("output", "")))

    async def leave(self) -> None:
        """Let it end: there is no more to do."""
        with suppress(anyio.BrokenResourceError):
            await self._stdin.aclose()

    def kill(self) -> None:
        """End its session at once."""
        with suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)

    async def gone(self) -> None:
        """Wait for its process, for as long as that takes."""
        await self._process.wait()

    async def close(self) -> None:
        """Close what is held of it; its process has ended."""
        await self._process.aclose()

    async def _message(self, seconds: int) -> dict[str, object]:
        try:
            with anyio.fail_after(seconds):
                line = await self._answers.receive_until(b"\n", _MOST_BYTES)
        except TimeoutError:
            raise DriverError(f"it gave no answer within {seconds} s") from None
        except anyio.IncompleteRead:
            raise DriverError(await self._ending()) from None
        except anyio.DelimiterNotFound:
            raise DriverError(f"it printed {_MOST_BYTES:,} bytes instead of an answer") from None
        try:
            message = json.loads(line)
        except ValueError:
            message = None
        if not isinstance(message, dict):
            raise DriverError(f"it printed {line.decode('utf-8', 'replace')!r:.80}, no answer")
        return cast("dict[str, object]", message)

    async def _ending(self) -> str:
        """How it ended, with its last words."""
        try:
            with anyio.fail_after(_EXIT_SECONDS):
                code = await self._process.wait()
        except TimeoutError:
            return "it has closed its output"
        said = self._log.read_text("utf-8", "replace").strip().rpartition("\n")[2]
        how = f"exited with code {code}" if code >= 0 else f"was ended by signal {-code}"
        return f"its driver {how}: {said:.200}" if said else f"its driver {how}"
