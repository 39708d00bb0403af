"""What is refused before it runs: REQ-BASH-007."""

from pathlib import Path

import pytest

from nacre import Bash
from nacre.config.policy import policy_for
from nacre.model.verdict import Decision, Verdict
from nacre.syntax.read import read
from nacre.syntax.script import Surroundings

ADD = (
    "permission denied: blind git add commands (git add -A, git add ., git add --all, git add *)"
    " are not allowed, specify files explicitly"
)
PUSH = (
    "permission denied: git push --force is not allowed."
    " Use --force-with-lease for safer force pushes, or push without force"
)
RM = (
    "permission denied: this rm command could delete critical data (.git, home directory, or root)."
    " Specify the full path explicitly (no wildcards, ~, or $HOME)"
)


def check(script: str) -> Verdict:
    return policy_for("phoenix").check(read(script, Surroundings(cwd="/w", home="/home/u")))


def assert_refused(script: str, text: str) -> None:
    verdict = check(script)
    assert (verdict.decision, verdict.reason) == (Decision.DENY, text)


@pytest.mark.requirement("phoenix.safety-parsed")
@pytest.mark.parametrize(
    ("script", "text"),
    [
        ('rm -rf "/"', RM),
        ("'rm' -rf /", RM),
        ('rm -rf "$HOME"', RM),
        ("rm\t-r \\\n -f /", RM),
        ("cat <(rm -rf /)", RM),
        ("echo $(git push -f)", PUSH),
        ("echo 'rm -rf /'", None),
        ('git commit -m "no more git add -A; rm -rf ~"', None),
        ("# git push --force", None),
        ("cat <<'EOF'\nrm -rf /\nEOF", None),
        ("grep -- '--force' pushes", None),
        ('echo "unterminated', None),
    ],
)
def test_a_command_is_parsed_so_that_quotes_hide_nothing_and_text_is_not_code(
    script: str, text: str | None
) -> None:
    if text:
        assert_refused(script, text)
    else:
        assert check(script).decision is Decision.ALLOW


@pytest.mark.requirement(
    "phoenix.safety-before-execution",
    "phoenix.safety-message",
    "phoenix.safety-not-executed",
    "phoenix.safety-guides",
)
@pytest.mark.parametrize("mode", ["default", "slow", "background"])
def test_what_is_dangerous_is_refused_in_words_and_nothing_of_it_runs(
    mode: str, workspace: Path, state: Path
) -> None:
    with Bash(dialect="phoenix", workspace=workspace, state=state) as tool:
        for script, text in [("git add -A", ADD), ("git push -f", PUSH), ("rm -rf /", RM)]:
            command = f"touch ran; {script}"
            reply = tool.call_sync("bash", {"command": command, "mode": mode})
            assert (reply.text, reply.is_error) == (text, True)
            assert reply.details == {"success": False, "command": command, "display": command}
    assert not (workspace / "ran").exists()


@pytest.mark.requirement(
    "phoenix.git-add-dash-a", "phoenix.git-add-dot", "phoenix.git-add-all", "phoenix.git-add-star"
)
@pytest.mark.parametrize(
    "script", ["git add -A", "git add .", "git add --all", "git add *", "git add main.rs ."]
)
def test_a_blind_git_add_is_refused(script: str) -> None:
    assert_refused(script, ADD)


@pytest.mark.requirement("phoenix.git-push-force", "phoenix.git-push-f")
@pytest.mark.parametrize(
    "script",
    [
        "git push --force",
        "git push -f",
        "git push origin main --force",
        "git push --force-with-lease --force",
    ],
)
def test_a_forced_push_is_refused(script: str) -> None:
    assert_refused(script, PUSH)


@pytest.mark.requirement("phoenix.git-push-with-lease")
@pytest.mark.parametrize(
    "script",
    [
        "git push --force-with-lease",
        "git push --force-with-lease origin main",
        "git push --force-with-lease=main:abc origin main",
        "git push origin main",
    ],
)
def test_a_push_with_a_lease_is_allowed(script: str) -> None:
    assert check(script).decision is Decision.ALLOW


@pytest.mark.requirement(
    "phoenix.rm-root",
    "phoenix.rm-tilde",
    "phoenix.rm-home",
    "phoenix.rm-git",
    "phoenix.rm-star",
    "phoenix.rm-dot-star",
)
@pytest.mark.parametrize(
    "script",
    [
        "rm -rf /",
        "rm -r -f /",
        "rm --recursive --force -- /",
        "rm -rf /*",
        "rm -rf ~",
        "rm -rf ~/x",
        "rm -rf $HOME",
        "rm -rf ${HOME}/x",
        "rm -rf .git",
        "rm -Rf /path/to/.git",
        "rm -rf *",
        "rm -rf .*",
        "rm -rf foo/.*",
    ],
)
def test_a_dangerous_removal_is_refused(script: str) -> None:
    assert_refused(script, RM)


@pytest.mark.requirement("phoenix.safety-not-a-boundary")
@pytest.mark.parametrize(
    "script",
    [
        "ls -la",
        "git add src/main.rs",
        "git add -u",
        "git commit -am x",
        "rm file.txt",
        "rm -rf /tmp/build",
        "rm -rf node_modules",
        "rm -f .git",
        "rm -rf .",
        "rm -rf /usr",
        "sudo",
        "",
    ],
)
def test_what_is_not_on_the_list_is_allowed(script: str) -> None:
    assert check(script).decision is Decision.ALLOW


@pytest.mark.requirement("phoenix.safety-sudo")
@pytest.mark.parametrize(
    ("script", "text"),
    [
        ("sudo rm -rf /", RM),
        ("sudo git push --force", PUSH),
        ("sudo git add .", ADD),
        ("sudo -u root rm -rf /", RM),
    ],
)
def test_what_follows_sudo_is_checked(script: str, text: str) -> None:
    assert_refused(script, text)


def test_what_follows_sudo_and_is_not_dangerous_is_allowed() -> None:
    assert check("sudo apt-get update").decision is Decision.ALLOW


@pytest.mark.requirement("phoenix.safety-all-parts")
@pytest.mark.parametrize(
    ("script", "text"),
    [
        ("ls | rm -rf *", RM),
        ("echo 'cleaning' && rm -rf .git", RM),
        ("true || rm -rf ~", RM),
        ("ls; git add -A", ADD),
        ("sleep 1 & git push -f", PUSH),
        ("(rm -rf /)", RM),
        ("{ rm -rf /; }", RM),
        ("if true; then rm -rf /; fi", RM),
        ("for x in 1; do git add .; done", ADD),
        ("while false; do git push -f; done", PUSH),
        ("case x in x) rm -rf ~;; esac", RM),
        ("f() { git push -f; }", PUSH),
    ],
)
def test_every_part_of_a_pipeline_or_compound_is_checked(script: str, text: str) -> None:
    assert_refused(script, text)
