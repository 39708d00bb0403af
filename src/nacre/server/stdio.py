"""The protocol over standard input and output, without a thread.

The two descriptors are moved out of the way first: a script, or whatever else is started, finds
nothing to read there, and what it writes by mistake goes to standard error. A message has a
limit, and one that cannot be read is answered, where the SDK's own transport would drop it.
"""

import fcntl
import json
import os
import re
import socket
import stat
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress
from types import TracebackType
from typing import Self

import anyio
from mcp.shared.message import SessionMessage
from mcp.types import (
    INVALID_REQUEST,
    PARSE_ERROR,
    ErrorData,
    JSONRPCError,
    JSONRPCMessage,
    JSONRPCNotification,
    jsonrpc_message_adapter,
)
from pydantic import ValidationError

__all__ = ("MOST_BYTES", "claimed")

# What HTTP requests are held to as well.
MOST_BYTES = 4 * 1024 * 1024
# Little at once: what has been read is worked on.
_CHUNK = 1 << 13
# No more is read while so much waits for the client to take it.
_MOST_WAITING = MOST_BYTES
_PIECE = 4_096  # what a pipe takes whole, or not at all
_PRIVATE = 3
# Of what cannot be read, so much is searched for its id.
_HEAD = 4_096
_ID = re.compile(rb'"id"\s*:\s*(-?\d{1,18}|"[^"\\]{0,200}")')


@asynccontextmanager
async def claimed() -> AsyncGenerator[tuple["Inlet", "Outlet"]]:
    """Take over standard input and output for the length of a block."""
    taken = _private(0), _private(1)
    null = os.open(os.devnull, os.O_RDONLY)
    try:
        os.dup2(null, 0)
        os.dup2(2, 1)
        outlet = Outlet(taken[1])
        yield Inlet(taken[0], outlet), outlet
    finally:
        os.close(null)
        for number, fd in enumerate(taken):
            with suppress(OSError):
                os.dup2(fd, number)
            os.close(fd)


class _Stream:
    async def aclose(self) -> None:
        """Nothing: the descriptors are not this stream's."""

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        exc_type: type[BaseException] | None,
        exc_val: BaseException | None,
        exc_tb: TracebackType | None,
    ) -> None:
        await self.aclose()


class Outlet(_Stream):
    """Writes messages, a line each; one that was begun is finished before the next."""

    def __init__(self, fd: int) -> None:
        self._fd = fd
        self._lock = anyio.Lock()
        self._left = b""
        self._waiting = 0
        self._taken = anyio.Event()
        is_socket = stat.S_ISSOCK(os.fstat(fd).st_mode)
        # Whoever else holds the same description must not find it changed to non-blocking.
        self._socket = socket.socket(fileno=os.dup(fd)) if is_socket else None
        self._reopened = None if is_socket else _reopened(fd)

    async def send(self, item: SessionMessage, /) -> None:
        """Write a message.

        Raises:
            BrokenResourceError: If nobody reads any more.
        """
        await self.write(item.message)

    async def write(self, message: JSONRPCMessage) -> None:
        """Write a message that comes with nothing else."""
        line = message.model_dump_json(by_alias=True, exclude_unset=True).encode() + b"\n"
        self._waiting += len(line)
        try:
            async with self._lock:
                self._left += line
                while self._left:
                    await self._write_some()
        except OSError as error:
            raise anyio.BrokenResourceError from error
        finally:
            self._waiting -= len(line)
            self._taken.set()

    async def room(self) -> None:
        """Wait until the client has taken most of what it asked for."""
        while self._waiting > _MOST_WAITING:
            self._taken = anyio.Event()
            await self._taken.wait()

    async def aclose(self) -> None:
        """Let go of the copies of the descriptor."""
        if self._socket is not None:
            self._socket.close()
            self._socket = None
        if self._reopened is not None:
            os.close(self._reopened)
            self._reopened = None

    async def _write_some(self) -> None:
        # What a cancelled caller leaves of its line, the next one writes.
        try:
            if self._socket is not None:
                written = self._socket.send(self._left, socket.MSG_DONTWAIT)
            elif self._reopened is not None:
                written = os.write(self._reopened, self._left)
            else:
                # A terminal, or a pipe of somebody else's: it may have to be waited for.
                with suppress(PermissionError):  # epoll knows no ordinary files
                    await anyio.wait_writable(self._fd)
                written = os.write(self._fd, self._left[:_PIECE])
        except BlockingIOError:
            await anyio.wait_writable(self._socket or self._reopened or self._fd)
        else:
            self._left = self._left[written:]


class Inlet(_Stream):
    """Reads messages, a line each, none longer than the limit."""

    def __init__(self, fd: int, outlet: Outlet) -> None:
        self._fd = fd
        self._outlet = outlet
        self._waits = stat.S_IFMT(os.fstat(fd).st_mode) != stat.S_IFREG
        self._buffer = bytearray()
        self._skipping = False
        self._head = b""
        self._ended = False

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> SessionMessage:
        while True:
            await self._outlet.room()
            line = await self._line()
            if line is None:
                raise StopAsyncIteration
            if not line.strip():
                continue
            try:
                message = jsonrpc_message_adapter.validate_json(line, by_name=False)
            except ValidationError as error:
                await self._complain(line, *_fault(error))
                continue
            if not (isinstance(message, JSONRPCNotification) and _has_id(line)):
                return SessionMessage(message)
            await self._complain(b"", INVALID_REQUEST, "Invalid Request: an id that is none")

    async def receive(self) -> SessionMessage:
        """The next message.

        Raises:
            EndOfStream: If there is none.
        """
        try:
            return await self.__anext__()
        except StopAsyncIteration:
            raise anyio.EndOfStream from None

    async def _line(self) -> bytes | None:
        """The next line; None at the end. What is too long is skipped, and answered."""
        searched = 0
        while True:
            end = self._buffer.find(b"\n", searched)
            if end >= 0:
                line = bytes(self._buffer[:end])
                del self._buffer[: end + 1]
                if not self._skipping and len(line) <= MOST_BYTES:
                    return line
                self._skipping, searched = False, 0
                text = f"Invalid Request: it has more than {MOST_BYTES} bytes"
                await self._complain(self._head or line, INVALID_REQUEST, text)
                self._head = b""
                continue
            searched = len(self._buffer)
            if searched > MOST_BYTES:
                self._head = self._head or bytes(self._buffer[:_HEAD])
                self._buffer.clear()
                self._skipping, searched = True, 0
            if not await self._fill():
                line = bytes(self._buffer)
                self._buffer.clear()
                return line or None

    async def _fill(self) -> bool:
        if self._ended:
            return False
        if self._waits:
            try:
                await anyio.wait_readable(self._fd)
            except PermissionError:  # epoll knows no /dev/null, nor other files that never wait
                self._waits = False
        try:
            data = os.read(self._fd, _CHUNK)
        except BlockingIOError:
            return True
        except OSError:
            data = b""
        self._buffer += data
        self._ended = not data
        return bool(data)

    async def _complain(self, line: bytes, code: int, message: str) -> None:
        """Answer what cannot be read, under its id if it has one: somebody may wait for that."""
        found = ErrorData(code=code, message=message)
        error = JSONRPCError(jsonrpc="2.0", id=_id_of(line), error=found)
        with suppress(anyio.BrokenResourceError):
            await self._outlet.write(error)


def _private(fd: int) -> int:
    """A copy of a descriptor that no program inherits."""
    return fcntl.fcntl(fd, fcntl.F_DUPFD_CLOEXEC, _PRIVATE)


def _reopened(fd: int) -> int | None:
    """A pipe opened once more, so that writing to it never waits; None for anything else."""
    if not stat.S_ISFIFO(os.fstat(fd).st_mode):
        return None
    try:
        return os.open(f"/proc/self/fd/{fd}", os.O_WRONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return None


def _has_id(line: bytes) -> bool:
    """Whether what was taken for a notification is a request, with an id of the wrong kind."""
    return b'"id"' in line and "id" in json.loads(line)


def _id_of(line: bytes) -> int | str | None:
    found = _ID.search(line[:_HEAD])
    if found is None:
        return None
    text = found[1]
    return text[1:-1].decode("utf-8", "replace") if text.startswith(b'"') else int(text)


def _fault(error: ValidationError) -> tuple[int, str]:
    """Whether a line is no JSON, or JSON that is no message."""
    for each in error.errors(include_url=False, include_input=False):
        if each["type"] == "json_invalid":
            return PARSE_ERROR, f"Parse error: {each['msg']}"
    return INVALID_REQUEST, "Invalid Request: JSON that is no JSON-RPC message"
