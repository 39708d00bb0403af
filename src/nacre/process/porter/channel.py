"""The connection to one resident: requests to it, and what comes back.

An engine sends the two streams of a process in frames: which stream, three zeros, and a length
of four bytes before the data.
"""

from __future__ import annotations

import secrets
import ssl
from collections import deque
from contextlib import suppress
from typing import TYPE_CHECKING

from nacre.container.resident import (
    ALIVE,
    Begin,
    Live,
    Reader,
    Said,
    Word,
    begin,
    end,
    greet,
    resident_source,
    signal,
    take_over,
)
from nacre.errors import SandboxError

if TYPE_CHECKING:
    import socket
    from collections.abc import Iterator

__all__ = ("Channel", "new_word")

_READY_SECONDS = 30.0
_HEADER = 8
_CHUNK = 1 << 18
_STDERR = 2
# A request that the resident does not read meanwhile; a script of this size is none.
_MOST_UNSENT = 1 << 26


def new_word() -> str:
    """A word that no script can guess."""
    return secrets.token_hex(16)


class Channel:
    """One resident, which attends to one call at a time.

    `events` are what it and the script said and nobody took yet, in order.
    """

    def __init__(self, connection: socket.socket, held_by: object = None) -> None:
        self._connection = connection
        self._held_by = held_by  # once it is forgotten, it closes the connection
        self._header = b""
        self._left = 0
        self._stream = 0
        self._readers: tuple[Reader, ...] = ()
        self._unsent = bytearray()
        self._heard: set[tuple[str, int]] = set()
        self._streams: tuple[int, ...] = (0,)
        self.events: deque[Said | Word] = deque()
        self.over = False

    def greet(self) -> None:
        """Have the resident read itself, and wait until it is there; blocks.

        Raises:
            SandboxError: If it is not; an engine that cannot start one says why on the stream.
        """
        word = new_word()
        self._listen(word)
        self._connection.settimeout(_READY_SECONDS)
        said = b""
        try:
            self._connection.sendall(resident_source() + greet(word))
            while not self.over:
                self.read()
                while self.events:
                    event = self.events.popleft()
                    if isinstance(event, Word) and event.kind == "ready":
                        self._connection.settimeout(0)
                        return
                    said += event.data if isinstance(event, Said) else b""
        except OSError as error:
            said += str(error).encode()
        self.close()
        why = said.decode("utf-8", "replace").strip() or "it ended at once"
        if "bash" in why and ("not found" in why or "no such file" in why):
            why = "the container has no bash; use an image that has it"
        raise SandboxError(f"no script can be started in the container: {why[:500]}")

    def fileno(self) -> int:
        """The descriptor that is readable when something was said."""
        return self._connection.fileno()

    @property
    def unsent(self) -> bool:
        """Whether a request waits for the engine to take it."""
        return bool(self._unsent)

    def begin(self, request: Begin) -> None:
        """Have a script started."""
        self._listen(request.word)
        self._streams = (0, 1) if request.separate else (0,)
        self._send(begin(request))

    def signal(self, name: str, live: Live) -> None:
        """Have a signal sent to all that the script started."""
        self._send(signal(name, live))

    def end(self, live: Live) -> None:
        """Have all that the script started killed."""
        self._send(end(live))

    def take_over(self, mark: int, live: Live) -> None:
        """Have killed what another resident left."""
        word = new_word()
        self._listen(word)
        self._send(take_over(mark, word, live))

    def heard_on_all(self, word: Word) -> bool:
        """Whether a word has come on every stream: they come on ways of their own."""
        self._heard.add((word.kind, word.stream))
        return all((word.kind, stream) in self._heard for stream in self._streams)

    def beat(self) -> None:
        """Let the resident know that somebody is there."""
        self._send(ALIVE)

    def flush(self) -> None:
        """Send what the engine takes now."""
        with suppress(BlockingIOError, ssl.SSLWantReadError, ssl.SSLWantWriteError):
            while self._unsent:
                try:
                    sent = self._connection.send(self._unsent[:_CHUNK])
                except BlockingIOError:
                    raise
                except OSError:
                    self.over = True
                    self._unsent.clear()
                    return
                del self._unsent[:sent]

    def read(self) -> None:
        """Take what was said into `events`; at the end of everything `over` is true."""
        try:
            data = self._connection.recv(_CHUNK)
            # What TLS has decrypted already makes no descriptor readable.
            while isinstance(self._connection, ssl.SSLSocket) and self._connection.pending():
                data += self._connection.recv(_CHUNK)
        except (BlockingIOError, ssl.SSLWantReadError):
            return
        except OSError:
            data = b""
        if not data:
            self.over = True
        self.events.extend(self._words(data))

    def close(self) -> None:
        """Hang up; the resident then ends what it attends to, and itself."""
        self._connection.close()

    def _listen(self, word: str) -> None:
        self.events.clear()
        self._heard.clear()
        self._streams = (0,)
        self._readers = (Reader(0, word), Reader(1, word))

    def _send(self, request: bytes) -> None:
        if len(self._unsent) > _MOST_UNSENT:
            self.over = True
            return
        self._unsent += request
        self.flush()

    def _words(self, data: bytes) -> Iterator[Said | Word]:
        for stream, piece in self._frames(data):
            if self._readers:
                yield from self._readers[stream].feed(piece)

    def _frames(self, data: bytes) -> Iterator[tuple[int, bytes]]:
        at = 0
        while at < len(data):
            if self._left == 0:
                missing = _HEADER - len(self._header)
                self._header += data[at : at + missing]
                at += missing
                if len(self._header) < _HEADER:
                    return
                self._stream = 1 if self._header[0] == _STDERR else 0
                self._left = int.from_bytes(self._header[4:], "big")
                self._header = b""
                continue
            piece = data[at : at + self._left]
            at += len(piece)
            self._left -= len(piece)
            yield self._stream, piece
