from pathlib import PurePosixPath

from nacre.model.transcript import Spill
from nacre.render.notice import notice, omitted

FILE = PurePosixPath("/state/out 1.raw")


def test_a_notice_is_one_line_in_brackets() -> None:
    assert notice("a\nb\r\nc") == "[a b c]"


def test_hidden_bytes_are_named_with_the_file_that_has_them() -> None:
    assert omitted(12_288, 154_288, total=200_000, spill=Spill(path=FILE, kept=200_000)) == (
        "[142,000 bytes not shown: bytes 12,288 to 154,288 of the output; "
        "all of it is in /state/out 1.raw (raw)]"
    )


def test_without_a_file_the_bytes_are_said_to_be_gone() -> None:
    assert omitted(10, 30, total=40, spill=None) == (
        "[20 bytes not shown: bytes 10 to 30 of the output; they were not kept]"
    )


def test_a_file_that_could_not_be_made_is_explained() -> None:
    spill = Spill(path=None, failure="No space left on device")
    assert omitted(10, 30, total=40, spill=spill) == (
        "[20 bytes not shown: bytes 10 to 30 of the output; "
        "the full text could not be kept: No space left on device]"
    )


def test_a_capped_file_is_said_to_hold_only_the_start() -> None:
    assert omitted(10, 3_000, total=4_000, spill=Spill(path=FILE, kept=2_000)) == (
        "[2,990 bytes not shown: bytes 10 to 3,000 of the output; "
        "only its first 2,000 bytes are in /state/out 1.raw (raw)]"
    )


def test_a_file_that_failed_half_way_is_named_with_the_reason() -> None:
    spill = Spill(path=FILE, kept=2_000, failure="Disk quota exceeded")
    assert omitted(10, 3_000, total=4_000, spill=spill) == (
        "[2,990 bytes not shown: bytes 10 to 3,000 of the output; "
        "only its first 2,000 bytes are in /state/out 1.raw (raw), "
        "the rest could not be kept: Disk quota exceeded]"
    )


def test_an_empty_file_that_failed_is_not_offered() -> None:
    spill = Spill(path=FILE, failure="Input/output error")
    assert omitted(0, 10, total=10, spill=spill) == (
        "[10 bytes not shown: bytes 0 to 10 of the output; "
        "the full text could not be kept: Input/output error]"
    )
