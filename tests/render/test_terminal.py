import pytest
from hypothesis import given
from hypothesis import strategies as st

from nacre.render.terminal import clean

# Text made of what terminals act on, so that sequences meet and break each other.
SOUP = st.lists(
    st.sampled_from(
        [
            *("\x1b", "\x1b[", "\x1b]", "\x1bP", "\x1b\\", "\x9b", "\x9c", "\x9d", "\x90", "\x85"),
            *("\x1b[2K", "\x1b[A", "\x1b[3B", "\x1b[999999C", "\x1b[4D", "\x1b[H", "\x1b[J"),
            *("\x1b7", "\x1b8", "\x1bM", "\x1b[1K", "\x1b[5G", "\x1b[E", "\x1b[F", "\x1b[?25l"),
            *("\r", "\n", "\b", "\t", "\a", "\f", "\v", "\0", "\x7f", "\x18"),
            *(
                "a",
                "word ",
                "0",
                "5",
                ";",
                "?",
                "m",
                "K",
                "[",
                "]",
                "\\",
                "é",
                "日",
                "🙂",
                "\ud800",
            ),
        ]
    )
).map("".join)


@pytest.mark.parametrize(
    ("raw", "seen"),
    [
        pytest.param("", "", id="nothing"),
        pytest.param("plain\n\tindented\n", "plain\n\tindented\n", id="plain text"),
        pytest.param("\x1b[1;31mred\x1b[0m \x1b[38;2;1;2;3mrgb\x1b[m", "red rgb", id="colour"),
        pytest.param("\x1b[38:2::1:2:3mrgb\x1b[m", "rgb", id="colour with colons"),
        pytest.param("\x9b31mred\x9b0m", "red", id="8-bit CSI"),
        pytest.param("\x1b]0;title\x07text", "text", id="window title ended by BEL"),
        pytest.param("\x1b]2;title\x1b\\text", "text", id="window title ended by ST"),
        pytest.param("\x9d0;title\x9ctext", "text", id="8-bit OSC"),
        pytest.param(
            "see \x1b]8;;https://example.org/a\x1b\\the page\x1b]8;;\x1b\\.\n",
            "see the page.\n",
            id="hyperlink",
        ),
        pytest.param("a\x1bPq#0;2;0\n-\x1b\\b", "ab", id="sixel over two lines"),
        pytest.param("a\x1b_Gf=24;AAAA\x1b\\b\x1b^x\x1b\\c\x1bXy\x1b\\d", "abcd", id="APC PM SOS"),
        pytest.param("\x1b(Btext\x1b=\x1b>\x1b#8", "text", id="escapes of one character"),
        pytest.param("\x1b[?25lhidden cursor\x1b[?25h", "hidden cursor", id="private mode"),
        pytest.param("\x1b[>1u\x1b[?1Kkeys", "keys", id="private forms of moves"),
        pytest.param("text\x1b", "text", id="ends in ESC"),
        pytest.param("text\x1b[31", "text", id="ends in half a CSI"),
        pytest.param("text\x1b]0;titl", "text", id="ends in half an OSC"),
        pytest.param("a\x1b]0;title\nb\n", "a\nb\n", id="an open OSC ends with its line"),
        pytest.param("one\r\ntwo\r\r\nthree", "one\ntwo\nthree", id="CRLF"),
        pytest.param("a\x1b[0m\r\x1b[0m\nb", "a\nb", id="CRLF around a colour"),
        pytest.param("a\fb\vc\x85d\x1bEe", "a\nb\nc\nd\ne", id="other newlines"),
        pytest.param("bell\a nul\0 del\x7f so\x0e", "bell nul del so", id="control characters"),
        pytest.param("N\bNA\bAM\bME\bE _\bf", "NAME f", id="overstruck manual page"),
        pytest.param("passwrd\b\bord\n", "password\n", id="typed correction"),
        pytest.param("\b\b\bx", "x", id="backspace at the start"),
        pytest.param("work |\b/\b-\b\\\b \bdone\n", "work done\n", id="spinner"),
    ],
)
def test_codes_are_removed_and_text_stays(raw: str, seen: str) -> None:
    assert clean(raw) == seen


@pytest.mark.parametrize(
    ("raw", "seen"),
    [
        pytest.param("abcdef\rxyz\n", "xyzdef\n", id="a shorter redraw leaves the rest"),
        pytest.param("abcdef\rxyz\x1b[K\n", "xyz\n", id="unless it is erased"),
        pytest.param("abcdef\r\x1b[Kxyz\n", "xyz\n", id="erased before"),
        pytest.param("abcdef\x1b[2K\x1b[1Gxyz\n", "xyz\n", id="erase the row, first column"),
        pytest.param("abcdef\x1b[1K\rxyz\n", "xyz\n", id="erase to the left"),
        pytest.param("abcdef\r      \rxyz\n", "xyz\n", id="wiped with blanks"),
        pytest.param("10%\r50%\r100%\n", "100%\n", id="percent"),
        pytest.param("10%\r", "10%", id="a return at the end erases nothing"),
        pytest.param("name\x1b[10Gvalue\n", "name     value\n", id="to a column"),
        pytest.param("a\x1b[3Cb\x1b[2Dc\n", "a  cb\n", id="right and left"),
        pytest.param("keep\n\x1b[Hone\x1b[2J\x1b[Htwo", "keep\none\ntwo", id="jumps start a line"),
        pytest.param("one\ntwo\nthree\x1b[2A\r\x1b[Jend\n", "end\n", id="erase below"),
        pytest.param("one\x1b[3Etwo", "one\ntwo", id="next line"),
        pytest.param("one\ntwo\x1b[FONE\n", "ONE\ntwo", id="previous line"),
        pytest.param("a\x1b7bcd\x1b8BCD\x1b[s!\x1b[u?", "aBCD?", id="save and restore"),
        pytest.param("one\ntwo\x1bMX", "oneX\ntwo", id="reverse index"),
    ],
)
def test_a_line_shows_its_last_state(raw: str, seen: str) -> None:
    assert clean(raw) == seen


def test_pip_progress_shows_once() -> None:
    bars = "".join(f"\r   \x1b[32m{'━' * n}\x1b[0m {n}.0/9.0 MB \x1b[?25l" for n in range(10))
    raw = f"Collecting numpy\r\n{bars}\x1b[?25h\r\nInstalled\r\n"
    assert clean(raw) == f"Collecting numpy\n   {'━' * 9} 9.0/9.0 MB\nInstalled\n"


def test_tqdm_progress_shows_its_last_state() -> None:
    raw = "".join(f"\r{n:3}%|{'█' * (n // 10):10}| {n}/100" for n in range(101)) + "\nok\n"
    assert clean(raw) == "100%|██████████| 100/100\nok\n"


def test_cargo_progress_gives_way_to_its_lines() -> None:
    raw = (
        "\x1b[1m\x1b[36m    Building\x1b[0m [=>    ] 1/3: serde\r"
        "\x1b[K\x1b[1m\x1b[32m   Compiling\x1b[0m serde v1.0\n"
        "\x1b[1m\x1b[36m    Building\x1b[0m [===>  ] 2/3\r"
        "\x1b[K\x1b[1m\x1b[32m    Finished\x1b[0m dev\n"
    )
    assert clean(raw) == "   Compiling serde v1.0\n    Finished dev\n"


def test_the_status_line_of_apt_does_not_touch_the_text() -> None:
    status = "\x1b7\x1b[24;0f\x1b[42m\x1b[30mProgress: [ 40%]\x1b[49m\x1b[39m [####....] \x1b8"
    raw = f"\r\n\x1b7\x1b[0;23r\x1b8\x1b[1AUnpacking a\r\n{status}Setting up a\r\n{status}"
    assert clean(raw) == "Unpacking a\nSetting up a\n"


def test_docker_layers_show_their_last_state() -> None:
    raw = (
        "a1: Waiting\nb2: Waiting\n"
        "\x1b[2A\x1b[2K\ra1: Downloading [=>  ]\r\x1b[2B"
        "\x1b[1A\x1b[2K\rb2: Pull complete\r\x1b[1B"
        "\x1b[2A\x1b[2K\ra1: Pull complete\r\x1b[2B"
        "Status: done\n"
    )
    assert clean(raw) == "a1: Pull complete\nb2: Pull complete\nStatus: done\n"


def test_a_coloured_diff_is_the_diff() -> None:
    raw = (
        "\x1b[1mdiff --git a/x b/x\x1b[m\n\x1b[36m@@ -1 +1 @@\x1b[m\n"
        "\x1b[31m-old\x1b[m\n\x1b[32m+\x1b[m\x1b[32mnew\x1b[m\n"
    )
    assert clean(raw) == "diff --git a/x b/x\n@@ -1 +1 @@\n-old\n+new\n"


def test_a_cursor_sent_far_away_costs_a_margin_at_most() -> None:
    assert clean("a\x1b[999999999Cb") == "a" + " " * 199 + "b"


def test_a_number_of_ten_thousand_digits_is_only_large() -> None:
    assert clean("one\ntwo\x1b[" + "9" * 10_000 + "Ax") == "onex\ntwo"


def test_a_line_of_five_megabytes_drawn_over_a_hundred_thousand_times() -> None:
    assert clean(("x" * 49 + "\r") * 100_000 + "end") == "end" + "x" * 46


def test_a_line_of_five_megabytes_drawn_over_at_its_start() -> None:
    assert clean("x" * 5_000_000 + "\ry" * 50_000) == "y" + "x" * 4_999_999


@given(SOUP | st.text())
def test_the_result_has_no_control_characters_but_newline_and_tab(raw: str) -> None:
    seen = clean(raw)
    assert [char for char in seen if char < " " or "\x7f" <= char <= "\x9f"] == [
        char for char in seen if char in "\n\t"
    ]


@given(SOUP | st.text())
def test_cleaning_twice_changes_nothing_more(raw: str) -> None:
    assert clean(clean(raw)) == clean(raw)


@given(st.text(st.characters(exclude_categories=["Cc"]) | st.sampled_from("\n\t")))
def test_text_without_control_characters_is_returned_as_it_is(text: str) -> None:
    assert clean(text) is text


@given(st.lists(st.text(st.characters(exclude_categories=["Cc"]))))
def test_lines_that_end_in_crlf_are_the_same_lines(lines: list[str]) -> None:
    assert clean("\r\n".join(lines)) == "\n".join(lines)
