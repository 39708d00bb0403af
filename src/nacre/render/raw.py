"""Raw bytes as text that still knows its bytes.

Bytes that are not UTF-8 become lone surrogates (PEP 383), so a raw text can be
cut anywhere and each part still has an exact size in bytes.
"""

import codecs

__all__ = ("byte_count", "raw_text", "readable", "without_orphans", "without_unfinished")

_CONTINUATION = bytes(range(0x80, 0xC0))


def raw_text(data: bytes) -> str:
    """Return bytes as a raw text, losing nothing."""
    return data.decode("utf-8", "surrogateescape")


def byte_count(raw: str) -> int:
    """How many bytes a raw text was made from."""
    return len(_bytes(raw))


def readable(raw: str) -> str:
    """Return a raw text as real text, with U+FFFD for what is not UTF-8."""
    return _bytes(raw).decode("utf-8", "replace")


def without_unfinished(data: bytes) -> bytes:
    """Drop the start of a character whose rest was cut off."""
    decoder = codecs.getincrementaldecoder("utf-8")("replace")
    decoder.decode(data[-3:])
    unfinished, _ = decoder.getstate()
    return data[: len(data) - len(unfinished)]


def without_orphans(data: bytes) -> bytes:
    """Drop the rest of a character whose start was cut off."""
    return data[:3].lstrip(_CONTINUATION) + data[3:]


def _bytes(raw: str) -> bytes:
    return raw.encode("utf-8", "surrogateescape")
