"""`nacre check` through a real process: exit codes, what is printed, the stream of lines."""

import json
import os
import pty
import subprocess
import sys
from pathlib import Path
from typing import cast

import pytest

from hosts import nacre

DENIED = "git add -A"


def stream(state: Path, *lines: object, words: tuple[str, ...] = ()) -> list[dict[str, object]]:
    text = "".join(f"{line if isinstance(line, str) else json.dumps(line)}\n" for line in lines)
    done = subprocess.run(
        [sys.executable, "-m", "nacre", "check", "--jsonl", *words],
        input=text.encode("utf-8", "surrogateescape"),
        capture_output=True,
        check=False,
        timeout=60,
        env={**os.environ, "NACRE_STATE": str(state)},
    )
    assert (done.returncode, done.stderr) == (0, b"")
    return [cast("dict[str, object]", json.loads(line)) for line in done.stdout.splitlines()]


@pytest.mark.parametrize(
    ("words", "code", "decision"),
    [
        (["ls -la"], 0, "allow"),
        ([DENIED], 1, "deny"),
        (["git", "add", "--", "."], 1, "deny"),
        (["--", "git", "add", "-A"], 1, "deny"),
        (["echo $("], 3, "ask"),
        (["--dialect", "codegen", "sudo ls"], 1, "deny"),
        (["--dialect", "codegen", DENIED], 0, "allow"),
        (["--dialect", "yoi", "rm -rf /"], 0, "allow"),
    ],
)
def test_the_exit_code_is_the_decision(
    state: Path, words: list[str], code: int, decision: str
) -> None:
    done = nacre("check", *words, state=state)
    assert (done.code, done.err) == (code, "")
    assert done.out.split(":")[0].strip() == decision


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ([], "nacre: Missing argument 'SCRIPT'; see 'nacre check --help'"),
        (["--bogus", "ls"], "nacre: No such option"),
        (["--jsonl", "ls"], "nacre: --jsonl takes scripts from standard input only"),
        (["--dialect", "klingon", "ls"], "nacre: "),
        (["--rules", "/no/such.yaml", "ls"], "nacre: there is no rules file '/no/such.yaml'"),
    ],
)
def test_what_could_not_be_checked_is_not_a_denial(
    state: Path, words: list[str], sentence: str
) -> None:
    done = nacre("check", *words, state=state)
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith(sentence)
    assert done.err.count("\n") == 1


def test_a_denial_shows_the_part_its_rule_and_what_to_do(state: Path) -> None:
    done = nacre("check", "echo hi &&\n\tgit add -A; ls", state=state)
    first, line, carets, rule, instead = done.out.splitlines()
    assert first.startswith("deny: ")
    assert (line, carets) == ("2 |     git add -A; ls", "  |     ^^^^^^^^^^")
    assert rule == "rule: hazards.git-add"
    assert instead.startswith("instead: ")


def test_a_part_is_underlined_under_characters_of_any_width(state: Path) -> None:
    done = nacre("check", "echo 日本語 é; git add -A", state=state)
    assert done.out.splitlines()[1:3] == [
        "1 | echo 日本語 é; git add -A",
        f"  | {' ' * 15}^^^^^^^^^^",
    ]


def test_a_part_of_a_long_line_is_shown_with_its_surroundings(state: Path) -> None:
    done = nacre("check", f"echo {'x' * 5000}; git add -A; echo {'y' * 5000}", state=state)
    line, carets = done.out.splitlines()[1:3]
    assert (line[4], line[-1], len(line)) == ("…", "…", 100)
    assert line[carets.index("^") : carets.rindex("^") + 1] == DENIED


def test_characters_that_a_terminal_would_obey_are_shown(state: Path) -> None:
    done = nacre("check", "echo '\x1b[2J\u202e'; git add -A", state=state)
    assert "\x1b" not in done.out
    assert "\u202e" not in done.out
    assert "echo '\\x1b[2J\\u202e'; git add -A" in done.out


@pytest.mark.parametrize(("variables", "shows"), [({}, True), ({"NO_COLOR": "1"}, False)])
def test_colour_is_for_terminals(state: Path, variables: dict[str, str], *, shows: bool) -> None:
    ours, theirs = pty.openpty()
    environ = {**os.environ, "TERM": "xterm", "NACRE_STATE": str(state), **variables}
    words = [sys.executable, "-m", "nacre", "check", DENIED]
    assert subprocess.run(words, check=False, stdout=theirs, env=environ).returncode == 1
    said = os.read(ours, 65536)
    os.close(theirs)
    os.close(ours)
    assert (b"\x1b[31mdeny\x1b[0m: " in said) is shows
    assert (b"\x1b" in said) is shows


def test_json_has_the_verdict_and_the_bytes_of_its_part(state: Path) -> None:
    script = "echo é; git add -A"
    done = nacre("check", "--json", script, state=state)
    verdict = json.loads(done.out)
    assert done.code == 1
    assert verdict.keys() == {"decision", "reason", "rule", "part", "span", "suggestion"}
    assert (verdict["decision"], verdict["part"]) == ("deny", DENIED)
    start, end = verdict["span"]
    assert script.encode()[start:end].decode() == DENIED
    allowed = json.loads(nacre("check", "--json", "ls", state=state).out)
    assert (allowed["decision"], allowed["span"]) == ("allow", None)


def test_explain_lists_the_commands_that_were_found(state: Path) -> None:
    script = 'cd /x && for f in a b; do timeout 5 grep "$f" *.c > out; done | bash -c "ls $HOME"'
    done = nacre("check", "--explain", script, state=state)
    found = {line.partition("  # ")[0].strip() for line in done.out.splitlines()}
    assert {"cd /x", "ls ~"} <= found
    assert any(line.startswith("grep ") and "via timeout" in line for line in done.out.splitlines())
    commands = json.loads(nacre("check", "--explain", "--json", script, state=state).out)
    assert commands["commands"][0]["words"] == ["cd", "/x"]


def test_a_script_may_come_from_standard_input(state: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "nacre", "check", "-"],
        input=b"echo \xff\n" + DENIED.encode(),
        capture_output=True,
        check=False,
        env={**os.environ, "NACRE_STATE": str(state)},
    )
    assert done.returncode == 1
    assert b"git add -A" in done.stdout


def test_rules_of_the_project_and_of_a_file_hold(
    state: Path, workspace: Path, tmp_path: Path
) -> None:
    (workspace / "nacre.toml").write_text("[permissions]\ndeny = ['Bash(npm publish:*)']\n")
    rules = tmp_path / "rules.yaml"
    rules.write_text("permissions:\n  ask: ['Bash(curl:*)']\n")
    words = ("check", "--workspace", str(workspace), "--rules", str(rules))
    assert nacre(*words, "npm publish", state=state).code == 1
    assert nacre(*words, "curl x", state=state).code == 3
    assert nacre(*words, "ls", state=state).code == 0


def test_a_rule_file_that_is_wrong_is_told_with_its_place(state: Path, tmp_path: Path) -> None:
    rules = tmp_path / "rules.yaml"
    rules.write_text("permissions:\n  deny:\n    - 'Bash('\n")
    done = nacre("check", "--rules", str(rules), "ls", state=state)
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith(f"nacre: {rules}:3:7: ")


def test_lines_are_answered_in_order(state: Path) -> None:
    answers = stream(
        state,
        {"id": 1, "script": "ls"},
        {"id": "two", "script": DENIED},
        {"id": [3], "script": DENIED, "dialect": "codegen"},
        {"script": "npm x", "rules": {"deny": ["Bash(npm:*)"]}},
        {"id": 5, "script": "npm x", "rules": {"default": "ask", "allow": ["Bash(ls)"]}},
        {"id": 6, "script": "ls", "rules": {"default_action": "deny", "rule": []}},
        {"id": 7, "script": "git status", "rules": {
            "default_action": "deny",
            "rule": [{"tool": "Bash", "pattern": "git *", "action": "allow"}]}},
    )  # fmt: skip
    assert [(each["id"], each["decision"]) for each in answers] == [
        (1, "allow"), ("two", "deny"), ([3], "allow"), (None, "deny"), (5, "ask"), (6, "deny"),
        (7, "allow"),
    ]  # fmt: skip
    assert answers[1]["part"] == DENIED
    assert answers[1]["reason"]


def test_a_folder_may_come_with_a_line(state: Path) -> None:
    script = "rm -rf /srv/app"
    here, there = stream(
        state,
        {"id": 1, "script": script, "cwd": "/srv/app"},
        {"id": 2, "script": "rm -rf build", "cwd": "/srv/app"},
    )
    assert here["decision"] != "allow"
    assert there["decision"] == "allow"


def test_a_bad_line_is_answered_and_the_stream_goes_on(state: Path) -> None:
    bad = [
        "nonsense",
        "",
        "[]",
        "[" * 100_000,
        '{"id": 4}',
        '{"id": 5, "script": 3}',
        '{"id": 6, "script": "ls", "dialect": "klingon"}',
        '{"id": 7, "script": "ls", "rules": {"denny": []}}',
        '{"id": 8, "script": "ls", "rules": 3}',
        '{"id": 9, "script": "ls", "cwd": 3}',
        '{"id": 10, "script": "ls\udcff"}',
        f'{{"id": {"9" * 5000}}}',
    ]
    *answers, last = stream(state, *bad, {"id": "last", "script": "ls"})
    assert [each["id"] for each in answers] == [
        None, None, None, None, 4, 5, 6, 7, 8, 9, None, None,
    ]  # fmt: skip
    assert all(each["decision"] == "deny" and each["error"] for each in answers)
    assert last["decision"] == "allow"


def test_a_script_that_bash_could_not_be_given_is_never_allowed(state: Path) -> None:
    answers = stream(
        state, r'{"id": 1, "script": "ls \ud800"}', r'{"id": 2, "script": "ls\u0000x"}'
    )
    assert all(each["decision"] != "allow" for each in answers)


def test_an_answer_comes_before_the_next_line(state: Path) -> None:
    check = subprocess.Popen(
        [sys.executable, "-m", "nacre", "check", "--jsonl"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env={**os.environ, "NACRE_STATE": str(state)},
    )
    assert check.stdin is not None
    assert check.stdout is not None
    for number in range(3):
        check.stdin.write(json.dumps({"id": number, "script": "ls"}).encode() + b"\n")
        check.stdin.flush()
        assert json.loads(check.stdout.readline())["id"] == number
    check.stdin.close()
    assert check.wait(20) == 0
    check.stdout.close()
