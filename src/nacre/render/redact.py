"""Secrets in what is shown, replaced by what they were: `[redacted: AWS access key]`.

This hides what was said by mistake. It is no boundary: a script that can read a
secret can say it in other words.
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace

from nacre.render.found import Found
from nacre.render.secret_fields import find_fields, unfinished_field
from nacre.render.secret_words import find_words, unfinished_word

__all__ = ("Redactor",)

# As far as a pattern looks back from where it begins.
_BEHIND = 16
_PROBE = 8
_VALUE = -2  # of all ranks the lowest: the name says most


class Redactor:
    """Replaces well-known shapes of secrets, and the given values, in text or a stream.

    `values` maps each secret to the name of its variable. A stream comes out as
    it went in, except for an end that could be the beginning of a secret: no
    more than the longest value or the longest key is ever held back.
    """

    def __init__(self, values: Mapping[str, str]) -> None:
        self._values = tuple(
            (value.encode("utf-8", "surrogateescape"), f"${name}")
            for value, name in values.items()
            if value
        )
        self._behind = b""
        self._held = b""
        self._carried: tuple[Found, ...] = ()

    def text(self, text: str) -> str:
        """Return the text with its secrets replaced. The stream is not touched."""
        # A raw text has bytes in it that are no characters, and some texts are no text.
        errors = "surrogateescape"
        try:
            data = text.encode("utf-8", errors)
        except UnicodeEncodeError:
            errors = "surrogatepass"
            data = text.encode("utf-8", errors)
        found = list(self._find(data, 0))
        return _replaced(data, found).decode("utf-8", errors) if found else text

    def between(self, before: bytes, data: bytes, after: bytes) -> bytes:
        """Return a range of bytes without the secrets that lie in it, or across its borders."""
        low, high = len(before), len(before) + len(data)
        found = [
            replace(item, start=max(item.start, low), end=min(item.end, high))
            for item in self._find(before + data + after, 0)
            if item.start < high and item.end > low
        ]
        return _replaced(before + data, found, low)

    def feed(self, data: bytes) -> bytes:
        """Take the next bytes of the stream; return what can be shown by now."""
        whole = self._behind + self._held + data
        start = len(self._behind)
        found = [*self._carried, *self._find(whole, start)]
        cut = _before_words(found, self._unfinished(whole, start))
        behind = max(0, cut - _BEHIND)
        self._behind, self._held = whole[behind:cut], whole[cut:]
        # What began before the cut is decided, and its rest is not looked at again.
        decided = [item for item in found if item.anchor < cut]
        self._carried = tuple(_moved(item, -behind) for item in decided if item.end > cut)
        return _replaced(whole[:cut], [item for item in decided if item.start < cut], start)

    def finish(self) -> bytes:
        """Return what was held back: nothing follows. The next stream may begin."""
        whole, start = self._behind + self._held, len(self._behind)
        found = [*self._carried, *self._find(whole, start)]
        self._behind = self._held = b""
        self._carried = ()
        return _replaced(whole, found, start)

    def _find(self, data: bytes, start: int) -> Iterator[Found]:
        for value, name in self._values:
            at = data.find(value, start)
            while at >= 0:
                end = at + len(value)
                yield Found(anchor=at, start=at, end=end, kind=name, rank=_VALUE)
                at = data.find(value, end)
        yield from find_words(data, start)
        yield from find_fields(data, start)

    def _unfinished(self, data: bytes, start: int) -> int:
        """Where the first secret could begin that more bytes would finish, or change."""
        return min(
            unfinished_word(data, start),
            unfinished_field(data, start),
            *(_unfinished_value(data, value, start) for value, _ in self._values),
        )


def _unfinished_value(data: bytes, value: bytes, start: int) -> int:
    """Where the value begins that the data ends in the middle of; the end if it does not."""
    probe = value[:_PROBE]
    at = data.find(probe, max(start, len(data) - len(value) + 1))
    while at >= 0:
        if value.startswith(data[at:]):
            return at
        at = data.find(probe, at + 1)
    for size in range(min(_PROBE, len(value), len(data) - start + 1) - 1, 0, -1):
        if data.endswith(value[:size]):
            return len(data) - size
    return len(data)


def _before_words(found: list[Found], cut: int) -> int:
    """The last place up to `cut` that is not within a value or a word.

    Their search goes on behind each that was found, so that it must not begin in one.
    """
    while True:
        crossed = [item.anchor for item in found if item.rank < 0 and item.anchor < cut < item.end]
        if not crossed:
            return cut
        cut = min(crossed)


def _moved(item: Found, by: int) -> Found:
    return replace(item, anchor=item.anchor + by, start=item.start + by, end=item.end + by)


def _replaced(data: bytes, found: list[Found], start: int = 0) -> bytes:
    """The data from `start`, with one notice for all secrets that overlap."""
    parts: list[bytes] = []
    done = start
    for item in sorted(found, key=lambda item: (item.start, item.rank)):
        if item.start >= done:
            parts += (data[done : item.start], f"[redacted: {item.kind}]".encode())
        done = max(done, item.end)
    return b"".join((*parts, data[done:]))
