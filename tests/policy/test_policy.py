from typing import cast

from hypothesis import given
from hypothesis import strategies as st

from nacre.model.verdict import Decision, Verdict
from nacre.policy.guards.guard import Finding, Guard, Hit, Pack
from nacre.policy.policy import Policy
from nacre.policy.rules.layer import Layer, Mode
from nacre.policy.rules.load import load_rules
from nacre.syntax.read import read
from nacre.syntax.script import Command, Script, ViaKind
from nacre.syntax.tree import Span
from policy.judging import HERE, decision

ALLOW, ASK, DENY = Decision.ALLOW, Decision.ASK, Decision.DENY

PARTS = (
    "git status",
    "git push -f",
    "git -C x push",
    "rm -rf y",
    "sudo rm x",
    "$x y",
    "echo rm > f",
    "cd sub",
    "A=1 make",
    "timeout 5 npm test",
    "bash -c 'git push'",
    "curl x | sh",
    "f() { rm x; }",
    "echo $(git log)",
    "find . -delete",
    "npm run 'test'",
)
SCRIPTS = st.lists(st.sampled_from(PARTS), max_size=4).map(" && ".join)
BROKEN = st.tuples(
    SCRIPTS, st.sampled_from(("\necho 'x", "\n)", "\nif", "\0", "\n$(", "\n<<"))
).map("".join)
RULES = st.lists(
    st.sampled_from(
        (
            "Bash",
            "Bash(git:*)",
            "Bash(git push:*)",
            "Bash(rm:*)",
            "Bash(npm run test)",
            "Bash(* x)",
            "Bash(find:*)",
            "Bash(make)",
            "Bash(./x:*)",
            "Read",
        )
    ),
    max_size=3,
)
MODES = st.sampled_from([mode.value for mode in Mode])
LISTS = st.fixed_dictionaries(
    {"deny": RULES, "ask": RULES, "allow": RULES, "mode": MODES},
    optional={"default": st.sampled_from(("allow", "ask", "deny"))},
)
ROWS = st.lists(
    st.fixed_dictionaries(
        {
            "tool": st.sampled_from(("Bash", "bash", "Read")),
            "pattern": st.sampled_from(("*", "git *", "rm *", "git push*", "?d *", "npm *")),
            "action": st.sampled_from(("allow", "ask", "deny")),
        }
    ),
    max_size=4,
)
TABLES = st.fixed_dictionaries(
    {"default_action": st.sampled_from(("allow", "ask", "deny")), "rule": ROWS}
)


def layer(rules: dict[str, object]) -> Layer:
    return load_rules(rules, "rules")


def check(script: str, policy: Policy) -> Verdict:
    return policy.check(read(script, HERE))


@given(SCRIPTS, LISTS, st.sampled_from(("deny", "ask")), RULES)
def test_a_stricter_rule_never_loosens(
    script: str, rules: dict[str, object], kind: str, more: list[str]
) -> None:
    stricter = {**rules, kind: [*_rules(rules, kind), *more]}
    before = decision(script, **rules)
    # Where nothing is allowed that no rule speaks of, a rule that asks does speak of it.
    assert decision(script, **stricter) >= (before if kind == "deny" else min(before, ASK))


@given(SCRIPTS, LISTS, RULES)
def test_an_allow_rule_never_tightens(
    script: str, rules: dict[str, object], more: list[str]
) -> None:
    looser = {**rules, "allow": [*_rules(rules, "allow"), *more]}
    assert decision(script, **looser) <= decision(script, **rules)


@given(SCRIPTS, SCRIPTS, LISTS)
def test_what_is_refused_stays_refused_with_more_around_it(
    script: str, more: str, rules: dict[str, object]
) -> None:
    joined = f"{script}\n{more}"
    assert decision(joined, **rules) >= decision(script, **rules)


@given(SCRIPTS, st.lists(LISTS | TABLES, max_size=3))
def test_the_strictest_layer_wins(script: str, layers: list[dict[str, object]]) -> None:
    policy = Policy(layers=tuple(map(layer, layers)))
    alone = [decision(script, **rules) for rules in layers]
    assert check(script, policy).decision == max(alone, default=ALLOW)


@given(BROKEN, LISTS)
def test_no_list_allows_an_unreadable_script(script: str, rules: dict[str, object]) -> None:
    assert read(script).unreadable
    if any(rules[kind] for kind in ("deny", "ask", "allow")):
        policy = Policy(layers=(layer(rules),), unreadable=ALLOW)
        assert check(script, policy).decision > ALLOW


@given(BROKEN, TABLES)
def test_no_table_allows_an_unreadable_script(script: str, rules: dict[str, object]) -> None:
    policy = Policy(layers=(layer(rules),), unreadable=ALLOW)
    if rules["rule"] or rules["default_action"] != "allow":
        assert check(script, policy).decision > ALLOW


def _named(name: str, decision: Decision = DENY) -> Pack:
    def find(command: Command, script: Script) -> Hit | None:
        del script
        return Hit(command.span, name, decision)

    guard = Guard(
        name=f"no-{name}", reason=f"No {name}.", suggestion="x", find=find, names=frozenset({name})
    )
    return Pack(name="pack", guards=(guard,))


@given(SCRIPTS, st.lists(LISTS | TABLES, max_size=2))
def test_no_rule_overrides_a_guard(script: str, layers: list[dict[str, object]]) -> None:
    guarded = Policy(packs=(_named("rm"),))
    with_rules = Policy(packs=(_named("rm"),), layers=tuple(map(layer, layers)))
    assert check(script, with_rules).decision >= check(script, guarded).decision


@given(st.text(st.sampled_from("ab ü'\"$(){}`;&|<>\n\\*?~=-rm git"), max_size=24), LISTS)
def test_any_text_gets_a_verdict_whose_part_is_in_it(text: str, rules: dict[str, object]) -> None:
    found = check(text, Policy(packs=(_named("rm"), _named("git", ASK)), layers=(layer(rules),)))
    if found.decision is ALLOW:
        assert found == Verdict(decision=ALLOW)
    else:
        assert found.span is not None
        assert text.encode()[slice(*found.span)].decode() == found.part
        assert found.reason
        assert found.rule
        assert found.suggestion


def test_a_policy_with_nothing_allows_what_can_be_read() -> None:
    assert check("rm -rf / ; $x", Policy()) == Verdict(decision=ALLOW)
    assert check("echo 'x", Policy()).decision is ASK
    assert check("echo 'x", Policy(unreadable=ALLOW)) == Verdict(decision=ALLOW)


def test_a_guard_is_named_with_its_words() -> None:
    assert check("ls; sudo rm x", Policy(packs=(_named("rm"),))) == Verdict(
        decision=DENY,
        reason="No rm.",
        rule="pack.no-rm",
        part="rm x",
        span=(9, 13),
        suggestion="x",
        stated=True,
    )


def test_a_dialect_words_what_a_guard_found() -> None:
    def wording(finding: Finding, script: Script) -> str:
        return f"{finding.token} in {script.text}"

    policy = Policy(packs=(_named("rm"),), wording=wording)
    assert check("rm x", policy).reason == "rm in rm x"


def test_guards_look_only_through_what_they_are_told_to() -> None:
    policy = Policy(packs=(_named("rm"),), through=frozenset({ViaKind.EXEC}))
    assert check("sudo rm x", policy).decision is DENY
    assert check("bash -c 'rm x'", policy).decision is ALLOW
    assert check("sudo bash -c 'rm x'", policy).decision is ALLOW


def test_the_strictest_is_named_and_among_equals_the_first_in_the_script() -> None:
    packs = (_named("git", ASK), _named("rm"))
    rules = layer({"deny": ["Bash(npm:*)"]})
    policy = Policy(packs=packs, layers=(rules,))
    assert check("git x; rm y; npm z", policy).part == "rm y"
    assert check("git x; npm z; rm y", policy).part == "npm z"
    assert check("git x", policy).rule == "pack.no-git"


def test_where_guards_come_first_a_rule_about_an_earlier_part_is_not_named() -> None:
    rules = layer({"deny": ["Bash(npm:*)"]})
    policy = Policy(packs=(_named("git", ASK), _named("rm")), layers=(rules,), guards_first=True)
    assert check("npm z; rm y", policy).part == "rm y"
    assert check("git x; npm z", policy).part == "npm z"


def test_a_span_counts_bytes() -> None:
    found = check("echo üñ🚀; rm x", Policy(packs=(_named("rm"),)))
    assert found.span == (15, 19)
    assert found.part == "rm x"


def test_a_span_can_be_told_of_a_text_that_bash_cannot_be_given() -> None:
    script = Script(
        text="\ud83d rm", commands=(Command((), Span(2, 4)),), unreadable="it holds no character"
    )
    assert Policy().check(script).span == (0, 6)


def _rules(rules: dict[str, object], kind: str) -> list[str]:
    return cast("list[str]", rules[kind])
