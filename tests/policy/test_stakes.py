import pytest

from nacre.policy.guards.stakes import Stake, stakes
from nacre.syntax.script import Command, Script, Surroundings, Via, ViaKind
from nacre.syntax.tree import Span
from nacre.syntax.word import CWD, FIELDS, HOLE, HOME, QUERY, SET, STAR, Expansion, Word

KNOWN = Surroundings(cwd="/home/me/work", home="/home/me")


def at_stake(
    *templates: str,
    cwd: str = CWD,
    known: Surroundings = KNOWN,
    source: str = "$word",
    via: tuple[Via, ...] = (),
) -> frozenset[Stake]:
    word = Word(source, Span(0, 0), templates)
    command = Command(words=(word,), span=Span(0, 0), cwd=cwd, via=via)
    return stakes(word, command, Script(text="", commands=(command,), surroundings=known))


@pytest.mark.parametrize(
    ("template", "stake"),
    [
        ("/", Stake.ROOT),
        (f"/{STAR}", Stake.ROOT),
        (f"/.{STAR}", Stake.ROOT),
        (f"/{STAR}/{STAR}", Stake.ROOT),
        (HOME, Stake.HOME),
        (f"{HOME}/{STAR}", Stake.HOME),
        ("/home/me", Stake.HOME),
        ("/home/somebody/", Stake.HOME),
        (f"{HOME}/Documents", Stake.IN_HOME),
        (".git", Stake.GIT),
        ("a/.git/", Stake.GIT),
        (f".git/{STAR}", Stake.GIT),
        (f".g{STAR}", Stake.GIT),
        (f".{QUERY}{STAR}", Stake.GIT),
        (".git/objects", Stake.IN_GIT),
        (STAR, Stake.EVERYTHING),
        (f"{STAR}/", Stake.EVERYTHING),
        (f".{STAR}", Stake.EVERYTHING),
        (f"src/.{STAR}", Stake.EVERYTHING),
        (".", Stake.HERE),
        ("../..", Stake.HERE),
        (f"./{STAR}", Stake.HERE),
        (f"{QUERY}{STAR}", Stake.HERE),
        ("/home/me/work", Stake.HERE),
        ("/usr", Stake.SYSTEM),
        (f"/etc/{STAR}", Stake.SYSTEM),
        ("/usr/lib", Stake.SYSTEM),
        ("/data", Stake.SYSTEM),
        (f"{HOLE}/{STAR}", Stake.VARIABLE),
        (f"{FIELDS}/", Stake.VARIABLE),
        (f"{HOLE}{STAR}", Stake.VARIABLE),
        (f"{HOLE}/usr", Stake.VARIABLE),
        (f"/{HOLE}", Stake.VARIABLE),
    ],
)
def test_what_matters_is_known_by_its_path(template: str, stake: Stake) -> None:
    assert stake in at_stake(template)


@pytest.mark.parametrize(
    "template",
    [
        "",
        "build",
        f"build/{STAR}",
        f"{STAR}.o",
        ".github",
        ".gitignore",
        f"{STAR}.git",
        ".git/rebase-merge",
        ".git/modules/lib",
        ".git/index.lock",
        "../other",
        "/tmp",
        f"/tmp/{STAR}",
        "/tmp/x",
        f"/data/{STAR}",
        f"/var/lib/apt/lists/{STAR}",
        "~",
        HOLE,
        FIELDS,
        f"{HOLE}/build",
        f"{HOLE}/{HOLE}",
        f"{SET}/{STAR}",
        f"/opt/{HOLE}",
    ],
)
def test_what_is_anyones_to_delete_is_not_at_stake(template: str) -> None:
    assert at_stake(template) == frozenset()


def test_a_path_is_seen_from_where_the_command_runs() -> None:
    assert Stake.SYSTEM in at_stake("usr", cwd="/")
    assert Stake.HOME in at_stake(".", cwd=HOME)
    assert at_stake("node_modules", cwd=f"{HOME}/work") == frozenset()
    assert at_stake(".", cwd="/tmp/x") == frozenset()
    assert Stake.HERE in at_stake("work", cwd=f"{CWD}/..")


def test_without_surroundings_what_is_written_still_counts() -> None:
    nothing = Surroundings()
    assert Stake.HERE in at_stake("..", known=nothing)
    assert Stake.HOME in at_stake(f"{HOME}/..", known=nothing)
    assert at_stake("../other", known=nothing) == frozenset()


def test_elsewhere_only_the_root_and_a_home_directory_matter() -> None:
    ssh = (Via(ViaKind.REMOTE, "ssh"),)
    assert at_stake("/", via=ssh) == {Stake.ROOT}
    assert at_stake(HOME, via=ssh) == {Stake.HOME}
    assert at_stake(STAR, via=ssh) == frozenset()
    assert at_stake("/app", via=ssh) == frozenset()


def test_a_variable_that_may_be_empty_is_doubt_and_not_certainty() -> None:
    assert at_stake("/build", "/out/build", source='"$OUT/build"') == frozenset()
    assert at_stake(f"/{STAR}", f"/out/{STAR}", source='"$OUT"/*') == {Stake.VARIABLE}
    assert Stake.ROOT in at_stake("/", "/tmp/x", source="$each")


def test_a_path_that_a_program_finds_is_not_a_variable() -> None:
    for template in (f"/{HOLE}", f"{HOLE}/.{STAR}", f"{HOME}/{HOLE}"):
        assert at_stake(template, source="{}") == frozenset()
    assert Stake.GIT in at_stake(f"{HOLE}/.git", source="{}")


def test_a_default_makes_a_variable_never_empty() -> None:
    word = Word("$x", Span(0, 0), (f"{HOLE}/{STAR}",), (Expansion("TMPDIR", ":-"),))
    command = Command(words=(word,), span=Span(0, 0))
    assert stakes(word, command, Script(text="", commands=(command,))) == frozenset()
