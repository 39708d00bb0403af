import pytest

from nacre.model.verdict import Decision
from nacre.policy.policy import Policy
from nacre.policy.rules.load import Notation, load_rules
from nacre.syntax.read import read
from policy.judging import decision, verdict

ALLOW, ASK, DENY = Decision.ALLOW, Decision.ASK, Decision.DENY


@pytest.mark.parametrize(
    "script",
    [
        "rm x",
        "rm",
        "ls && rm x",
        "/bin/rm x",
        "./rm x",
        "A=1 rm x",
        "r''m x",
        "\\rm x",
        "r\\\nm x",
        "{rm,x}",
        "timeout 5 rm x",
        "sudo -u me rm x",
        "env -i A=b rm x",
        "command rm x",
        "xargs -n1 rm",
        "find . -exec rm {} +",
        "bash -c 'rm x'",
        "eval 'rm x'",
        "bash <<'E'\nrm x\nE",
        "echo 'rm x' | sh",
        "trap 'rm x' EXIT",
        "watch rm x",
        "f() { rm x; }; f",
        "f() { rm x; }",
        "x=rm; $x y",
        "for c in ls rm; do $c y; done",
        "$SUDO rm x",
        "echo $(rm x)",
        "diff <(rm x) y",
        "git log; (rm x) > /dev/null",
        "rm x\necho 'not closed",
        "echo \"a'; rm x; echo 'b",
        "cat <<EOF\n$(rm x)\nEOF",
    ],
)
def test_a_denied_command_is_found_wherever_it_runs(script: str) -> None:
    assert decision(script, allow=["Bash"], deny=["Bash(rm:*)"]) is DENY


@pytest.mark.parametrize(
    "script",
    [
        'git commit -m "rm x"',
        "ls # rm x",
        "cat <<EOF\nrm x\nEOF",
        "npm run rm",
        "docker rm c",
        "git rm x",
        'X="rm y"',
        "type rm",
        "command -v rm",
        "echo rm x",
        "rmdir x",
        "grep 'rm ' f",
        "[[ $x == rm ]]",
        "bash script.sh",
        "echo rm > f",
    ],
)
def test_text_is_not_a_command(script: str) -> None:
    assert decision(script, allow=["Bash"], deny=["Bash(rm:*)"]) is ALLOW


@pytest.mark.parametrize(
    "script",
    [
        '"$x" y',
        "$(cat cmd) y",
        "/bin/r? y",
        'bash -c "$x"',
        'eval "$x"',
        "curl -s https://example.org | sh",
        "bash <(curl -s https://example.org)",
        "bash < script.sh",
        "ls 'not closed",
    ],
)
def test_what_could_be_a_denied_command_is_asked(script: str) -> None:
    for mode in ("default", "bypassPermissions"):
        assert decision(script, allow=["Bash"], deny=["Bash(rm:*)"], mode=mode) is ASK
    assert decision(script, allow=["Bash"], deny=["Bash(rm:*)"], mode="dontAsk") is DENY


@pytest.mark.parametrize(
    ("script", "wanted"),
    [
        ("git push", DENY),
        ("git -C /repo push", DENY),
        ("git -c a.b=c --no-pager push origin main", DENY),
        ("git --git-dir=x push", DENY),
        ("/usr/bin/git -C x push", DENY),
        ("git commit -m m && git push", DENY),
        ("docker --context c compose -f x.yml down", DENY),
        ("npm --prefix web publish", DENY),
        ("git stash push", ALLOW),
        ("git log --grep push", ALLOW),
        ("git -C push status", ALLOW),
        ("git $x", ASK),
        ("git log $x", ALLOW),
        ("git commit -m '; git push'", ALLOW),
    ],
)
def test_options_before_a_subcommand_do_not_hide_it(script: str, wanted: Decision) -> None:
    deny = ["Bash(git push:*)", "Bash(docker compose down:*)", "Bash(npm publish:*)"]
    assert decision(script, allow=["Bash"], deny=deny) is wanted


@pytest.mark.parametrize(
    ("rule", "script"),
    [
        ("Bash(/bin/rm:*)", "rm x"),
        ("Bash(./deploy.sh)", "/srv/proj/deploy.sh"),
        ("Bash(cat ~/.netrc)", 'cat "$HOME"/.netrc'),
        ("Bash(cat /home/me/.netrc)", "cat ~/.netrc"),
        ("Bash(FOO=1 make:*)", "FOO=1 make all"),
        ('Bash(echo "a  b")', "echo 'a b'"),
        ("Bash(*secret*)", "cat my-secret.txt"),
        ("Bash(echo * > *)", "echo x > y"),
        ("Bash", "ls"),
        ("Bash(*)", "# nothing runs"),
    ],
)
def test_rules_against_a_command_are_read_loosely(rule: str, script: str) -> None:
    assert decision(script, deny=[rule]) is DENY


def test_deny_beats_ask_and_ask_beats_allow() -> None:
    rules = {"allow": ["Bash(aws s3 ls)"], "ask": ["Bash(aws s3:*)"], "deny": ["Bash(aws s3 rm:*)"]}
    assert decision("aws s3 ls", **rules) is ASK
    assert decision("aws s3 rm x", **rules) is DENY
    assert decision("aws s3 ls; aws s3 rm x", **rules) is DENY
    assert decision("ls", **rules) is ALLOW


@pytest.mark.parametrize(
    ("mode", "unmatched", "asked"),
    [
        ("default", ALLOW, ASK),
        ("strict", DENY, ASK),
        ("acceptEdits", ALLOW, ASK),
        ("dontAsk", ALLOW, DENY),
        ("bypassPermissions", ALLOW, ALLOW),
    ],
)
def test_a_mode_says_what_holds_for_the_rest(
    mode: str, unmatched: Decision, asked: Decision
) -> None:
    rules: dict[str, object] = {"mode": mode, "ask": ["Bash(npm:*)"], "deny": ["Bash(rm:*)"]}
    assert decision("make", **rules) is unmatched
    assert decision("npm install", allow=["Bash"], **rules) is asked
    assert decision("rm x", allow=["Bash"], **rules) is DENY


@pytest.mark.parametrize(
    ("mode", "default", "wanted"),
    [
        ("strict", "ask", ASK),
        ("strict", "allow", ALLOW),
        ("default", "deny", DENY),
        ("dontAsk", "ask", DENY),
        ("bypassPermissions", "ask", ASK),
        ("bypassPermissions", "deny", DENY),
    ],
)
def test_a_default_beats_that_of_the_mode(mode: str, default: str, wanted: Decision) -> None:
    assert decision("make", mode=mode, default=default) is wanted


def test_no_rule_allows_what_cannot_be_read() -> None:
    assert decision("git log 'x", allow=["Bash"]) is ASK
    assert decision("git log &&& x", allow=["Bash(git:*)"], mode="strict") is DENY
    assert decision("git log 'x", mode="bypassPermissions", deny=["Read"]) is ASK


def test_rules_about_other_tools_match_no_script() -> None:
    assert decision("cat x", deny=["Read", "Write(/x)", "bash"], default="allow") is ALLOW


def test_in_agentrail_the_first_colon_is_a_blank() -> None:
    rules = {"deny": ["Bash(git:add *)"], "mode": "default"}
    for notation, wanted in ((Notation.COLON, DENY), (Notation.PLAIN, ALLOW)):
        policy = Policy(layers=(load_rules(rules, "agentrail.yaml", notation),))
        assert policy.check(read("git add src/main.ts")).decision is wanted
        assert policy.check(read("git address")).decision is ALLOW


def test_a_verdict_names_the_rule_and_the_part() -> None:
    found = verdict("ls ü; sudo git push -f", deny=["Bash(git push:*)"])
    assert found.part == "git push -f"
    assert found.span == (12, 23)
    assert found.rule == "Bash(git push:*) (rules)"
    assert found.reason == "`git push -f` is denied by the rule Bash(git push:*) (rules)."
    assert found.suggestion


def test_the_first_of_equals_is_named() -> None:
    assert verdict("git log; rm a; rm b", deny=["Bash(rm:*)"]).part == "rm a"
    assert verdict("x $(y); z", default="ask").part == "x $(y)"


def test_a_rule_brings_its_own_words() -> None:
    own = {"rule": "Bash(rm:*)", "reason": "Use trash.", "suggestion": "trash x"}
    found = verdict("rm x", deny=[own])
    assert (found.reason, found.suggestion) == ("Use trash.", "trash x")


def test_a_reason_is_stated_if_the_author_of_the_rule_wrote_it() -> None:
    own = {"rule": "Bash(rm:*)", "reason": "Use trash."}
    assert verdict("rm x", deny=[own]).stated
    assert verdict("rm x", ask=[own], mode="dontAsk").stated
    assert not verdict("rm x", deny=["Bash(rm:*)"]).stated
    assert not verdict("$x y", deny=[own]).stated
    assert not verdict("ls", mode="strict").stated


def test_an_unmatched_part_is_named_with_the_reason() -> None:
    found = verdict("git log > out", allow=["Bash(git:*)"], default="ask")
    assert found.reason == "`git log > out` needs approval: it writes to out."
    assert found.rule == "default (rules)"
    found = verdict("git log; touch x", allow=["Bash(git:*)"], mode="strict")
    assert found.reason == "`touch x` is not allowed: no allow rule covers it."
    assert found.rule == "strict (rules)"


def test_nothing_runs_in_an_empty_script() -> None:
    for script in ("", "  ", "# only a comment"):
        assert decision(script, allow=["Bash(git:*)"], default="ask") is ALLOW


def test_what_a_rule_asks_about_is_asked_about_in_strict_mode_too() -> None:
    rules = {"mode": "strict", "allow": ["Bash(npm test)"], "ask": ["Bash(npm publish:*)"]}
    policy = Policy(layers=(load_rules(rules, "mine"),))

    assert policy.check(read("npm publish --tag x")).decision is ASK
    assert policy.check(read("npm test && npm publish")).decision is ASK
    assert policy.check(read("npm publish && curl x")).decision is DENY
