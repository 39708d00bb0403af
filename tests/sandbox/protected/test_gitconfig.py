"""Git's format is read as git reads it."""

import subprocess

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from nacre.sandbox.protected.gitconfig import (
    UnreadableError,
    parse,
    write_entry,
    write_section,
)

PIECES = st.sampled_from(
    [
        "[core]",
        "[core] ",
        '[a "b.c"]',
        '[A.B "C\\"d\\\\"]',
        "[x.Y]",
        "[",
        "]",
        "key",
        "Key-1",
        " = ",
        "=",
        "value",
        ' "quoted # ; "',
        '"',
        "\\",
        "\\n",
        "\\\n",
        "\\q",
        "#c",
        ";c",
        "\n",
        "\r\n",
        "\r",
        "\t",
        " ",
        "\v",
        "1",
        "-",
        ".",
        "é",
    ]
)


def as_git_reads(text: bytes) -> list[tuple[str, str | None]] | None:
    words = ["git", "config", "--no-includes", "-z", "--list", "-f", "-"]
    done = subprocess.run(words, input=text, capture_output=True, check=False)
    if done.returncode:
        return None
    found: list[tuple[str, str | None]] = []
    for item in done.stdout.decode("latin-1").split("\0")[:-1]:
        key, gap, value = item.partition("\n")
        found.append((key, value if gap else None))
    return found


def as_we_read(text: bytes) -> list[tuple[str, str | None]] | None:
    try:
        entries = parse(text).entries
    except UnreadableError:
        return None
    return [
        (".".join(part for part in entry.name if part is not None), entry.value)
        for entry in entries
    ]


def without_blanks(
    entries: list[tuple[str, str | None]] | None,
) -> list[tuple[str, str | None]] | None:
    # Versions of git differ about blanks inside a value.
    if entries is None:
        return None
    return [(key, value and "".join(value.split())) for key, value in entries]


@settings(max_examples=80)
@given(st.lists(PIECES, max_size=14))
@example(["[core]", "key", "\\", "\n"])
@example(["[core]", "key", "\r\n"])
@example(["[core]", "\n", "key", " = ", "value", "\\\n", "\\", "\r\n", "1"])
def test_git_agrees_about_any_text(pieces: list[str]) -> None:
    text = "".join(pieces).encode()
    ours, gits = as_we_read(text), as_git_reads(text)
    if ours is not None or gits is None:
        assert without_blanks(ours) == without_blanks(gits)
    else:  # stricter than git only about keys that belong to no section
        assert "[]" in "".join(pieces) or any("." not in key for key, _ in gits)


@settings(max_examples=100)
@given(
    st.text(st.characters(max_codepoint=255, exclude_characters="\0\n"), max_size=8),
    st.none() | st.text(st.characters(max_codepoint=255, exclude_characters="\0"), max_size=12),
)
def test_what_is_written_is_read_again(subsection: str, value: str | None) -> None:
    text = write_section("branch", subsection) + write_entry("remote", value)
    [entry] = parse(text.encode("latin-1")).entries
    assert entry.name == ("branch", subsection, "remote")
    assert entry.value == value


@pytest.mark.parametrize(
    ("text", "entries"),
    [
        (b"[core] bare = true ; no", [("core.bare", "true")]),
        (b"\xef\xbb\xbf[CORE]\n\tBare", [("core.bare", None)]),
        (b'[a "B c"]\r\nk = "x;y" z\\\r\n w\r\n', [("a.B c.k", "x;y z w")]),
        (b"[a.B]k=1\n[a]k=2", [("a.b.k", "1"), ("a.k", "2")]),
        (b"[a]\nk=\n", [("a.k", "")]),
    ],
)
def test_odd_but_good_texts(text: bytes, entries: list[tuple[str, str | None]]) -> None:
    assert as_we_read(text) == entries
    assert as_git_reads(text) == entries


@pytest.mark.parametrize("text", [b"k=1", b"[a\nk=1", b"[a]\nk = \\x", b"[a]\n1=2", b"[a]\nk='\0'"])
def test_what_git_refuses_or_cuts_short_is_refused(text: bytes) -> None:
    with pytest.raises(UnreadableError):
        parse(text)
