"""What a yes for always covers: the command that was shown, and nothing that only looks like it."""

import pytest

from nacre.config.layers import gather
from nacre.config.policy import ScriptChecker
from nacre.syntax.script import Surroundings

HERE = Surroundings(cwd="/srv/app", home="/home/someone")
RULES: dict[str, dict[str, object]] = {
    "ask": {"ask": ["Bash(npm:*)", "Bash(git push:*)", "Bash(sh:*)", "Bash(psql:*)"]},
    "default": {"default": "ask", "allow": ["Bash(ls:*)", "Bash(tail:*)"]},
    "everything": {"ask": ["Bash"]},
    "table": {"default_action": "ask"},
}


def checker(name: str) -> ScriptChecker:
    return ScriptChecker("nacre", gather(None, rules=RULES[name]).layers)


@pytest.mark.parametrize("name", RULES)
@pytest.mark.parametrize(
    ("script", "rules"),
    [
        ("npm publish", ("Bash(npm publish)",)),
        ("npm publish\n", ("Bash(npm publish)",)),
        ("npm  publish", ()),
        ("go test ./x", ("Bash(go test ./x)",)),
        ("timeout 5 npm publish", ("Bash(timeout 5 npm publish)",)),
        ("git push origin 'a b'", ("Bash(git push origin 'a b')",)),
        (
            "npm publish; git push origin main",
            ("Bash(npm publish)", "Bash(git push origin main)"),
        ),
    ],
)
def test_the_narrowest_rule_is_offered(name: str, script: str, rules: tuple[str, ...]) -> None:
    checks = checker(name)
    assert checks.offer(script, HERE) == rules
    if rules:
        assert set(checks.grants(script, HERE, rules)) == set(rules)


@pytest.mark.parametrize("name", RULES)
@pytest.mark.parametrize(
    "script",
    [
        # Shells, interpreters, and what runs what is written behind it.
        "bash -c 'npm publish'",
        "sh",
        "timeout 5 sh",
        "env npm publish",
        "python3 publish.py",
        "python3.11 -c 'print(1)'",
        "awk 1 npm",
        "xargs npm publish",
        "find . -exec npm publish ;",
        "eval npm publish",
        "npm exec publish",
        "jython publish.py",
        "guile-3.0 publish.scm",
        "python3-dbg publish.py",
        "octave-cli publish.m",
        "x86_64 npm publish",
        "go run publish.go",
        "cmake -P publish.cmake",
        "nix run publish",
        "/usr/src/app/publish",
        "sudo npm publish",
        "exec npm publish",
        "command npm publish",
        "timeout 5 env npm publish",
        "node publish.js",
        "pwsh publish.ps1",
        "java Publish.java",
        "ssh host npm publish",
        "docker run image npm publish",
        "git -c core.pager=evil log",
        # A part that cannot be shown whole, or is no text of its own.
        "npm publish $WHAT",
        "WHAT=x; npm publish $WHAT",
        "npm publish *.tgz",
        "npm publish ~/x.tgz",
        f"npm publish {'x' * 400}",
        "npm publish \u202ex",
        "npm publish \\\n  x",
        # Not what it looks like.
        "PATH=/tmp/evil npm publish",
        "./npm publish",
        "npm publish < answers",
        "npm publish > /tmp/report",
        "npm publish <<< yes",
        "cd elsewhere && npm publish",
        "for each in 1 2; do npm publish; done",
        # A file that a script can write.
        "/srv/app/publish",
        "/tmp/npm publish",
        "/usr/../tmp/npm publish",
        # Nothing by itself: it changes what other rules allow.
        "export PATH=/tmp/evil",
        "alias ls=rm",
        "cd /elsewhere",
        "set -o noglob",
        "hash -p /tmp/evil ls",
        "umask 0",
    ],
)
def test_what_is_no_one_plain_command_is_never_offered(name: str, script: str) -> None:
    assert checker(name).offer(script, HERE) == ()


@pytest.mark.parametrize(
    "script",
    [
        "npm publish --tag next",
        "npm publish x",
        "PATH=/tmp/evil:$PATH; npm publish",
        "export PATH=/tmp/evil; npm publish",
        "npm() { rm -r src; }; npm publish",
        "alias npm=rm; npm publish",
        "hash -p /tmp/evil npm; npm publish",
        ". ./env.sh; npm publish",
        "cd elsewhere; npm publish",
        "mv ../app ../gone; ln -s other ../app; cd . && npm publish",
        "ls; cd /srv/app; npm publish",
        "pushd elsewhere; npm publish",
        "((PATH=5)); npm publish",
        ": ${PATH:=x}; npm publish",
        "exec < answers; npm publish",
        "{ npm publish; } < answers",
        "yes | npm publish",
        "while npm publish; do ls; done",
        "npm publish; npm unpublish",
        "npm publish; bash -c 'npm unpublish'",
        "$RUN npm publish",
        "npm publish; (",
        "npm publish | sh",
        # A variable can be set without a command that sets it.
        "[[ PATH=5 -eq 5 ]]; npm publish",
        "[[ -f ${PATH:=5} ]]; npm publish",
        "[ -v 'a[PATH=5]' ]; npm publish",
        "case ${PATH:=5} in x) ls;; esac; npm publish",
        "echo ${x:PATH=5}; npm publish",
        "echo ${a[PATH=5]}; npm publish",
        "echo $[PATH=5]; npm publish",
        "echo ${x@P}; npm publish",
        "ls {PATH}>/dev/null; npm publish",
        "coproc PATH { ls; }; npm publish",
        "co\\\nproc PATH { ls; }; npm publish",
        "(\\\n(PATH=5)); npm publish",
        "for PATH in 5; do ls; done; npm publish",
        "select PATH in 5; do ls; done; npm publish",
        "wait -p PATH; npm publish",
        "cat <<E\n$[PATH=5]\nE\nnpm publish",
        # A function can be made without a command in it.
        "npm() [[ -f x ]]; npm publish",
        "npm ( ) case x in y) ;; esac; npm publish",
        "function npm case x in y) ;; esac\nnpm publish",
        # Fed from around it.
        "if npm publish; then ls; fi < answers",
        "(npm publish) < answers",
        "ls |& npm publish",
        "npm publish <&3",
        # The first may fail, and then the second leads elsewhere.
        "cd sub; cd ..; npm publish",
    ],
)
def test_a_grant_does_not_cover_what_was_not_shown(script: str) -> None:
    assert checker("ask").grants(script, HERE, ("Bash(npm publish)",)) == ()


@pytest.mark.parametrize(
    "script",
    [
        "npm publish",
        "cd /srv/app && npm publish",
        "ls; npm publish | tail -n 3",
        "npm publish && echo done",
        "if npm publish; then echo done; fi",
        "npm publish; npm publish",
        "# to the registry\nnpm publish",
        "echo $(npm publish)",
        "npm publish & echo ${HOME}",
    ],
)
def test_a_grant_covers_its_command_wherever_it_means_the_same(script: str) -> None:
    assert checker("ask").grants(script, HERE, ("Bash(npm publish)",)) == ("Bash(npm publish)",)


def test_a_grant_answers_no_denial_and_no_guard() -> None:
    checks = ScriptChecker(
        "nacre",
        gather(None, rules=[{"ask": ["Bash(npm:*)"]}, {"deny": ["Bash(npm publish)"]}]).layers,
    )
    assert checks.grants("npm publish", HERE, ("Bash(npm publish)",)) == ()
    guarded = checker("everything")
    for script in ("git push --force", "git add -A"):
        assert guarded.offer(script, HERE) == ()
        assert guarded.grants(script, HERE, (f"Bash({script})",)) == ()


def test_no_more_is_offered_than_a_person_would_read() -> None:
    checks = checker("everything")
    commands = [f"npm publish {number}" for number in range(9)]
    assert len(checks.offer("; ".join(commands[:8]), HERE)) == 8
    assert checks.offer("; ".join(commands), HERE) == ()
    assert checks.offer("npm publish\n" * 20, HERE) == ("Bash(npm publish)",)


def test_a_rule_that_was_granted_says_nothing_of_the_rest_of_a_script() -> None:
    checks = checker("default")
    granted = ("Bash(npm publish)", "Bash(git push)")
    assert checks.grants("npm publish && git push", HERE, granted) == granted
    assert checks.grants("npm publish && ls", HERE, granted) == ("Bash(npm publish)",)
    assert checks.grants("npm publish && rm x", HERE, granted) == ()
    assert checks.grants("ls", HERE, granted) == ()
