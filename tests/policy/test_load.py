from textwrap import dedent

import pytest

from nacre.errors import ConfigError, RuleError
from nacre.model.verdict import Decision
from nacre.policy.rules.layer import Mode, RuleLists
from nacre.policy.rules.load import Notation, load_rules, load_text
from nacre.policy.rules.table import RuleTable

YAML = """\
model: none of ours
permissions:
  mode: strict
  default: ask
  deny:
    - "Bash(rm:*)"
    - rule: Bash(git push:*)
      reason: Pushing is the user's.
      suggestion: Say what you would push.
      match: [git push, "cd x && git -C y push origin"]
      not_match:
        - git stash push
  allow:
    - Bash(git:*)
    - Read
  ask:
"""

TOML = """\
title = "none of ours"

[permissions]
mode = "strict"
default = "ask"
deny = [
  "Bash(rm:*)", # a comment, with "quotes"
  { rule = "Bash(git push:*)", reason = "Pushing is the user's.", match = ['git push'] },
]
allow = ["Bash(git:*)", "Read"]
"""

TABLE = """\
[permissions]
default_action = "deny"

[[permissions.rule]]
tool = "bash"
pattern = "git *"
action = "allow"

[[permissions.rule]]
tool = "Bash"
pattern = "git reset *"
action = "deny"
"""


def lists(text: str, origin: str = "agentrail.yaml") -> RuleLists:
    layer = load_text(dedent(text), origin)
    assert isinstance(layer, RuleLists)
    return layer


@pytest.mark.parametrize(("text", "origin"), [(YAML, "agentrail.yaml"), (TOML, "nacre.toml")])
def test_lists_are_read_from_yaml_and_toml(text: str, origin: str) -> None:
    layer = lists(text, origin)
    assert layer.mode is Mode.STRICT
    assert layer.default is Decision.ASK
    assert [rule.text for rule in layer.deny] == ["Bash(rm:*)", "Bash(git push:*)"]
    assert [rule.text for rule in layer.allow] == ["Bash(git:*)", "Read"]
    assert layer.ask == ()
    assert layer.deny[1].reason == "Pushing is the user's."


def test_a_rule_knows_its_file_and_line() -> None:
    assert [rule.origin for rule in lists(YAML).deny] == ["agentrail.yaml:6", "agentrail.yaml:7"]
    assert [rule.origin for rule in lists(TOML, "nacre.toml").deny] == [
        "nacre.toml:7",
        "nacre.toml:8",
    ]


def test_a_table_keeps_its_order() -> None:
    layer = load_text(TABLE, "manifest.toml", Notation.ORDERED)
    assert isinstance(layer, RuleTable)
    assert layer.default is Decision.DENY
    assert [row.label for row in layer.rows] == [
        "bash 'git *' (manifest.toml:4)",
        "Bash 'git reset *' (manifest.toml:9)",
    ]


def test_an_object_is_read_like_a_file() -> None:
    layer = load_rules({"allow": ["Bash(git:*)"], "ask": [], "deny": [], "default": "ask"}, "rules")
    assert isinstance(layer, RuleLists)
    assert layer.allow[0].label == "Bash(git:*) (rules)"
    table = load_rules({"default_action": "ask", "rule": []}, "rules")
    assert table == RuleTable(default=Decision.ASK, origin="rules")


def test_only_in_its_notation_is_a_colon_a_blank() -> None:
    for notation, wanted in ((Notation.COLON, "git add *"), (Notation.PLAIN, "git:add *")):
        layer = load_rules({"deny": ["Bash(git:add *)"]}, "rules", notation)
        assert isinstance(layer, RuleLists)
        assert layer.deny[0].pattern is not None
        assert layer.deny[0].pattern.text == wanted


@pytest.mark.parametrize("text", ["", "# nothing", "model: x", "other: [1, 2]"])
def test_a_file_without_permissions_is_no_layer(text: str) -> None:
    assert load_text(text, "agentrail.yaml") is None


def test_missing_lists_are_empty() -> None:
    layer = lists("permissions: {deny: [Bash]}")
    assert (layer.allow, layer.ask, layer.mode, layer.default) == ((), (), Mode.DEFAULT, None)
    assert lists("permissions:") == RuleLists(origin="agentrail.yaml:1")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("permissions: {mode: INVALID_MODE}", "x.yaml:1:21: invalid mode 'INVALID_MODE': use one"),
        ("permissions: {mode: 3}", "x.yaml:1:21: invalid mode 3"),
        ("permissions:\n  unknownKey: true", "x.yaml:2:3: unknown key 'unknownKey': use mode,"),
        ("permissions: [1]", "x.yaml:1:14: [1] is not a mapping"),
        ("- a", "x.yaml:1:1: ['a'] is not a mapping"),
        ("permissions:\n  deny: Bash", "x.yaml:2:9: 'Bash' is no list: put it in brackets"),
        ("permissions:\n  deny:\n    - 5", "x.yaml:3:7: 5 is not a rule, or a mapping"),
        ("permissions:\n  deny: ['Bash', '']", "x.yaml:2:18: Invalid permission rule: empty"),
        ("permissions:\n  deny:\n    - Bash(git:*", 'x.yaml:3:7: Invalid permission rule "Bash('),
        ("permissions: {default: maybe}", "x.yaml:1:24: 'maybe' is no decision: use one of allow"),
        ("permissions: {default: yes}", "x.yaml:1:24: True is no decision"),
        ("permissions:\n  deny:\n  - reason: x", "x.yaml:3:5: the key 'rule' is missing"),
        ("permissions:\n  deny:\n  - rule: Bash\n    why: x", "x.yaml:4:5: unknown key 'why'"),
        ("permissions:\n  deny:\n  - rule: Bash\n    reason: 5", "x.yaml:4:13: 5 is no text"),
        (
            "permissions:\n  deny:\n  - rule: Bash(rm:*)\n    match: [ls]",
            "x.yaml:4:13: the rule Bash(rm:*) does not match its example 'ls'",
        ),
        (
            "permissions:\n  deny:\n  - rule: Bash(rm:*)\n    not_match: [ls, sudo rm x]",
            "x.yaml:4:21: the rule Bash(rm:*) matches 'sudo rm x', which it should not",
        ),
        (
            "permissions:\n  allow:\n  - rule: Bash(git:*)\n    match: [git log > x]",
            "x.yaml:4:13: the rule Bash(git:*) does not match its example 'git log > x'",
        ),
        (
            'permissions:\n  deny:\n  - rule: Bash(rm:*)\n    match: ["rm \'x"]',
            'x.yaml:4:13: the example "rm \'x" cannot be read: a single quote is not closed',
        ),
        ("permissions: {deny: [Bash], deny: []}", "x.yaml:1:29: the key 'deny' is there twice"),
        ("deny: [Bash]", "x.yaml:1:1: rules belong under 'permissions': move 'deny' there"),
        ("permissions: {rule: []}", "x.yaml:1:14: permissions.default_action is missing"),
        ("permissions: {default_action: no}", "x.yaml:1:31: False is no decision"),
        ("permissions: {default_action: ask, mode: strict}", "x.yaml:1:36: unknown key 'mode'"),
        (
            "permissions:\n  default_action: ask\n  rule:\n  - {tool: Bash, action: ask}",
            "x.yaml:4:5: the key 'pattern' is missing: a rule has tool, pattern and action",
        ),
        ("a: [", "x.yaml:1:5: this is not YAML: expected the node content"),
        ("a: &a [1]\nb: *a", "x.yaml:2:4: aliases are not read here"),
        ("[" * 5000, "x.yaml:1:42: the file holds too much"),
        ("a\x00", "x.yaml: this is not YAML"),
        ("? [a]\n: b", "x.yaml:1:3: a key must be a word"),
    ],
)
def test_what_is_wrong_in_yaml_is_said_with_its_place(text: str, said: str) -> None:
    with pytest.raises(RuleError) as raised:
        load_text(text, "x.yaml")
    assert str(raised.value).startswith(said)


def test_where_colons_are_blanks_a_rule_that_is_none_is_named_by_its_index() -> None:
    text = "permissions:\n  deny: ['Bash', '']\n"
    with pytest.raises(RuleError) as raised:
        load_text(text, "x.yaml", Notation.COLON)
    said = "x.yaml:2:18: Permission rule at index 1 is invalid: Invalid permission rule: empty"
    assert str(raised.value).startswith(said)
    with pytest.raises(RuleError, match=r"at index 0 is invalid: .*missing closing parenthesis"):
        load_rules({"ask": [{"rule": "Bash(git:*"}]}, "rules", Notation.COLON)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('[permissions]\nmode = "x"', "x.toml:2:8: invalid mode 'x'"),
        ("[permissions]\nmood = 1", "x.toml:2:1: unknown key 'mood'"),
        ('permissions.deny = ["Bash", "B("]', "x.toml:1:29: Invalid permission rule"),
        ('[permissions]\ndeny = [\n  "Bash",\n  # why\n  5,\n]', "x.toml:5:3: 5 is not a rule"),
        (
            '[permissions]\ndeny = [{ rule = \'Bash(rm:*)\', match = [\'rm\', """ls"""] }]',
            "x.toml:2:47: the rule Bash(rm:*) does not match its example 'ls'",
        ),
        ("[permissions]\r\nmood = 1", "x.toml:2:1: unknown key 'mood'"),
        (TABLE.replace('"deny"', '"dny"', 2), "x.toml:2:18: 'dny' is no decision"),
        (TABLE + "\n[[permissions.rule]]\ntool = 'x'\n", "x.toml:14:1: the key 'pattern' is"),
        (TABLE + "why = 1\n", "x.toml:13:1: unknown key 'why'"),
        ("a = ", "x.toml:1:5: this is not TOML"),
        ("a = 1\nb", "x.toml:2:2: this is not TOML: Expected '='"),
        ("[permissions", "x.toml:1:13: this is not TOML"),
    ],
)
def test_what_is_wrong_in_toml_is_said_with_its_place(text: str, said: str) -> None:
    with pytest.raises(RuleError) as raised:
        load_text(text, "x.toml")
    assert str(raised.value).startswith(said)


def test_a_table_that_is_expected_needs_its_default_action() -> None:
    with pytest.raises(ConfigError, match=r"x\.toml:1:1: permissions.default_action is missing"):
        load_text("[permissions]", "x.toml", Notation.ORDERED)
    assert isinstance(load_text("[permissions]\ndeny=[]", "x.toml", Notation.ORDERED), RuleLists)


def test_what_is_wrong_in_an_object_is_said_with_its_path() -> None:
    with pytest.raises(RuleError, match=r"^rules: deny\[1\]: 5 is not a rule"):
        load_rules({"deny": ["Bash", 5]}, "rules")
    with pytest.raises(RuleError, match=r"^rules: mod: unknown key 'mod'"):
        load_rules({"mod": "strict"}, "rules")
