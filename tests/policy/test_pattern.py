import pytest
from hypothesis import given
from hypothesis import strategies as st

from nacre.policy.rules.pattern import Likeness, Pattern, parse_pattern
from nacre.syntax.word import HOLE


def pattern(text: str, *, colon: bool = False) -> Pattern:
    parsed = parse_pattern(text, first_colon_is_blank=colon)
    assert parsed is not None
    return parsed


@pytest.mark.parametrize(
    ("text", "line", "wanted"),
    [
        ("git status", "git status", True),
        ("git status", "git status -s", False),
        ("git:*", "git", True),
        ("git:*", "git status", True),
        ("git:*", "gitk", False),
        ("ls *", "ls", True),
        ("ls *", "ls -la", True),
        ("ls *", "lsof", False),
        ("ls*", "lsof", True),
        ("npm run test:*", "npm run test --watch", True),
        ("npm run test:*", "npm run test:unit", False),
        ("git:* push", "git push", False),
        ("git:* push", "git a push", False),
        ("* install", "npm install", True),
        ("* install", "npm install x", False),
        ("git * main", "git push origin main", True),
        ("git * main", "git log x\n main", True),
        ("git * main", "git main", False),
        ("git * main *", "git merge main --no-ff", True),
        ("a*b*c", "abc", True),
        ("a*b*c", "acb", False),
        ("*", "anything at all", True),
        ("**", "", True),
        ("git   log", "git log", True),
        ("a(b)", "a(b)", True),
        ("npm test?", "npm test", False),
        (":", ":", True),
    ],
)
def test_a_pattern_matches_a_line(text: str, line: str, wanted: bool) -> None:  # noqa: FBT001
    assert pattern(text).matches(line) is wanted


@pytest.mark.parametrize(
    ("text", "line", "wanted"),
    [
        ("git:add *", "git add src/main.ts", True),
        ("git:add *", "git addon", False),
        ("git:*", "git status", True),
        ("git:* --force", "git push origin --force", True),
        ("git:*/index.ts", "git src/components/index.ts", True),
        ("git:add:*", "git add x", True),
        ("git:add:*", "git address", False),
        ("npm run test:unit", "npm run test:unit", True),
        ("npm run test:unit", "npm run test unit", False),
        ("git *", "git status", True),
    ],
)
def test_the_first_colon_can_stand_for_the_first_blank(
    text: str,
    line: str,
    wanted: bool,  # noqa: FBT001
) -> None:
    assert pattern(text, colon=True).matches(line) is wanted


@pytest.mark.parametrize("text", ["", "  ", ":*", "\t"])
@pytest.mark.parametrize("colon", [False, True])
def test_an_empty_pattern_is_none(text: str, colon: bool) -> None:  # noqa: FBT001
    assert parse_pattern(text, first_colon_is_blank=colon) is None


@pytest.mark.parametrize(
    ("text", "line", "wanted"),
    [
        ("rm:*", f"{HOLE} x", Likeness.PERHAPS),
        ("rm:*", f"rm{HOLE} x", Likeness.PERHAPS),
        ("rm:*", f"rm {HOLE}", Likeness.SURELY),
        ("rm:*", f"ls {HOLE}", Likeness.NO),
        ("rm:*", f"script-{HOLE}.sh", Likeness.NO),
        ("git push:*", f"git {HOLE}", Likeness.PERHAPS),
        ("git push:*", f"git log {HOLE}", Likeness.NO),
        ("git push", f"git {HOLE}h", Likeness.PERHAPS),
        ("git push", f"git {HOLE}l", Likeness.NO),
        ("git * --force", f"git commit -m {HOLE}", Likeness.NO),
        ("/bin/rm:*", "rm x", Likeness.SURELY),
        ("./deploy.sh:*", "deploy.sh now", Likeness.SURELY),
        ("/usr/bin/*", "ls", Likeness.NO),
        ('echo "a b"', "echo a b", Likeness.SURELY),
        ("ls $HOME/x", "ls ~/x", Likeness.SURELY),
        ("A=/b/c make", "c make", Likeness.NO),
    ],
)
def test_a_rule_against_a_command_is_read_loosely(text: str, line: str, wanted: Likeness) -> None:
    assert pattern(text).likeness(line) is wanted


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("git push:*", "git"),
        ("git", "git"),
        ("/usr/bin/git log", "git"),
        ("'git' log", "git"),
        ("ls*", None),
        ("* install", None),
        ("A=1 make", None),
    ],
)
def test_a_pattern_knows_the_command_it_is_about(text: str, name: str | None) -> None:
    assert pattern(text).name == name


LETTERS = st.text(st.sampled_from("ab *"), max_size=8)


@given(LETTERS, LETTERS)
def test_a_line_that_matches_also_matches_loosely(text: str, line: str) -> None:
    parsed = parse_pattern(text)
    if parsed and parsed.matches(line):
        assert parsed.likeness(line) is Likeness.SURELY


@given(st.text("ab ", max_size=6), st.text("ab ", max_size=4), st.text("ab ", max_size=6), LETTERS)
def test_what_an_unknown_part_could_be_is_never_overlooked(
    before: str, value: str, after: str, text: str
) -> None:
    """If some value makes the line match by what stands before the first star, it is noticed."""
    parsed = parse_pattern(text)
    if parsed is None or not parsed.matches(before + value + after):
        return
    if len(before) < len(parsed.head) or parsed.exact:
        assert parsed.likeness(before + HOLE + after) is not Likeness.NO
