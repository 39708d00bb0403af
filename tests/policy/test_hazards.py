import pytest

from nacre.model.verdict import Decision
from nacre.syntax.script import Surroundings
from policy.refusals import decision, findings


@pytest.mark.parametrize(
    "text",
    [
        "git add --all",
        "git add -vA",
        "git add --a",
        "git add --no-ignore-removal",
        "git add src .",
        "git add *",
        "git add '*'",
        "git add -- .",
        'git add "./"',
        "git add src/..",
        "git add ..",
        'git add "$PWD"',
        "git add :",
        "git add ':(top)'",
        "git add ':/*'",
        "git add ':!x' ':(exclude)y'",
        "git -c user.name=x --git-dir .git --no-pager add .",
        "git stage -A",
        "cd sub && git add .",
        "sudo -u me git add -A",
        "env GIT_TRACE=1 git add .",
        "bash -c 'git add -A'",
    ],
)
def test_a_blind_add_is_refused(text: str) -> None:
    assert decision("hazards", text) is Decision.DENY


@pytest.mark.parametrize(
    "text",
    [
        "git add main.rs lib.rs",
        "git add .gitignore ./src .github",
        "git add *.py src/*",
        "git add -u",
        "git add -n .",
        "git add --dry-run -A",
        "git add -- -A",
        'cd "$DIR" && git add "$FILE"',
        'git add "$FILES"',
        "git commit -am 'git add .'",
        "git worktree add . main",
        "git remote add origin .",
        "npm add .",
        "echo git add -A",
        "# git add -A\ngit status",
    ],
)
def test_an_add_that_says_what_is_not(text: str) -> None:
    assert decision("hazards", text) is Decision.ALLOW


@pytest.mark.parametrize(
    "text",
    [
        "git push -f",
        "git push -uf origin main",
        "git push origin main --force",
        "git push --force-with-lease --force",
        "git push --mirror",
        "git push --mir",
        "git push origin +HEAD:main",
        "git push origin +$BRANCH",
        "git -C /r push -f",
        "git push -o x -f",
        "git push \\\n --force",
        "git push $'\\x2df'",
    ],
)
def test_a_forced_push_is_refused(text: str) -> None:
    assert decision("hazards", text) is Decision.DENY


@pytest.mark.parametrize(
    "text",
    [
        "git push",
        "git push --force-with-lease=main:abc origin main",
        "git push --force-with-lease --force-if-includes",
        "git push --forc",
        "git push -n -f",
        "git push -o force origin main",
        "git push --push-option --force",
        "git push --repo -f",
        "git push --follow-tags origin :old",
        "git push -- -f",
        "git push origin feature-f",
        "git fetch --force",
        "git branch -f x y",
        "printf 'git push --force %s' main",
    ],
)
def test_a_push_that_takes_care_is_not(text: str) -> None:
    assert decision("hazards", text) is Decision.ALLOW


@pytest.mark.parametrize(
    "text",
    [
        "rm -rf /",
        "rm / -fr",
        "rm -r / --force",
        "rm --rec --for //",
        "rm -rf --no-preserve-root -- /",
        "rm -rf /home/../",
        "rm -r /",
        "rm -r ~",
        "rm -rf ~/Documents",
        "rm -rf ~bob",
        'rm -rf "${HOME}"/.cache',
        "rm -rf ${HOME:-/root}",
        "rm -rf .git/",
        "rm -rf a/.git/*",
        "rm -rf .g?t",
        "rm -rf dist *",
        "rm -rf **",
        "rm -rf .[!.]*",
        "rm -rf ?*",
        "rm -rf ./*",
        "rm -rf /usr",
        "cd / && rm -rf etc",
        "cd ~ && rm -rf ./*",
        'DIR=/; rm -rf "$DIR"',
        "echo ~ | xargs -I{} rm -rf {}",
        "ssh host 'rm -rf /'",
        "find / -delete",
        "find ~ -type f -delete",
        "find . -name .git -exec rm -rf {} +",
    ],
)
def test_a_removal_of_what_matters_is_refused(text: str) -> None:
    assert decision("hazards", text) is Decision.DENY


@pytest.mark.parametrize(
    "text",
    [
        "rm -rf .",
        "rm -rf ~+",
        "rm -rf $(pwd)",
        "rm -rf ../..",
        "find -delete",
        "find . -mindepth 1 -exec rm -rf {} +",
        'rm -rf "$DIR"/*',
        "rm -rf $DIR/",
        "rm -rf $PREFIX*",
        "rm $OPTIONS /",
        "$(cat name) -rf /",
        "/bin/r[m] -rf /",
        '"$RM" -rf ~',
    ],
)
def test_a_removal_that_may_be_one_is_asked_about(text: str) -> None:
    assert decision("hazards", text) is Decision.ASK


@pytest.mark.parametrize(
    "text",
    [
        "rm -rf node_modules build/*",
        "rm -rf dist/ *.egg-info",
        "rm -rf /tmp/build /tmp/*",
        "rm -rf .github/cache",
        "rm -f *.o",
        "rm -rf [0-9]* ./[ab]*",
        "rm -f .git",
        "rm -r .git",
        "rm -rf '~' '*'",
        "rm -rf a/b/../c",
        "rm -rf --help /",
        'rm -rf "$BUILD_DIR"',
        'rm -rf "$BUILD_DIR/out"',
        'rm -rf "${DIR:?}"/*',
        "rm -rf ${TMPDIR:-/tmp}/build",
        "rm -rf ${TMPDIR:-/tmp}/*",
        'd=$(mktemp -d); trap \'rm -rf "$d"\' EXIT; rm -rf "$d"/*',
        "cd ~/project && rm -rf node_modules",
        "cd /tmp/x && rm -rf .",
        "rm -rf .git/rebase-merge",
        "find . -name __pycache__ -exec rm -rf {} +",
        "find / -name core -delete",
        "find / -size +100M -exec rm -rf {} +",
        "find . -type f -exec sed -i.bak s/a/b/ {} + -exec rm {}.bak +",
        "find ~ -name '*.bak' -exec rm -rf {} +",
        "find . -type d -empty -delete",
        "find /tmp/x -delete",
        "ssh host 'cd /app && rm -rf *'",
        "docker run img rm -rf /app",
        "git rm -rf .",
        "docker rm -f /",
        "cargo rm -rf /",
        "grep -rn 'rm -rf /' .",
        "cat <<'EOF'\nrm -rf /\nEOF",
    ],
)
def test_other_removals_are_not(text: str) -> None:
    assert decision("hazards", text) is Decision.ALLOW


def test_known_surroundings_tell_what_a_path_means() -> None:
    here = Surroundings(cwd="/srv/app/work", home="/var/me")
    assert decision("hazards", "rm -rf /srv/app", here) is Decision.ASK
    assert decision("hazards", "rm -rf /var/me", here) is Decision.DENY
    assert decision("hazards", "rm -rf ../work", here) is Decision.ASK
    assert decision("hazards", "rm -rf /srv/app/other", here) is Decision.ALLOW


def test_the_document_lists_less() -> None:
    for text in ("rm -rf ./*", "rm -rf /usr", "rm -rf .", "git add ./", "git push origin +main"):
        assert decision("hazards:documented", text) is Decision.ALLOW
    for text in ("rm -rf .git/", "/bin/rm -rf /*", "git -C x add '.'", "git push -fu o m"):
        assert decision("hazards:documented", text) is Decision.DENY


def test_a_finding_names_the_part_and_what_to_do_instead() -> None:
    text = "cd x && git add . && ls"
    (found, *_) = findings("hazards", text)
    assert found.rule == "hazards.git-add"
    assert text[found.span.start : found.span.end] == "git add ."
    assert found.suggestion.startswith("Name the files")
