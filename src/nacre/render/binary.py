"""Tell text from what no one can read."""

from nacre.model.expression import expression
from nacre.model.transcript import Transcript
from nacre.render.notice import kept_in, notice

__all__ = ("is_binary", "summary")

_SAMPLE = 8192

# Share of unreadable bytes from which on a sample is not text. Latin-1 prose has
# about one in twenty; compressed data has about one in two.
_TOLERANCE = 0.3

# Control characters that text for a terminal does not have, and bytes that are
# not UTF-8, as surrogateescape decodes them.
_UNREADABLE = expression(r"[\x01-\x06\x0e-\x1a\x1c-\x1f\x7f\udc80-\udcff]")

_MAGICS = (
    (0, b"\x89PNG\r\n\x1a\n", "PNG image"),
    (0, b"\xff\xd8\xff", "JPEG image"),
    (0, b"GIF8", "GIF image"),
    (0, b"%PDF-", "PDF document"),
    (0, b"\x7fELF", "ELF executable"),
    (0, b"\x1f\x8b", "gzip data"),
    (0, b"PK\x03\x04", "zip archive"),
    (0, b"\xfd7zXZ\x00", "xz data"),
    (0, b"\x28\xb5\x2f\xfd", "zstd data"),
    (0, b"SQLite format 3\x00", "SQLite database"),
    (257, b"ustar", "tar archive"),
)


def is_binary(data: bytes) -> bool:
    """Say whether the start of some bytes is not text.

    NUL is never text. Colours, a few bytes of another encoding, and a character
    cut at either edge do not make it binary.
    """
    sample = data[:_SAMPLE]
    if b"\0" in sample:
        return True
    text = sample.decode("utf-8", "surrogateescape")
    # Three bytes at each edge may be the rest of a character that was cut.
    unreadable = len(_UNREADABLE.findall(text[3:-3]))
    return unreadable > _TOLERANCE * len(sample)


def summary(transcript: Transcript) -> str:
    """Return one notice in place of binary output: its size, its start, its kind."""
    data = transcript.head or transcript.tail
    kind = next((name for at, magic, name in _MAGICS if data.startswith(magic, at)), None)
    spill = transcript.spill
    return notice(
        f"binary output: {transcript.total:,} bytes, starting {data[:8].hex(' ')}"
        + (f" ({kind})" if kind else "")
        + (f"; {kept_in(spill, transcript.start + transcript.total)}" if spill else "")
    )
