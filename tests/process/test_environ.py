import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nacre.model.confinement import Environment
from nacre.model.secrets import is_secret_name
from nacre.process import environ
from nacre.process.environ import environ_of, scrubbed

HOST = {"PATH": "/bin", "HOME": "/home/a", "LC_ALL": "C", "API_KEY": "s3cret", "MODE": "fast"}

PASSING = """
    HOME USER LOGNAME SHELL LANG LC_CTYPE TZ TERM COLORTERM NO_COLOR COLUMNS TMPDIR VIRTUAL_ENV
    PYENV_ROOT CONDA_PREFIX NVM_DIR PNPM_HOME CARGO_HOME RUSTUP_HOME GOPATH GOROOT JAVA_HOME
    JAVA_HOME_17_X64 ANDROID_SDK_ROOT GEM_HOME RBENV_ROOT DOTNET_ROOT NIX_PATH HOMEBREW_PREFIX
    ASDF_DIR MISE_DATA_DIR SDKMAN_DIR CMAKE_PREFIX_PATH PKG_CONFIG_PATH CCACHE_DIR CI EDITOR
    VISUAL SSL_CERT_FILE HTTPS_PROXY no_proxy GIT_AUTHOR_NAME GIT_AUTHOR_EMAIL
    GIT_COMMITTER_DATE TOKENIZERS_PARALLELISM XDG_CACHE_HOME
"""

WITHHELD = """
    API_KEY OPENAI_API_KEY GITHUB_TOKEN AWS_SECRET_ACCESS_KEY AWS_ACCESS_KEY_ID DB_PASSWORD
    WAYLAND_VAULT_PASSPHRASE LC_API_TOKEN VAULT_TOKEN_HOME SECRETS_ROOT github_token LD_PRELOAD
    LD_AUDIT LD_LIBRARY_PATH BASH_ENV ENV PROMPT_COMMAND PS4 SHELLOPTS BASHOPTS IFS
    PYTHONSTARTUP PYTHONPATH PYTHONHOME NODE_OPTIONS RUBYOPT PERL5OPT JAVA_TOOL_OPTIONS
    GIT_SSH_COMMAND GIT_ASKPASS GIT_DIR GIT_CONFIG_COUNT GIT_EXEC_PATH GIT_EXTERNAL_DIFF
    SSH_AUTH_SOCK SSH_ASKPASS GPG_AGENT_INFO DISPLAY WAYLAND_DISPLAY XAUTHORITY TMUX
    DBUS_SESSION_BUS_ADDRESS DOCKER_HOST KUBECONFIG RUSTC_WRAPPER LESSOPEN GITHUB_ENV
    DIRENV_DIFF __MISE_DIFF MAKEFLAGS PWD SHLVL AWS_REGION DATABASE_URL BASH_FUNC_ls%% ANYTHING
"""

SHAPED = """
    OPENAI_API_KEY ANTHROPIC_API_KEY MY_APIKEY GITHUB_TOKEN AWS_SECRET_ACCESS_KEY
    SOME_CREDENTIAL WAYLAND_VAULT_PASSPHRASE WAYLAND_VAULT_X DB_PASSWORD DB_PASSWD
    SSH_PRIVATE_KEY X_SESSION_KEY BASIC_AUTH AUTHORIZATION SSH_AUTH_SOCK
    GOOGLE_APPLICATION_CREDENTIALS DB_PASS MYSQL_PWD GH_PAT STRIPE_KEY SENTRY_DSN npm_token
    MY_TOKEN_2
"""

PLAIN = """
    PATH HOME GIT_AUTHOR_NAME GIT_AUTHOR_EMAIL GIT_COMMITTER_NAME AUTHOR TOKENIZERS_PARALLELISM
    KUBECONFIG AWS_REGION WAYLAND_DISPLAY LC_MESSAGES PWD OLDPWD KEYBOARD MONKEY_PATCH BYPASS
    COMPASS PATH_PATTERN COMPATIBLE
"""


def test_an_environment_is_built_from_nothing() -> None:
    assert environ_of(Environment(), HOST) == {
        "PATH": "/bin",
        "HOME": "/home/a",
        "LC_ALL": "C",
        "LANG": "C.UTF-8",
    }


def test_names_can_be_passed_and_values_fixed() -> None:
    environment = Environment(passed=("MODE",), fixed={"TERM": "dumb", "HOME": "/"})
    assert environ_of(environment, HOST) == {
        "PATH": "/bin",
        "HOME": "/",
        "LC_ALL": "C",
        "LANG": "C.UTF-8",
        "MODE": "fast",
        "TERM": "dumb",
    }


def test_an_inherited_environment_is_the_hosts() -> None:
    assert environ_of(Environment(inherit=True, fixed={"A": "1"}), HOST) == {**HOST, "A": "1"}


def test_there_is_always_a_path() -> None:
    assert environ_of(Environment(), {})["PATH"] == "/usr/local/bin:/usr/bin:/bin"


@pytest.mark.parametrize("name", PASSING.split())
def test_what_tools_need_passes(name: str) -> None:
    assert environ_of(Environment(), {name: "/opt/x"})[name] == "/opt/x"


@pytest.mark.parametrize("name", WITHHELD.split())
def test_what_is_secret_or_code_or_leads_elsewhere_does_not_pass(name: str) -> None:
    assert name not in environ_of(Environment(), {name: "/opt/x"})


@pytest.mark.parametrize("name", ["GITHUB_TOKEN", "LD_PRELOAD", "SSH_AUTH_SOCK", " MODE "])
def test_what_the_host_names_passes(name: str) -> None:
    host = {name.strip(): "value"}
    assert environ_of(Environment(passed=(name,)), host)[name.strip()] == "value"


def test_a_function_does_not_pass_even_by_name() -> None:
    name = "BASH_FUNC_ls%%"
    assert name not in environ_of(Environment(passed=(name,)), {name: "() { echo hi; }"})


@pytest.mark.parametrize("name", ["HTTPS_PROXY", "http_proxy", "PIP_INDEX_URL", "LC_X", "EDITOR"])
def test_a_url_with_a_password_does_not_pass(name: str) -> None:
    assert name not in environ_of(Environment(), {name: "http://u:pw@proxy:3128"})
    assert name in environ_of(Environment(), {name: "http://proxy:3128/a@b"})
    assert name in environ_of(Environment(passed=(name,)), {name: "http://u:pw@proxy:3128"})


def test_a_folder_of_a_tool_must_be_one() -> None:
    assert "MYSQL_ROOT" not in environ_of(Environment(), {"MYSQL_ROOT": "hunter2"})


def test_no_name_that_passes_is_secret_shaped() -> None:
    assert [name for name in environ._PASSING if is_secret_name(name)] == []


@given(st.dictionaries(st.text("ABKEY_TOKNSRTHOMLC", min_size=1), st.just("/opt/some-value")))
def test_no_secret_shaped_name_ever_passes_unnamed(host: dict[str, str]) -> None:
    passed = environ_of(Environment(), host)
    assert [name for name in passed if re.search("API_KEY|TOKEN|SECRET", name)] == []


@pytest.mark.parametrize("name", SHAPED.split())
def test_a_secret_shaped_name(name: str) -> None:
    assert is_secret_name(name)


@pytest.mark.parametrize("name", PLAIN.split())
def test_a_name_that_is_not_secret_shaped(name: str) -> None:
    assert not is_secret_name(name)


def test_secrets_that_were_withheld_are_known_longest_first() -> None:
    host = {"A_TOKEN": "canary-1234", "B_PASSWORD": "canary-1234-and-more\n", "C": "not-secret"}
    assert list(scrubbed(Environment(), host).items()) == [
        ("canary-1234-and-more", "B_PASSWORD"),
        ("canary-1234", "A_TOKEN"),
    ]


@pytest.mark.parametrize(
    "value",
    ["short", "1234567890", "2026-01-01", "--------", "postgres", "Changeme", "false", "", "   "],
)
def test_a_value_that_is_no_secret_is_not_redacted(value: str) -> None:
    assert scrubbed(Environment(), {"X_TOKEN": value}) == {}


def test_a_path_is_no_secret_if_it_exists(tmp_path: Path) -> None:
    there = tmp_path / "credentials.json"
    there.touch()
    host = {"X_CREDENTIALS": str(there), "Y_TOKEN": "/kjhG7+someBase64=="}
    assert scrubbed(Environment(), host) == {"/kjhG7+someBase64==": "Y_TOKEN"}


def test_what_the_script_sees_anyway_is_no_secret() -> None:
    host = {"USER": "developer7", "HOME": "/home/builder77", "AUTH_USER": "developer7"}
    assert scrubbed(Environment(), {**host, "X_AUTH": "builder77"}) == {}
    passed = Environment(passed=("X_TOKEN",))
    assert scrubbed(passed, {"X_TOKEN": "canary-1234", "Y_TOKEN": "canary-1234"}) == {}
    assert scrubbed(Environment(inherit=True), {"X_TOKEN": "canary-1234"}) == {}


def test_equal_secrets_have_the_first_of_their_names() -> None:
    host = {"B_TOKEN": "canary-1234", "A_TOKEN": "canary-1234"}
    assert scrubbed(Environment(), host) == {"canary-1234": "A_TOKEN"}
