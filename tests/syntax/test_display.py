import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nacre.syntax.display import display

CASES = Path(__file__).parents[3] / "shared" / "cases" / "display_cases.json"
HOME = "/home/u"


def shown(script: str, cwd: str = "/foo") -> str:
    return display(script, cwd, HOME)


@pytest.mark.parametrize(
    ("script", "rest"),
    [
        ("cd /foo && cargo test", "cargo test"),
        ("cd /foo; npm build", "npm build"),
        ("cd /foo\nls", "ls"),
        ("cd /foo && a || b", "a || b"),
        ("cd /foo && a && b", "a && b"),
        ("cd /foo && a | b", "a | b"),
        ("cd /foo && a &", "a &"),
        ("  cd /foo   &&   ls -la  ", "ls -la"),
        ("cd /foo &&\n  ls", "ls"),
        ("cd /foo \\\n  && ls", "ls"),
        ("cd /foo && ls # list", "ls # list"),
        ("# build\ncd /foo && make", "# build\nmake"),
        ("cd /foo # go\nls", "# go\nls"),
        ("cd /foo && # then\n ls", "# then\n ls"),
        ("set -e\ncd /foo\nmake", "set -e\nmake"),
        ("sleep 5 & cd /foo; ls", "sleep 5 & ls"),
        ("a && cd /foo && b", "a && b"),
        ("cd /a; cd /foo && ls", "cd /a; ls"),
        ("cd /foo && cd /foo && ls", "ls"),
        ("cd /foo && cd bar && ls", "cd bar && ls"),
        ("cd /foo && (cd bar && ls)", "(cd bar && ls)"),
        ("cd /foo && cat <<'EOF'\ncd /foo && x\nEOF", "cat <<'EOF'\ncd /foo && x\nEOF"),
        ("cat <<A && cd /foo && ls\nbody\nA", "cat <<A && ls\nbody\nA"),
        ("cd /foo && echo a\\ ", "echo a\\ "),
    ],
)
def test_a_cd_to_the_working_directory_is_cut_out(script: str, rest: str) -> None:
    assert shown(script) == rest


@pytest.mark.parametrize(
    "target",
    [
        "/foo", "/foo/", "//foo", "/foo/.", "/foo/../foo", ".", "./", "../foo", "sub/..",
        '"/foo"', "'/foo'", "/f'oo'", "\\/foo", "$'/foo'", "$PWD", '"${PWD}"', "~+",
        "-P /foo", "-LP /foo", "-- /foo", "-P -- /foo",
    ],
)  # fmt: skip
def test_the_same_directory_is_known_however_it_is_written(target: str) -> None:
    assert shown(f"cd {target} && ls") == "ls"


@pytest.mark.parametrize(
    ("target", "cwd"),
    [("~", HOME), ("~/p", f"{HOME}/p"), ('"$HOME/p"', f"{HOME}/p"), ("${HOME}", HOME)],
)
def test_the_home_directory_is_known(target: str, cwd: str) -> None:
    assert shown(f"cd {target} && ls", cwd) == "ls"
    assert display(f"cd {target} && ls", cwd, None) == f"cd {target} && ls"


@pytest.mark.parametrize(
    "script",
    [
        "",
        "cd /foo",
        "cd /foo;",
        "cd /foo; cd /foo",
        "cd /foobar && ls",
        "cd /other && ls",
        "cd && ls",
        "cd - && ls",
        "cd '' && ls",
        "cd /foo /bar && ls",
        "cd -x /foo && ls",
        "cd ~u && ls",
        'cd "~/p" && ls',
        "cd /fo* && ls",
        "cd {/foo,} && ls",
        'cd "$(pwd)" && ls',
        "cd $x/foo && ls",
        "cd /foo || exit 1",
        "ls || cd /foo && pwd",
        "a && cd /foo; ls",
        "cd /foo & ls",
        "cd /foo | ls",
        "! cd /foo && ls",
        "time cd /foo && ls",
        "cd /foo >/dev/null && ls",
        "A=1 cd /foo && ls",
        "pushd /foo && ls",
        "command cd /foo && ls",
        "(cd /foo && ls)",
        "{ cd /foo && ls; }",
        "if true; then cd /foo && ls; fi",
        "cat <<A; cd /foo\nbody\nA\nls",
        "cd sub && cd .. && ls",
        "cd /a && cd . && ls",
        "cd /a && cd $PWD && ls",
        "echo 'cd /foo && x'",
        "  ls  ",
        'cd /foo && echo "unterminated',
        "cd /foo && ls )",
    ],
)
def test_everything_else_is_shown_as_it_is(script: str) -> None:
    assert shown(script) == script


def test_an_unquoted_variable_with_blanks_is_several_words() -> None:
    assert shown("cd $PWD && ls", "/a b") == "cd $PWD && ls"
    assert shown('cd "$PWD" && ls', "/a b") == "ls"
    assert shown("cd /a\\ b && ls", "/a b") == "ls"


@given(st.text("cd /fo~$\"'\\;&|\n#().<A ", max_size=40))
def test_what_is_shown_is_made_of_what_was_written(script: str) -> None:
    rest = iter(script)
    assert all(character in rest for character in shown(script))


def test_the_shared_cases_hold() -> None:
    if not CASES.exists():
        pytest.skip("the shared cases are not here")
    cases = json.loads(CASES.read_text())
    found = {case["id"]: display(case["command"], case["cwd"], case["home"]) for case in cases}
    assert found == {case["id"]: case["expected"] for case in cases}
