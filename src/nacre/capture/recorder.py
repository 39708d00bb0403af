"""The live, bounded sink of bytes: no I/O, constant memory."""

from nacre.model.transcript import Limit, Spill, Transcript

__all__ = ("Recorder",)


class Recorder:
    """Keeps the first and the last bytes of a stream, and counts those between.

    However the stream is cut into pieces, head and tail are the same. Memory is
    the limit, and grows only with what was said.
    """

    def __init__(self, limit: Limit) -> None:
        self.limit = limit
        self._head = bytearray()
        # A ring once it is full: the oldest byte is at `_oldest`.
        self._tail = bytearray()
        self._oldest = 0
        self._skipped = False
        self.total = 0

    @property
    def omitted(self) -> int:
        """Bytes said that are neither in the head nor in the tail."""
        return self.total - len(self._head) - len(self._tail)

    def feed(self, data: memoryview) -> None:
        """Take the next bytes of the stream."""
        self.total += len(data)
        room = 0 if self._skipped else self.limit.head - len(self._head)
        if room:
            self._head += data[:room]
            data = data[room:]
        if data and self.limit.tail:
            self._feed_tail(data)

    def ring(self) -> list[memoryview] | None:
        """Where the next bytes belong, once only the tail changes: to read into directly.

        None while head or tail have room. `took` must follow.
        """
        full = len(self._tail) == self.limit.tail > 0
        if not full or (len(self._head) < self.limit.head and not self._skipped):
            return None
        tail = memoryview(self._tail)
        return [tail[self._oldest :], tail[: self._oldest]]

    def took(self, size: int) -> None:
        """Count bytes that were read into the ring."""
        self.total += size
        self._oldest = (self._oldest + size) % self.limit.tail

    def skip(self, size: int) -> None:
        """Count bytes that are not there to be kept: what came before them is no tail."""
        if size > 0:
            self.total += size
            self._skipped = True
            self._tail.clear()
            self._oldest = 0

    def _feed_tail(self, data: memoryview) -> None:
        size = self.limit.tail
        if len(data) >= size:
            self._tail[:] = data[-size:]
            self._oldest = 0
            return
        if room := size - len(self._tail):
            self._tail += data[:room]
            data = data[room:]
        end = min(len(data), size - self._oldest)
        self._tail[self._oldest : self._oldest + end] = data[:end]
        self._tail[: len(data) - end] = data[end:]
        self._oldest = (self._oldest + len(data)) % size

    def transcript(self, spill: Spill | None = None) -> Transcript:
        """What is kept so far, as a frozen value."""
        return Transcript(
            head=bytes(self._head),
            tail=bytes(self._tail[self._oldest :] + self._tail[: self._oldest]),
            omitted=self.omitted,
            spill=spill,
        )
