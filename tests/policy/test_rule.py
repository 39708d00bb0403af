import pytest

from nacre.errors import RuleError
from nacre.model.verdict import Decision
from nacre.policy.rules.rule import parse_rule


def test_a_bare_tool_name_is_about_every_command() -> None:
    for text in ("Bash", "  Bash  ", "Bash(*)", "Bash( * )"):
        rule = parse_rule(text, Decision.ASK)
        assert rule.pattern is not None
        assert rule.pattern.everything


def test_a_rule_is_cut_at_its_first_parenthesis() -> None:
    rule = parse_rule("Bash(a(b))", Decision.DENY)
    assert rule.pattern is not None
    assert rule.pattern.text == "a(b)"


@pytest.mark.parametrize("text", ["Read", "Write(/workspace/**)", "bash", "bash(rm:*)", "mcp__x"])
def test_a_rule_about_another_tool_is_kept_and_has_no_pattern(text: str) -> None:
    rule = parse_rule(text, Decision.DENY)
    assert rule.text == text
    assert rule.pattern is None


def test_a_label_says_where_the_rule_is_written() -> None:
    assert parse_rule("Bash(ls)", Decision.DENY, origin="a.yaml:4").label == "Bash(ls) (a.yaml:4)"
    assert parse_rule("Bash(ls)", Decision.DENY).label == "Bash(ls)"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "empty string"),
        ("   ", "empty string"),
        ("Bash(git:*", "missing closing parenthesis"),
        ("Bash(git) x", "missing closing parenthesis"),
        ("(git:*)", "tool name is empty"),
        ("Bash()", "pattern inside parentheses is empty"),
        ("Bash( )", "pattern inside parentheses is empty"),
        ("Bash(:*)", "pattern inside parentheses is empty"),
    ],
)
def test_a_rule_that_is_none_is_refused_by_its_text(text: str, said: str) -> None:
    with pytest.raises(RuleError, match=said) as raised:
        parse_rule(text, Decision.DENY)
    assert text.strip() in str(raised.value)
