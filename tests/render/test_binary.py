import gzip
from pathlib import PurePosixPath

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nacre.model.transcript import Spill, Transcript
from nacre.render.binary import is_binary, summary

PNG = b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR"


@pytest.mark.parametrize(
    "data",
    [
        pytest.param(b"", id="nothing"),
        pytest.param(b"text\n", id="text"),
        pytest.param(b"\x1b[31m-\x1b[m\x1b[32m+\x1b[m" * 99, id="colours"),
        pytest.param(b"\x1b]0;t\x07\r\b\b" * 99, id="terminal controls"),
        pytest.param("Gemüse für schöne Bäume\n".encode("latin-1") * 99, id="Latin-1"),
        pytest.param("日本語のテキスト".encode(), id="another script"),
        pytest.param("日".encode()[:2], id="only a cut character"),
        pytest.param("日本".encode()[1:-1], id="cut on both sides"),
        pytest.param("🙂".encode() * 5000, id="cut by the sample"),
        pytest.param(b"text " * 9999 + b"\0" * 99, id="far away from the start"),
    ],
)
def test_text_is_text(data: bytes) -> None:
    assert not is_binary(data)


@pytest.mark.parametrize(
    "data",
    [
        pytest.param(PNG, id="PNG"),
        pytest.param(b"almost text\0", id="NUL"),
        pytest.param("text".encode("utf-16"), id="UTF-16"),
        pytest.param(gzip.compress(bytes(range(256)), mtime=0), id="compressed"),
        pytest.param(bytes(range(1, 256)), id="every byte"),
        pytest.param(b"\x01\x02\x03" * 99, id="control characters"),
    ],
)
def test_what_no_one_can_read_is_binary(data: bytes) -> None:
    assert is_binary(data)


@given(st.text(st.characters(exclude_categories=["Cc", "Cs"])), st.integers(0, 3))
def test_prose_is_never_binary_however_it_is_cut(text: str, cut: int) -> None:
    data = text.encode()
    assert not is_binary(data[cut:])
    assert not is_binary(data[: len(data) - cut])


def test_a_summary_gives_size_start_and_kind() -> None:
    assert summary(Transcript(head=PNG, omitted=1_234_551)) == (
        "[binary output: 1,234,567 bytes, starting 89 50 4e 47 0d 0a 1a 0a (PNG image)]"
    )


def test_a_summary_names_the_file_with_the_bytes() -> None:
    spill = Spill(path=PurePosixPath("/state/out.raw"), kept=6)
    assert summary(Transcript(head=b"\x01\x02\0", tail=b"\xff\xff\xff", spill=spill)) == (
        "[binary output: 6 bytes, starting 01 02 00; all of it is in /state/out.raw (raw)]"
    )


@pytest.mark.parametrize(
    ("head", "kind"),
    [
        (b"\xff\xd8\xff\xe0", "JPEG image"),
        (b"GIF89a", "GIF image"),
        (b"%PDF-1.7\n", "PDF document"),
        (b"\x7fELF\x02", "ELF executable"),
        (b"\x1f\x8b\x08", "gzip data"),
        (b"PK\x03\x04", "zip archive"),
        (b"\xfd7zXZ\0", "xz data"),
        (b"\x28\xb5\x2f\xfd", "zstd data"),
        (b"SQLite format 3\0", "SQLite database"),
        (b"name".ljust(257, b"\0") + b"ustar\x0000", "tar archive"),
    ],
)
def test_well_known_formats_are_recognised(head: bytes, kind: str) -> None:
    assert summary(Transcript(head=head)).endswith(f" ({kind})]")
