import pytest

from nacre.policy.credentials.secret_files import LISTED_FILES, SECRET_FILES, trove
from nacre.policy.credentials.secret_names import denylisted_name, secret_name
from nacre.syntax.word import CWD, HOLE, HOME, QUERY, STAR


@pytest.mark.parametrize(
    "name",
    [
        "OPENAI_API_KEY",
        "STRIPE_SECRET_KEY",
        "AWS_ACCESS_KEY_ID",
        "GITHUB_TOKEN_2",
        "PGPASSWORD",
        "GH_PAT",
        "DB_PASS",
        "authToken",
        "SSH_PRIVATE_KEY",
        "SECRET_KEY_BASE",
    ],
)
def test_a_name_can_tell_that_it_is_secret(name: str) -> None:
    assert secret_name(name)


@pytest.mark.parametrize(
    "name",
    [
        "HOME",
        "PATH",
        "PWD",
        "MAX_TOKENS",
        "TOKENIZERS_PARALLELISM",
        "MY_TOKEN_COUNT",
        "DB_PASSWORD_FILE",
        "SECRET_NAME",
        "CACHE_KEY",
        "PASS",
        "SECRETARY",
        "token",
        "GOOGLE_APPLICATION_CREDENTIALS",
    ],
)
def test_a_name_can_be_about_something_else(name: str) -> None:
    assert not secret_name(name)


def test_the_document_has_five_endings() -> None:
    assert denylisted_name("foo_token")
    assert denylisted_name("AWS_SECRET_ACCESS_KEY")
    assert not denylisted_name("TOKEN")
    assert not denylisted_name("AWS_ACCESS_KEY_ID")


@pytest.mark.parametrize(
    "path",
    [
        f"{CWD}/.env",
        f"{CWD}/.ENV",
        f"{CWD}/.env.{HOLE}",
        f"{CWD}/.env{STAR}",
        f"{CWD}/.{QUERY}{QUERY}{QUERY}",
        f"{HOLE}/.env",
        f"{HOME}/.ssh/{STAR}",
        f"{HOME}/.ssh",
        f"{HOME}/.a{STAR}/cred{STAR}",
        "/etc/shadow",
        f"/etc/sh{STAR}",
        "/proc/1/environ",
    ],
)
def test_a_path_can_be_a_secret_file(path: str) -> None:
    assert SECRET_FILES.has(path)


@pytest.mark.parametrize(
    "path",
    [
        HOLE,
        f"{CWD}/{STAR}",
        f"{CWD}/.{STAR}",
        f"{HOLE}.env",
        f"{CWD}/.env.local.example",
        f"{CWD}/.env/bin/activate",
        f"{HOME}/.ssh/{STAR}.pub",
        f"{HOME}/.ssh/known_hosts",
        f"{CWD}/{STAR}/config",
        f"/etc/{STAR}",
        "/etc/passwd",
        "/proc/cpuinfo",
    ],
)
def test_a_path_can_be_another_file(path: str) -> None:
    assert not SECRET_FILES.has(path)


def test_the_document_has_its_own_list() -> None:
    assert LISTED_FILES.has(f"{CWD}/prod.env")
    assert LISTED_FILES.has("/etc/sudoers.d/x")
    assert not LISTED_FILES.has(f"{HOME}/.git-credentials")
    assert not LISTED_FILES.has("/proc/self/environ")


def test_a_home_is_a_trove() -> None:
    assert trove(HOME)
    assert trove(f"{HOME}/.config")
    assert not trove(f"{HOME}/project")
