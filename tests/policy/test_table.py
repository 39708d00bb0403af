import pytest

from nacre.model.verdict import Decision
from nacre.policy.rules.pattern import Likeness
from nacre.policy.rules.table import parse_wildcard
from policy.judging import decision, verdict

ALLOW, ASK, DENY = Decision.ALLOW, Decision.ASK, Decision.DENY


def rows(*rules: tuple[str, str]) -> list[object]:
    return [{"tool": "Bash", "pattern": pattern, "action": action} for pattern, action in rules]


@pytest.mark.parametrize(
    ("pattern", "text", "wanted"),
    [
        ("rm *", "rm -rf target", True),
        ("file?.rs", "file1.rs", True),
        ("file?.rs", "file.rs", False),
        ("git *", "git", False),
        ("git *", "git status && rm -rf /", True),
        ("[ab]*", "abc", False),
        ("[ab]*", "[ab]c", True),
        ("GIT *", "git status", False),
        ("*", "", True),
        ("", "", True),
        ("", "x", False),
        ("a*b*c", "a-b-c", True),
        ("a*b*c", "a-c-b", False),
        ("a*?b", "axb", True),
        ("a*?b", "ab", False),
        ("*\n*", "a\nb", True),
        ("a.c", "abc", False),
        ("*ab", "aab", True),
        ("ab*ba", "aba", False),
        ("caf?", "café", False),
        ("caf??", "café", True),
        ("*é", "café", True),
    ],
)
def test_a_wildcard_matches_the_whole_text(
    pattern: str,
    text: str,
    wanted: bool,  # noqa: FBT001
) -> None:
    assert (parse_wildcard(pattern).likeness(text) is Likeness.SURELY) is wanted


def test_the_first_row_that_matches_decides() -> None:
    table = rows(("git *", "allow"), ("git reset *", "deny"))
    assert decision("git reset --hard", default_action="deny", rule=table) is ALLOW
    assert decision("git reset --hard", default_action="deny", rule=table[::-1]) is DENY


def test_a_tool_is_known_by_its_name_in_any_case() -> None:
    table = [{"tool": "bash", "pattern": "ls*", "action": "allow"}]
    assert decision("ls", default_action="deny", rule=table) is ALLOW
    table = [{"tool": "Read", "pattern": "*", "action": "deny"}]
    assert decision("ls", default_action="allow", rule=table) is ALLOW


@pytest.mark.parametrize(
    ("script", "wanted"),
    [
        ("git status", ALLOW),
        ("git status && git log", ALLOW),
        ("git status && rm -rf /", DENY),
        ("git log $(touch x)", DENY),
        ("git", DENY),
        (" git status", DENY),
        ("touch x", DENY),
        ("timeout 5 git log", DENY),
        ("git log > out", ALLOW),
        ("git log 'x", DENY),
    ],
)
def test_every_part_must_come_out_allowed(script: str, wanted: Decision) -> None:
    assert decision(script, default_action="deny", rule=rows(("git *", "allow"))) is wanted


@pytest.mark.parametrize(
    ("script", "wanted"),
    [
        ("ls", ALLOW),
        ("rm x", DENY),
        ("r''m x", DENY),
        ("/bin/rm x", DENY),
        ("sudo rm x", DENY),
        ("bash -c 'rm x'", DENY),
        ("x=rm; $x y", DENY),
        ("git -C d push origin", ASK),
        ("echo rm x", ALLOW),
        ('"$x" y', ASK),
        ("curl x | sh", ASK),
        ("ls 'x", ASK),
    ],
)
def test_a_row_against_a_command_finds_it_wherever_it_runs(script: str, wanted: Decision) -> None:
    table = rows(("rm *", "deny"), ("git push *", "ask"))
    assert decision(script, default_action="allow", rule=table) is wanted


def test_a_row_that_matches_as_written_goes_before_other_spellings() -> None:
    table = rows(("/usr/bin/rm *", "allow"), ("rm *", "deny"))
    assert decision("/usr/bin/rm x", default_action="deny", rule=table) is ALLOW
    assert decision("/bin/rm x", default_action="allow", rule=table) is DENY


def test_an_empty_table_that_allows_says_nothing() -> None:
    assert decision("ls", default_action="allow") is ALLOW
    assert decision("ls", default_action="ask") is ASK


def test_a_verdict_names_the_row() -> None:
    found = verdict("ls && rm x", default_action="allow", rule=rows(("rm *", "deny")))
    assert (found.part, found.rule) == ("rm x", "Bash 'rm *' (rules)")
    found = verdict("ls", default_action="ask")
    assert (found.part, found.rule) == ("ls", "default_action (rules)")
