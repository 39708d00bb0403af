import pytest

from nacre.policy.reading.paths import could_be, located, normal, places, settled
from nacre.syntax.script import Command, Surroundings
from nacre.syntax.tree import Span
from nacre.syntax.word import CWD, HOLE, HOME, QUERY, SET, STAR, Word


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("//", "/"),
        ("/.", "/"),
        ("/home/../", "/"),
        ("/../..", "/"),
        ("a//b/./c/", "a/b/c"),
        ("./", "."),
        ("src/..", "."),
        ("../x/../y", "../y"),
        (f"{STAR}/..", "."),
        (f"{HOME}/..", f"{HOME}/.."),
        (f"{CWD}/a/../..", f"{CWD}/.."),
        (f"{HOLE}/../x", f"{HOLE}/../x"),
        (f"a/{SET}/..", f"a/{SET}/.."),
    ],
)
def test_a_path_is_made_normal_as_far_as_it_is_known(path: str, expected: str) -> None:
    assert normal(path) == expected


@pytest.mark.parametrize(
    ("template", "cwd", "expected"),
    [
        ("build", CWD, f"{CWD}/build"),
        (".", CWD, CWD),
        ("..", "/a/b", "/a"),
        ("../usr", "/tmp", "/usr"),
        ("/x", "/a", "/x"),
        (HOME, "/a", HOME),
        (f"{HOLE}/x", "/a", f"{HOLE}/x"),
        (STAR, "/a", f"/a/{STAR}"),
    ],
)
def test_a_word_leads_to_a_path_from_where_its_command_runs(
    template: str, cwd: str, expected: str
) -> None:
    assert located(template, cwd) == expected


def test_every_template_of_a_word_is_a_place() -> None:
    word = Word("$x", Span(0, 2), ("a", "/b"))
    command = Command(words=(word,), span=Span(0, 2), cwd="/c")
    assert places(word, command) == ("/c/a", "/b")


def test_known_surroundings_replace_their_marks() -> None:
    known = Surroundings(cwd="/srv/a", home="/home/me")
    assert settled(f"{CWD}/../b", known) == "/srv/b"
    assert settled(HOME, known) == "/home/me"
    assert settled(f"{CWD}/b", Surroundings()) == f"{CWD}/b"


@pytest.mark.parametrize(
    ("template", "text"),
    [
        (f".e{STAR}", ".env"),
        (f".{QUERY}{QUERY}{STAR}", ".git"),
        (f"id_{STAR}a", "id_rsa"),
        (f"{STAR}/.env", "a/.env"),
        (f"/bin/r{QUERY}", "/bin/rm"),
        (f"{STAR}{STAR}", "abc"),
        ("plain", "plain"),
    ],
)
def test_a_glob_could_be_what_it_matches(template: str, text: str) -> None:
    assert could_be(template, text)


@pytest.mark.parametrize(
    ("template", "text"),
    [
        (STAR, ".env"),
        (f"{STAR}.git", ".git"),
        (f"{QUERY}env", ".env"),
        (STAR, "a/b"),
        (f"r{QUERY}", "r"),
        (HOLE, "anything"),
        ("plain", "other"),
    ],
)
def test_a_glob_is_not_what_bash_would_not_match(template: str, text: str) -> None:
    assert not could_be(template, text)


def test_many_stars_take_no_time() -> None:
    assert not could_be(f"{STAR}a" * 200 + "b", "a" * 2_000)
